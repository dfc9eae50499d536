//! What kiln runs on, and what waits there.

use maud::{Markup, html};
use outbox::{Entry, Outbox, State};
use report::html::{Page, facts, section, text};
use report::store::size;

use super::{Asked, Failure, table};
use crate::store::Store;

/// Mails that are listed.
const MAILS_MAX: usize = 200;

/// The host with its load, and mails that were not sent.
pub(crate) fn host(store: &mut Store, _asked: &Asked) -> Result<Page, Failure> {
    let mib = |mib: Option<u64>| mib.map(|mib| size(mib << 20)).unwrap_or_default();
    let cpus = std::thread::available_parallelism().map(usize::from).unwrap_or(1);
    let known = [
        ("kernel", read("/proc/sys/kernel/osrelease")),
        ("CPUs", cpus.to_string()),
        ("load", read("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" ")),
        ("free memory", mib(::host::available_memory_mib())),
        ("free space for sessions", mib(::host::free_mib(store.root()))),
    ];
    let name = read("/proc/sys/kernel/hostname");
    let body = html! {
        header {
            h1 { (text(&name)) }
            (facts(&known))
        }
        main { (section("Mails that were not sent", &mails(&store.folders().outbox))) }
    };
    Ok(Page { title: format!("Host {name}"), body })
}

/// A line of a file of the kernel's; nothing where it has none.
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn mails(outbox: &Outbox) -> Markup {
    let all: Vec<Entry> =
        outbox.entries().filter_map(Result::ok).filter(|entry| entry.state != State::Sent).collect();
    let rows = html! {
        @for entry in all.iter().take(MAILS_MAX) {
            tr {
                th scope="row" { (text(&entry.message.subject)) }
                td { (entry.state.name()) }
                td { (text(entry.reason.as_deref().unwrap_or_default())) }
            }
            "\n"
        }
    };
    html! {
        @if all.is_empty() { p { "None." } } @else { (table(&["subject", "state", "why"], &rows)) }
    }
}
