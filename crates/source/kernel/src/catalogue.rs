//! All kernels that a user can name here: in the store, on this host, built, and offered by apt.

mod between;
mod changelog;
mod entries;
mod here;
mod offered;

use std::collections::BTreeSet;
use std::path::Path;

pub use between::packages_between;
pub use changelog::{Release, releases_since};

use serde::{Deserialize, Serialize};

use crate::apt::Apt;
use crate::context::Context;
use crate::error::Error;
use crate::version;

/// A kernel that can be named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What to give to `kiln run`, or to `kiln build` where it is a source.
    pub locator: String,
    /// The version of the package, or the release where there is none; empty if neither is known.
    pub version: String,
    /// Such as `amd64`, `cloud`, `rt`, `generic`; empty for sources.
    pub flavour: String,
    /// The day on which it was built, `2026-11-16`, where the image is at hand and says it.
    pub date: Option<String>,
    /// In bytes: of the download for what is offered, on the disk for what is here.
    pub size: Option<u64>,
    /// Where it is.
    pub state: State,
    /// What else the user should know, such as a command.
    pub note: Option<String>,
}

/// Where a kernel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// A package that was unpacked in the store.
    Cached,
    /// Built by kiln, in the store.
    Built,
    /// In this host's `/boot`.
    Installed,
    /// A package that apt can fetch.
    Offered,
    /// Source that apt can fetch and kiln can build.
    Source,
}

impl State {
    /// As it is written in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cached => "cached",
            Self::Built => "built",
            Self::Installed => "installed",
            Self::Offered => "offered",
            Self::Source => "source",
        }
    }
}

/// What there is.
#[derive(Debug)]
pub struct Catalogue {
    /// One for each locator, the oldest version first.
    pub entries: Vec<Entry>,
    /// Why the list may be incomplete, for people.
    pub notes: Vec<String>,
}

impl Catalogue {
    /// Looks everywhere. What cannot be asked is in the notes.
    pub fn list(context: &mut Context<'_>) -> Self {
        let mut notes = Vec::new();
        let store = context.store;
        context.progress("asking apt");
        let offered =
            offered::entries(store, &Apt { interrupt: context.interrupt }).unwrap_or_else(|error| {
                notes.push(note(&error));
                Vec::new()
            });
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let installed = here::installed(Path::new("/"), &release);
        let here = here::cached(store).into_iter().chain(here::built(store));
        let all = here.chain(installed).chain(offered);
        Self { entries: in_order(all), notes }
    }
}

/// Of each locator the first, which is what it would give; sorted by version.
fn in_order(all: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let mut known = BTreeSet::new();
    let mut entries: Vec<Entry> = all.filter(|entry| known.insert(entry.locator.clone())).collect();
    entries.sort_by(|a, b| {
        let by_version = version::compare(&a.version, &b.version);
        let by_locator = || version::compare(&a.locator, &b.locator).then_with(|| a.locator.cmp(&b.locator));
        let is_source = |entry: &Entry| entry.state == State::Source;
        by_version.then_with(|| is_source(a).cmp(&is_source(b))).then_with(by_locator)
    });
    entries
}

fn note(error: &Error) -> String {
    match error {
        Error::MissingProgram { program } => {
            format!("{program} is not installed, so only kernels that are here are listed")
        }
        Error::EmptyLists { .. } => {
            "apt's package lists are empty: run `apt-get update` to see what can be fetched".to_owned()
        }
        other => format!("what apt offers is not listed: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(locator: &str, version: &str, state: State) -> Entry {
        let (locator, version) = (locator.to_owned(), version.to_owned());
        Entry { locator, version, flavour: String::new(), date: None, size: None, state, note: None }
    }

    #[test]
    fn versions_first_and_flavours_beside_each_other() {
        let wanted = [
            entry("uml:deb", "6.1um4+b13", State::Offered),
            entry("deb:6.1.0-9-amd64", "6.1.27-1", State::Offered),
            entry("deb:6.1.0-56-amd64", "6.1.192-2", State::Offered),
            entry("deb:6.1.0-56-cloud-amd64", "6.1.192-2", State::Offered),
            entry("deb:6.1.0-56-rt-amd64", "6.1.192-2", State::Cached),
            entry("deb-source:6.1", "6.1.192-2", State::Source),
            entry("deb:6.12.117+deb12-amd64", "6.12.117-1~deb12u1", State::Offered),
        ];
        assert_eq!(in_order(wanted.clone().into_iter().rev()), wanted);
    }

    #[test]
    fn of_one_locator_what_it_would_give() {
        let cached = entry("deb:6.1.0-56-amd64", "6.1.192-1", State::Cached);
        let offered = entry("deb:6.1.0-56-amd64", "6.1.192-2", State::Offered);
        assert_eq!(in_order([cached.clone(), offered].into_iter()), [cached]);
    }

    #[test]
    fn what_is_missing_is_said_with_what_to_do() {
        let missing = note(&Error::MissingProgram { program: "apt-cache".into() });
        assert!(missing.starts_with("apt-cache is not installed"), "{missing}");
        assert!(note(&Error::EmptyLists { locator: String::new() }).contains("`apt-get update`"));
    }
}
