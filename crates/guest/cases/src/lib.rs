//! The cases, one file per area of the kernel; [`case`] says what a case is.
//!
//! To add one, copy one: a line in the `CASES` of its area and a function below it. A new area is a
//! new file and a line in [`AREAS`]. What belongs to the smoke suite is listed in [`smoke`].

mod bpf;
mod capability;
pub mod case;
mod cgroup;
mod directory;
mod epoll;
mod event;
mod exec;
mod file;
mod fs;
mod futex;
mod inet;
mod io_uring;
mod keys;
mod lock;
mod loop_device;
mod mapping;
mod memfd;
mod memory;
mod module;
mod mount;
mod namespace;
mod netlink;
mod overlay;
mod pipe;
mod proc;
mod process;
mod ptrace;
mod races;
mod seccomp;
mod signal;
mod smoke;
mod socket;
mod splice;
mod sysfs;
mod time;
mod timer;
mod tmpfs;
mod userfaultfd;

use protocol::{Need, catalogue};

use crate::case::{Body, Case};

/// All areas but [`races`], in the order in which they run.
const AREAS: &[&[Case]] = &[
    process::CASES,
    exec::CASES,
    signal::CASES,
    memory::CASES,
    mapping::CASES,
    file::CASES,
    directory::CASES,
    lock::CASES,
    pipe::CASES,
    splice::CASES,
    socket::CASES,
    inet::CASES,
    epoll::CASES,
    event::CASES,
    futex::CASES,
    time::CASES,
    timer::CASES,
    namespace::CASES,
    cgroup::CASES,
    ptrace::CASES,
    seccomp::CASES,
    capability::CASES,
    keys::CASES,
    memfd::CASES,
    userfaultfd::CASES,
    io_uring::CASES,
    bpf::CASES,
    netlink::CASES,
    mount::CASES,
    tmpfs::CASES,
    overlay::CASES,
    loop_device::CASES,
    fs::CASES,
    module::CASES,
    proc::CASES,
    sysfs::CASES,
];

/// The suite with the cases that [`smoke`] lists, the one with all, and the one with races, which take long and are in no other.
const SMOKE: &str = "smoke";
const FULL: &str = "full";
const RACES: &str = "races";

/// The sections of a race run beside each other. On one CPU it runs as well, but hardly ever hits.
const CPUS_OF_RACE: Need<String> = Need::Cpus(2);

/// All cases and suites, for the host.
#[must_use]
pub fn catalogue() -> catalogue::Cases {
    let suites = [SMOKE, FULL, RACES].map(str::to_string).to_vec();
    catalogue::Cases { suites, cases: all().map(described).collect() }
}

fn described(case: &Case) -> catalogue::Case {
    let is_race = matches!(case.body, Body::Race(_));
    let suites: &[&str] = match () {
        () if is_race => &[RACES],
        () if is_smoke(case) => &[SMOKE, FULL],
        () => &[FULL],
    };
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    let needs = case.needs.iter().map(Need::owned);
    catalogue::Case {
        name: case.name.to_string(),
        about: case.about.to_string(),
        needs: needs.chain(is_race.then_some(CPUS_OF_RACE)).collect(),
        limit: case.limit,
        expects: owned(case.expects),
        suites: owned(suites),
    }
}

/// The case called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Case> {
    all().find(|case| case.name == name)
}

fn all() -> impl Iterator<Item = &'static Case> {
    AREAS.iter().copied().flatten().chain(races::CASES.iter())
}

fn is_smoke(case: &Case) -> bool {
    let listed = |(area, names): &(&str, &[&str])| {
        *area == case.area()
            && names.iter().any(|name| case.name[area.len()..].strip_prefix('/') == Some(name))
    };
    smoke::NAMES.iter().any(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smoke_suite_names_cases_that_exist() {
        let named: usize = smoke::NAMES.iter().map(|(_, names)| names.len()).sum();
        assert_eq!(catalogue().suite(SMOKE).expect("it exists").len(), named);
        assert!(named >= 60);
    }

    #[test]
    fn every_suite_that_is_named_exists() {
        let catalogue = catalogue();
        assert!(catalogue.suites.iter().all(|name| catalogue.suite(name).is_some()));
        let count = |suite| catalogue.suite(suite).map_or(0, |cases| cases.len());
        assert_eq!(count(FULL) + count(RACES), all().count());
        assert_eq!(catalogue.suite("rough"), None);
    }
}
