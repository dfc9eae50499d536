//! Races of the kernel that were fixed, one file for each area: on a kernel with the fix they find nothing.
//!
//! * [`known`]: what such a race is
//! * [`parts`]: what they share

mod inet;
mod inotify;
mod known;
mod memory;
mod packet;
mod parts;
mod shm;
mod socket;
mod timerfd;
mod tty;
mod vsock;
mod writev;
mod xfs;

use harness::check::{Checked, broken};

pub use known::Known;

/// All areas.
const AREAS: &[&[Known]] = &[
    xfs::RACES,
    inotify::RACES,
    writev::RACES,
    memory::RACES,
    shm::RACES,
    timerfd::RACES,
    socket::RACES,
    inet::RACES,
    packet::RACES,
    vsock::RACES,
    tty::RACES,
];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Known> {
    AREAS.iter().copied().flatten()
}

/// The one called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Known> {
    all().find(|race| race.name == name)
}

/// Runs the one called `name` as a case.
///
/// # Errors
///
/// As [`Known::check`]; broken if there is none of this name.
pub fn check(name: &str) -> Checked {
    find(name).map_or_else(|| broken(&format!("there is no race {name}")), Known::check)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_has_a_name_an_area_and_a_fix() {
        let names: BTreeSet<_> = all().map(|race| race.name).collect();
        assert_eq!(names.len(), all().count());
        for race in all() {
            assert!(race.name.split('/').count() == 2 && !race.about.is_empty(), "{}", race.name);
            let is_hash = |text: &&str| text.len() == 12 && text.bytes().all(|c| c.is_ascii_hexdigit());
            assert!(!race.fixes.is_empty() && race.fixes.iter().all(is_hash), "{}", race.name);
            assert_eq!(find(race.name).map(|found| found.name), Some(race.name));
        }
        assert!(find("fs/none").is_none() && check("fs/none").is_err());
    }
}
