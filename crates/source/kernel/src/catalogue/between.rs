//! The packages between two packages: what a search through a distribution's kernels walks.

use std::cmp::Ordering;

use super::entry::{Entry, State};
use crate::deb;
use crate::error::Error;
use crate::locator::Locator;
use crate::version;
use crate::version::text::flavour;

/// Packages that are named on each side of where an unknown one would be.
const NEAR: usize = 2;

/// The packages of one flavour between two ends; `meant` follows the name of a meta package, such as `latest-cloud`, to
/// that of a package.
pub(super) fn between(
    ends: [&Locator; 2],
    entries: &[Entry],
    meant: &dyn Fn(&str) -> Result<String, Error>,
) -> Result<Vec<Entry>, Error> {
    let is_package = |entry: &&Entry| {
        matches!(entry.state, State::Cached | State::Offered) && entry.locator.starts_with("deb:")
    };
    let packages: Vec<&Entry> = entries.iter().filter(is_package).collect();
    let [first, last] = [end(ends[0], &packages, meant)?, end(ends[1], &packages, meant)?];
    let written = || (ends[0].to_string(), ends[1].to_string());
    if first.locator == last.locator {
        let (first, second) = written();
        return Err(Error::SamePackage { first, second, package: last.locator.clone() });
    }
    if first.flavour != last.flavour {
        let flavours = [&first, &last].map(|end| end.flavour.clone());
        let (first, last) = written();
        return Err(Error::OtherFlavour { first, last, flavours });
    }
    let mut line = packages.into_iter().filter(|entry| entry.flavour == first.flavour);
    let mut found: Vec<Entry> =
        line.by_ref().skip_while(|entry| entry.locator != first.locator).cloned().collect();
    match found.iter().position(|entry| entry.locator == last.locator) {
        Some(at) => found.truncate(at + 1),
        None => {
            let (newer, older) = written();
            return Err(Error::NewerFirst { newer, older });
        }
    }
    Ok(found)
}

/// What an end of the line means.
fn end<'a>(
    locator: &Locator,
    packages: &[&'a Entry],
    meant: &dyn Fn(&str) -> Result<String, Error>,
) -> Result<&'a Entry, Error> {
    let Locator::Deb(text) = locator else {
        return Err(Error::NotAPackage { locator: locator.to_string() });
    };
    let find = |name: &str| {
        let wanted = format!("deb:{name}");
        packages.iter().copied().find(|entry| entry.locator == wanted)
    };
    let names = deb::names(text);
    if let Some(found) = names.iter().find_map(|name| find(name)) {
        return Ok(found);
    }
    let unknown = || Error::NotInCatalogue { locator: locator.to_string(), near: near(&names[0], packages) };
    match meant(text) {
        Ok(name) => find(&name).ok_or_else(unknown),
        Err(Error::NoSuchPackage { .. }) => Err(unknown()),
        Err(error) => Err(error),
    }
}

/// Locators on both sides of where a name would stand among its flavour, or among all if that is not known either.
fn near(name: &str, packages: &[&Entry]) -> Vec<String> {
    let wanted = flavour(name);
    let of_flavour: Vec<&&Entry> = packages.iter().filter(|entry| entry.flavour == wanted).collect();
    let line = if of_flavour.is_empty() { packages.iter().collect() } else { of_flavour };
    let is_older =
        |entry: &&&Entry| version::compare(entry.locator.trim_start_matches("deb:"), name) == Ordering::Less;
    let at = line.iter().filter(|entry| is_older(entry)).count();
    let shown = line.iter().skip(at.saturating_sub(NEAR)).take(NEAR + at.min(NEAR));
    shown.map(|entry| entry.locator.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(locator: &str, version: &str, state: State) -> Entry {
        let flavour = flavour(locator.trim_start_matches("deb:"));
        Entry {
            locator: locator.into(),
            version: version.into(),
            flavour,
            date: None,
            size: None,
            state,
            note: None,
        }
    }

    /// In the order of the catalogue.
    fn entries() -> Vec<Entry> {
        let mut all = Vec::new();
        for (abi, version) in [(47, 170), (50, 176), (53, 180), (100, 192)] {
            for flavour in ["amd64", "cloud-amd64"] {
                let state = if abi == 50 { State::Cached } else { State::Offered };
                all.push(entry(&format!("deb:6.1.0-{abi}-{flavour}"), &format!("6.1.{version}-1"), state));
            }
        }
        all.push(entry("deb-source:6.1", "6.1.192-1", State::Source));
        all.push(entry("built:012345", "6.1.192", State::Built));
        all
    }

    fn walk(first: &str, last: &str) -> Result<Vec<String>, Error> {
        let (first, last): (Locator, Locator) = (first.parse().unwrap(), last.parse().unwrap());
        let meant = |text: &str| match text {
            "latest-cloud" => Ok("6.1.0-100-cloud-amd64".to_owned()),
            "latest-other" => Ok("6.1.0-99-other-amd64".to_owned()),
            "broken" => Err(Error::Interrupted),
            _ => Err(Error::NoSuchPackage { locator: String::new(), package: String::new(), series: None }),
        };
        let found = between([&first, &last], &entries(), &meant)?;
        Ok(found.into_iter().map(|entry| entry.locator).collect())
    }

    #[test]
    fn packages_of_one_flavour_in_order() {
        let all = ["47", "50", "53", "100"].map(|abi| format!("deb:6.1.0-{abi}-cloud-amd64"));
        assert_eq!(walk("deb:6.1.0-47-cloud-amd64", "deb:6.1.0-100-cloud-amd64").unwrap(), all);
        assert_eq!(walk("deb:6.1.0-47-cloud", "deb:latest-cloud").unwrap(), all);
        assert_eq!(
            walk("deb:linux-image-6.1.0-50-cloud-amd64-unsigned", "deb:6.1.0-53-cloud").unwrap(),
            all[1..3]
        );
        assert_eq!(
            walk("deb:6.1.0-47", "deb:6.1.0-50").unwrap(),
            ["deb:6.1.0-47-amd64", "deb:6.1.0-50-amd64"]
        );
    }

    #[test]
    fn ends_that_make_no_line_are_told_with_what_to_write() {
        for (first, last, parts) in [
            (
                "deb:6.1.0-51-cloud",
                "deb:latest-cloud",
                &[
                    "deb:6.1.0-51-cloud: neither kept nor offered by apt",
                    "the nearest are deb:6.1.0-47-cloud-amd64, deb:6.1.0-50-cloud-amd64, \
                     deb:6.1.0-53-cloud-amd64, deb:6.1.0-100-cloud-amd64:",
                ][..],
            ),
            (
                "deb:6.1.0-50-cloud",
                "deb:6.2.0-1-cloud",
                &["deb:6.2.0-1-cloud: ", "are deb:6.1.0-53-cloud-amd64, deb:6.1.0-100-cloud-amd64:"],
            ),
            ("deb:latest-other", "deb:latest-cloud", &["deb:latest-other: neither"]),
            ("deb:6.1.0-100-cloud", "deb:latest-cloud", &["are both deb:6.1.0-100-cloud-amd64"]),
            (
                "deb:6.1.0-53",
                "deb:6.1.0-47",
                &["deb:6.1.0-53 is newer", "deb:6.1.0-47..deb:6.1.0-53", "--fixed"],
            ),
            ("deb:6.1.0-47", "deb:6.1.0-53-cloud", &["deb:6.1.0-47 is amd64", "deb:6.1.0-53-cloud is cloud"]),
            ("./bzImage", "deb:6.1.0-53-cloud", &["./bzImage: not a package"]),
        ] {
            let error = walk(first, last).unwrap_err();
            let text = error.to_string();
            assert!(error.is_usage() && parts.iter().all(|part| text.contains(part)), "{text}");
        }
        assert!(walk("deb:broken", "deb:latest-cloud").unwrap_err().is_interrupt());
    }
}
