//! The cases, one file per area of the kernel.
//!
//! To add one, copy one: a line in the `CASES` of its area and a function below it. A new area is a
//! new file and a line in [`AREAS`]. What belongs to the smoke suite is listed in [`smoke`].

mod bpf;
mod capability;
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
mod seccomp;
mod signal;
mod smoke;
mod socket;
mod splice;
mod storage;
mod sysfs;
mod time;
mod timer;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_have_the_right_form() {
        let mut names: Vec<_> = all().map(|case| case.name).collect();
        for name in &names {
            let (area, what) = name.split_once('/').expect("area/what-it-shows");
            let plain = |s: &str| {
                !s.is_empty() && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            };
            assert!(plain(area) && plain(what), "{name}");
        }
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn every_case_says_in_one_line_what_it_verifies() {
        for case in all() {
            assert!((10..=110).contains(&case.about.len()), "{}: {}", case.name, case.about);
            assert!(!case.about.contains('\n') && !case.about.ends_with('.'), "{}", case.name);
        }
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
