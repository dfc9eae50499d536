//! What kiln runs on, and what waits there.

use maud::{Markup, html};
use outbox::{Entry, Item, Queue, State};
use report::html::{Page, facts, section, text};
use report::store::size;
use slurm::Submitted;

use super::{Asked, Failure, table};
use crate::store::Store;

/// Mails, posts and submissions that are listed.
const WAITING_MAX: usize = 200;

/// The host with its load, and what waits there.
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
        main {
            (section("Jobs of Slurm that may still answer", &jobs(&slurm::submitted(store.root()))))
            (section("Mails that were not sent", &unsent(&store.folders().outbox, |mail| &mail.subject)))
            (section("Posts that were not sent", &unsent(&store.folders().posts.queue, |post| &post.title)))
        }
    };
    Ok(Page { title: format!("Host {name}"), body })
}

/// A line of a file of the kernel's; nothing where it has none.
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// Submissions to a cluster, with how many of their jobs have answered.
fn jobs(submitted: &[Submitted]) -> Markup {
    let rows = html! {
        @for Submitted { name, jobs, answered } in submitted.iter().rev().take(WAITING_MAX) {
            tr {
                th scope="row" { (text(name)) }
                td { progress aria-label="jobs that have answered" max=(jobs) value=(answered) {} " " (answered) " of " (jobs) }
            }
            "\n"
        }
    };
    html! {
        @if submitted.is_empty() { p { "None." } } @else { (table(&["submission", "answered"], &rows)) }
    }
}

/// What waits in a queue, was refused, or may have been sent.
fn unsent<T: Item>(queue: &Queue<T>, subject: impl Fn(&T) -> &str) -> Markup {
    let all: Vec<Entry<T>> =
        queue.entries().filter_map(Result::ok).filter(|entry| entry.state != State::Sent).collect();
    let rows = html! {
        @for entry in all.iter().take(WAITING_MAX) {
            tr {
                th scope="row" { (text(subject(&entry.item))) }
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
