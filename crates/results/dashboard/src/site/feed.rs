//! Verdicts for feed readers, the newest first: RFC 4287.

use jiff::Timestamp;
use ledger::Tallied;
use maud::{PreEscaped, html};
use report::html::text;
use report::tally_text;

use super::SiteError;
use super::links::Links;
use super::plan::CONCLUSIONS_MAX;
use crate::address;
use crate::kept::{self, Kind};
use crate::store::Store;

/// Entries of a feed.
const ENTRIES_MAX: usize = 100;

/// What is told.
struct Entry {
    /// What is the same wherever it is told.
    id: String,
    title: String,
    address: String,
    updated: Timestamp,
}

/// The feed of all sessions that ended, new problems, comparisons, bisections and checks.
pub(super) fn feed(store: &mut Store, links: &Links) -> Result<String, SiteError> {
    let mut entries = sessions(store)?;
    entries.extend(problems(store)?);
    entries.extend(Kind::ALL.into_iter().flat_map(|kind| conclusions(store, kind)));
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.updated));
    entries.truncate(ENTRIES_MAX);
    let updated = entries.first().map_or(Timestamp::UNIX_EPOCH, |entry| entry.updated);
    let feed = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" {
            title { "kiln" }
            id { "urn:kiln:feed" }
            updated { (updated) }
            author { name { "kiln" } }
            link rel="alternate" type="text/html" href="index.html" {}
            "\n"
            @for Entry { id, title, address, updated } in &entries {
                entry {
                    id { "urn:kiln:" (text(id)) }
                    title { (text(title)) }
                    updated { (updated) }
                    @if let Some(file) = links.file(address) { link rel="alternate" type="text/html" href=(file) {} }
                    summary { (text(title)) }
                }
                "\n"
            }
        }
        "\n"
    };
    Ok(feed.into_string())
}

fn sessions(store: &mut Store) -> Result<Vec<Entry>, SiteError> {
    let newest = store.tallies(Tallied::Newest(ENTRIES_MAX))?;
    let ended = newest.into_iter().filter(|tally| tally.has_ended);
    let entry = |tally: ledger::Tally| Entry {
        id: format!("session:{}", tally.session),
        title: format!("{} on {}: {}", tally.suite, tally.kernel_name(), tally_text(tally.summary)),
        address: address::session(&tally.session),
        updated: tally.started,
    };
    Ok(ended.map(entry).collect())
}

fn problems(store: &mut Store) -> Result<Vec<Entry>, SiteError> {
    let problems = store.problems()?;
    let entry = |problem: &ledger::Problem| Entry {
        id: format!("problem:{}", problem.id),
        title: format!("new problem on {}: {}", problem.first.release, problem.signature),
        address: address::problem(&problem.id),
        updated: problem.first.started,
    };
    Ok(problems.all.iter().map(|(problem, _)| entry(problem)).collect())
}

fn conclusions(store: &Store, kind: Kind) -> Vec<Entry> {
    let ended = kept::all(kind, store.folders().of(kind)).into_iter().filter(|kept| kept.has_ended);
    let entry = |kept: kept::Kept| {
        Some(Entry {
            id: format!("{}:{}", kind.name(), kept.name),
            title: format!("{}: {}", kind.name(), kept.title()?),
            address: address::kept(kind, &kept.name),
            updated: kept.changed,
        })
    };
    ended.take(CONCLUSIONS_MAX).filter_map(entry).collect()
}
