//! The cases, one file per area of the kernel.
//!
//! To add one, copy one: a line in the `CASES` of its area and a function below it. A new area is a
//! new file and a line in [`AREAS`]. What belongs to the smoke suite is listed in [`smoke`].

pub(crate) mod bpf;
mod capability;
mod cgroup;
mod directory;
mod epoll;
mod event;
mod exec;
mod file;
mod fs;
mod futex;
pub(crate) mod inet;
pub(crate) mod io_uring;
pub(crate) mod keys;
mod lock;
mod loop_device;
mod mapping;
mod memfd;
pub(crate) mod memory;
pub(crate) mod module;
mod mount;
mod namespace;
mod netlink;
mod overlay;
mod pipe;
mod proc;
mod process;
mod ptrace;
pub(crate) mod seccomp;
mod signal;
mod smoke;
mod socket;
mod splice;
pub(crate) mod storage;
mod sysfs;
mod time;
pub(crate) mod timer;
mod tmpfs;
mod userfaultfd;

use crate::case::Case;

/// All areas, in the order in which they run.
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

/// The cases of the suite called `name`, in the order in which they run; nothing if there is no such
/// suite.
#[must_use]
pub fn suite(name: &str) -> Option<Vec<&'static Case>> {
    match name {
        "smoke" => Some(all().filter(|case| is_smoke(case)).collect()),
        "full" => Some(all().collect()),
        _ => None,
    }
}

/// The suites that there are.
pub const SUITES: &[&str] = &["smoke", "full"];

/// The case called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Case> {
    all().find(|case| case.name == name)
}

fn all() -> impl Iterator<Item = &'static Case> {
    AREAS.iter().copied().flatten()
}

fn is_smoke(case: &Case) -> bool {
    let listed = |(area, names): &(&str, &[&str])| {
        *area == case.area()
            && names.iter().any(|name| case.name[area.len()..].strip_prefix('/') == Some(name))
    };
    smoke::NAMES.iter().any(listed)
}

/// What is listed by name must be `area/what` and have one line about it.
#[cfg(test)]
pub(crate) fn assert_described(name: &str, about: &str) {
    let (area, what) = name.split_once('/').expect("area/what");
    let plain = |s: &str| {
        !s.is_empty() && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    assert!(plain(area) && plain(what), "{name}");
    assert!((10..=110).contains(&about.len()), "{name}: {about}");
    assert!(!about.contains('\n') && !about.ends_with('.'), "{name}: {about}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_each_case_says_in_one_line_what_it_verifies() {
        all().for_each(|case| assert_described(case.name, case.about));
        let mut names: Vec<_> = all().map(|case| case.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_smoke_suite_names_cases_that_exist() {
        let named: usize = smoke::NAMES.iter().map(|(_, names)| names.len()).sum();
        assert_eq!(suite("smoke").expect("it exists").len(), named);
        assert!(named >= 60);
    }

    #[test]
    fn every_suite_that_is_named_exists() {
        assert!(SUITES.iter().all(|name| suite(name).is_some()));
    }
}
