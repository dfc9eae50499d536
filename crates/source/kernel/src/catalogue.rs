//! All kernels that a user can name here: in the store, on this host, built, and offered by apt.

mod between;
mod changelog;
mod changes;
mod entry;
mod here;
mod offered;

use std::collections::BTreeSet;
use std::path::Path;

pub use changelog::{Release, releases_in, releases_kept, releases_since};
pub use entry::{Entry, State};

use crate::apt::Apt;
use crate::context::Context;
use crate::deb;
use crate::error::Error;
use crate::locator::Locator;
use crate::store::Store;
use crate::version;

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
        let (all, notes) = everything(context);
        Self { entries: in_order(all.into_iter()), notes }
    }

    /// Those that need not be fetched.
    #[must_use]
    pub fn here(store: &Store) -> Vec<Entry> {
        in_order(on_this_host(store))
    }

    /// The same as [`list`](Self::list), of each locator the newest version: what apt offers may be newer than what is here.
    pub fn newest(context: &mut Context<'_>) -> Self {
        let (mut all, notes) = everything(context);
        all.sort_by(|a, b| version::compare(&b.version, &a.version));
        Self { entries: in_order(all.into_iter()), notes }
    }
}

/// What is here, then what apt offers, and why the latter may be incomplete.
fn everything(context: &mut Context<'_>) -> (Vec<Entry>, Vec<String>) {
    let mut notes = Vec::new();
    let store = context.store;
    context.progress("asking apt");
    let offered = offered::entries(store, &Apt { interrupt: context.interrupt }).unwrap_or_else(|error| {
        notes.push(note(&error));
        Vec::new()
    });
    (on_this_host(store).chain(offered).collect(), notes)
}

/// What is in the store, then what the distribution has installed.
fn on_this_host(store: &Store) -> impl Iterator<Item = Entry> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let installed = here::installed(Path::new("/"), &release);
    here::cached(store).into_iter().chain(here::built(store)).chain(installed)
}

/// The packages from `first` to `last`, both included, the oldest version first: of all that are kept or that apt
/// offers those of the same flavour. There are two at least.
///
/// # Errors
///
/// When an end is no package or is not known, when both are the same or of different flavours, and when the first is
/// the newer one.
pub fn packages_between(
    first: &Locator,
    last: &Locator,
    context: &mut Context<'_>,
) -> Result<Vec<Entry>, Error> {
    let entries = Catalogue::list(context).entries;
    let apt = Apt { interrupt: context.interrupt };
    between::between([first, last], &entries, &|text| deb::package_of(text, &apt))
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
            format!("{program} is not installed, so only kernels on this host are listed")
        }
        Error::EmptyLists { .. } => {
            "apt's package lists are empty: run `apt-get update` to see what can be fetched".to_owned()
        }
        other => format!("packages that apt offers are not listed: {other}"),
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
