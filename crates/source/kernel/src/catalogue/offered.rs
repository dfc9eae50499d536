//! What apt can fetch, asked for in one call and remembered while its lists stay the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entry::{Entry, State};
use crate::apt::{Archive, Description};
use crate::error::Error;
use crate::store::{Store, persist_json, read_json};
use crate::version::text::flavour;

/// The last answer.
#[derive(Debug, Serialize, Deserialize)]
struct Memory {
    /// The state of apt's lists that it was read from.
    lists: String,
    entries: Vec<Entry>,
}

/// Packages that may be a kernel or a part of one, as patterns for apt.
const PATTERNS: [&str; 5] =
    ["linux-image-*", "linux-modules-*", "linux-binary-*", "linux-source-*", "user-mode-linux"];

/// All kernels and sources that apt offers.
pub(super) fn entries(store: &Store, archive: &dyn Archive) -> Result<Vec<Entry>, Error> {
    let lists = archive.lists();
    let path = store.offers();
    let memory: Option<Memory> = read_json(&path);
    if let Some(memory) = memory.filter(|memory| Some(&memory.lists) == lists.as_ref()) {
        return Ok(memory.entries);
    }
    let entries = select(&archive.describe(&PATTERNS.map(str::to_owned))?);
    if entries.is_empty() {
        return Err(Error::EmptyLists { locator: "deb:*".to_owned() });
    }
    if let Some(lists) = lists {
        let memory = Memory { lists, entries };
        // Without it apt is asked again, which costs a second and nothing else.
        let _ = persist_json(&path, &memory);
        return Ok(memory.entries);
    }
    Ok(entries)
}

/// The kernels and the sources among the packages.
fn select(packages: &[Description]) -> Vec<Entry> {
    let sizes: BTreeMap<&str, u64> =
        packages.iter().map(|package| (package.package.as_str(), package.size)).collect();
    // What is installed and in no list has no size: nobody can fetch it.
    let packages = || packages.iter().filter(|package| package.size > 0);
    let mut images: BTreeMap<&str, Image> = BTreeMap::new();
    for image in packages().filter_map(Image::of) {
        let kept = images.entry(image.release).or_insert(image);
        if image.variant > kept.variant {
            *kept = image;
        }
    }
    let images = images.into_values().map(|image| image.entry(&sizes));
    images.chain(packages().filter_map(of_other)).collect()
}

/// A package with a kernel in it.
#[derive(Clone, Copy)]
struct Image<'a> {
    package: &'a Description,
    /// What stands after `deb:`.
    name: &'a str,
    release: &'a str,
    variant: Variant,
}

/// The packages that one kernel can be in; of several the last is fetched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Variant {
    /// Ubuntu's unsigned one, which needs a name of its own.
    OtherName,
    Signed,
    Unsigned,
}

impl<'a> Image<'a> {
    fn of(package: &'a Description) -> Option<Self> {
        const OTHERS: [&str; 3] = ["-dbg", "-dbgsym", "-signed-template"];
        let whole = package.package.strip_prefix("linux-image-")?;
        let is_meta = package.depends.iter().any(|needs| needs.starts_with("linux-image-"));
        if is_meta || package.architecture != "amd64" || OTHERS.iter().any(|ending| whole.ends_with(ending)) {
            return None;
        }
        let (name, release, variant) =
            match (whole.strip_suffix("-unsigned"), whole.strip_prefix("unsigned-")) {
                (Some(name), _) => (name, name, Variant::Unsigned),
                (None, Some(release)) => (whole, release, Variant::OtherName),
                (None, None) => (whole, whole, Variant::Signed),
            };
        let is_release = release.starts_with(|c: char| c.is_ascii_digit());
        is_release.then_some(Self { package, name, release, variant })
    }

    fn entry(self, sizes: &BTreeMap<&str, u64>) -> Entry {
        let is_part =
            |name: &&String| name.starts_with("linux-modules-") || name.starts_with("linux-binary-");
        let parts = self.package.depends.iter().filter(is_part).filter_map(|part| sizes.get(part.as_str()));
        Entry {
            locator: format!("deb:{}", self.name),
            version: self.package.version.clone(),
            flavour: flavour(self.release),
            date: None,
            size: Some(parts.fold(self.package.size, |sum, size| sum.saturating_add(*size))),
            state: State::Offered,
            note: None,
        }
    }
}

/// Sources and User-Mode Linux.
fn of_other(package: &Description) -> Option<Entry> {
    let entry = |locator: String, flavour: &str, state, note| Entry {
        locator,
        version: package.version.clone(),
        flavour: flavour.to_owned(),
        date: None,
        size: Some(package.size),
        state,
        note,
    };
    if package.package == "user-mode-linux" {
        return Some(entry("uml:deb".to_owned(), "um", State::Offered, None));
    }
    let series = package.package.strip_prefix("linux-source-")?;
    series.starts_with(|c: char| c.is_ascii_digit()).then(|| {
        let locator = format!("deb-source:{series}");
        let note = format!("source only: kiln build {locator}");
        entry(locator, "", State::Source, Some(note))
    })
}

#[cfg(test)]
mod tests;
