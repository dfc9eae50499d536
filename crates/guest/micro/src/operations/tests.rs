//! Every operation is tried on the kernel that the tests run on.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::fd::AsFd;

use harness::check::{Checked, Stop};
use harness::child::{Child, child};
use harness::needs::missing;
use harness::storage::{mount, private_mounts};
use harness::sys::{succeeded, unshare};
use protocol::measure::{Answer, Clock, decode, encode};
use protocol::{Report, ReportKind};
use rustix::mount::MountFlags;
use rustix::pipe::pipe;
use rustix::process::{chdir, getgid, getuid};
use rustix::thread::UnshareFlags;

use super::*;
use crate::Meter;

#[test]
fn there_are_many_and_no_two_have_the_same_name() {
    let names: BTreeSet<_> = all().map(|operation| operation.name).collect();
    assert_eq!(names.len(), all().count());
    assert!(names.len() >= 110, "{}", names.len());
}

#[test]
fn each_is_measured_or_says_what_it_lacks() {
    if let Err(report) = attempt(|_| Ok(())) {
        // Whoever runs the tests may not have user namespaces; where all must run, that is a failure.
        assert!(std::env::var_os("KILN_SKIP_NOTHING").is_none(), "{}", report.text);
        eprintln!("skipped: no user namespaces: {}", report.text);
        return;
    }
    let mut measured = 0;
    for operation in all() {
        match attempt(|meter| match operation.needs.iter().find_map(|&need| missing(need)) {
            Some(why) => harness::check::skip(&why),
            None => (operation.body)(meter),
        }) {
            Ok(costs) => {
                measured += 1;
                assert!(costs.len() >= 9, "{}: {costs:?}", operation.name);
            }
            Err(report) => assert!(is_allowed(&report), "{}: {}", operation.name, report.text),
        }
    }
    assert!(measured > all().count() / 2, "{measured}");
}

/// Root of a user namespace may less than root, and kernels and containers lack things.
fn is_allowed(report: &Report) -> bool {
    let refused = ["unexpected EPERM", "unexpected EACCES", "unexpected EROFS", "unexpected ENOSYS"];
    report.kind == ReportKind::Skip || refused.iter().any(|error| report.text.starts_with(error))
}

/// Does it in a process of its own that can do no harm; gives what its repetitions took.
fn attempt(body: impl FnOnce(&mut Meter) -> Checked) -> Result<Vec<u64>, Report> {
    attempt_in(isolate, body)
}

fn attempt_in(place: fn() -> Checked, body: impl FnOnce(&mut Meter) -> Checked) -> Result<Vec<u64>, Report> {
    let (reader, writer) = pipe().expect("a pipe");
    let process = child(|| {
        let mut meter = Meter::new(Clock::Nanoseconds);
        let answer = match place().and_then(|()| body(&mut meter)) {
            Ok(()) => Answer::Measured { job: 0, samples: meter.into_samples() },
            Err(Stop(report)) => Answer::NotMeasured { job: 0, report },
        };
        rustix::io::write(&writer, &encode(&answer).unwrap_or_default())?;
        Ok(())
    })
    .expect("a child");
    drop(writer);
    answer_of(process, fs::File::from(reader))
}

fn answer_of(process: Child, mut from: fs::File) -> Result<Vec<u64>, Report> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).expect("what it wrote");
    let status = process.wait().expect("its end");
    match decode(&bytes) {
        Ok(Answer::Measured { samples, .. }) => Ok(samples.costs),
        Ok(Answer::NotMeasured { report, .. }) => Err(report),
        other => panic!("{other:?}, {status:?}"),
    }
}

/// As the instrument does it, but as root of a user namespace, and silent.
fn isolate() -> Checked {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    // SAFETY: sets the timer of this process.
    unsafe { libc::alarm(60) };
    let null = fs::File::options().write(true).open("/dev/null")?;
    for standard in [rustix::stdio::stdout().as_fd(), rustix::stdio::stderr().as_fd()] {
        use std::os::fd::AsRawFd;
        // SAFETY: both descriptors are open.
        succeeded(unsafe { libc::dup2(null.as_raw_fd(), standard.as_raw_fd()) })?;
    }
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
    private_mounts()?;
    mount("tmp", "/tmp", "tmpfs", MountFlags::empty(), "")?;
    Ok(chdir("/tmp")?)
}
