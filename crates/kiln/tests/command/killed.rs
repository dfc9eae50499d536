//! kiln is killed while it does something else than run cases: nothing of it runs on, nothing half is left, and the same
//! call then does what it should.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::support::stopping::half;
use crate::support::{BUILD, Call, KERNEL, Place, Running, until};

/// Kills the call as soon as `is_time` comes, and makes it again; gives what it had left behind.
fn survives(call: &dyn Fn() -> Call, is_time: impl Fn(&Running), code: i32) {
    let running = call().start();
    is_time(&running);
    running.signal(Signal::KILL);
    // Waits for all that it started.
    assert_eq!(running.wait().code, None);
    call().run_within(BUILD).expect(code);
}

/// Waits until something below a folder, whose name has this in it, is on its way in.
fn await_half(folder: &Path, name: &str) {
    let is_it = |path: &PathBuf| path.display().to_string().contains(name);
    until("something is half written", || half(folder).iter().any(is_it).then_some(()));
}

#[test]
fn while_it_writes_a_dump() {
    let place = Place::new();
    let program = place.script("panic", "echo c > /proc/sysrq-trigger");
    let state = place.path().join("state");
    let call = || place.exec(&program, &["--memory", "2G", "--dump"]);
    survives(&call, |_| await_half(&state, ".vmcore.part"), 1);
    assert_eq!(half(&state), [""; 0].map(PathBuf::from));
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn while_a_good_kernel_runs_what_failed() {
    let place = Place::new();
    let program = place.script("fails", "case $(uname -r) in *rt*) exit 0 ;; *) exit 1 ;; esac");
    // A machine that is kept from before would not boot.
    let own = place.templates();
    let call = || place.exec(&program, &["--golden", "deb:6.1.0-50-rt-amd64"]).env("XDG_CACHE_HOME", &own);
    let is_time = |running: &Running| {
        let boots = || std::fs::read_to_string(running.results().join("events.jsonl")).ok();
        until("the good kernel boots", || (boots()?.matches("\"command-line\"").count() > 1).then_some(()));
    };
    survives(&call, is_time, 1);
}

#[test]
fn while_it_compares() {
    let place = Place::new();
    let own = place.templates();
    let call = || {
        let call = ["compare", KERNEL, KERNEL, "--metric", "syscall/getppid", "--boots", "1"];
        place.kiln(call).env("XDG_CACHE_HOME", &own)
    };
    survives(&call, |running| assert!(running.qemu() > 0), 0);
    assert_eq!(half(&own.join("kiln/templates")), [""; 0].map(PathBuf::from));
}

#[test]
#[ignore = "fetches a package twice"]
fn while_it_fetches() {
    let place = Place::new();
    let own = place.path().join("cache");
    let call = || place.kiln(["run", KERNEL, "--case", "pipe/full"]).env("XDG_CACHE_HOME", &own);
    survives(&call, |_| await_half(&own, "tmp-"), 0);
    assert_eq!(half(&own), [""; 0].map(PathBuf::from));
}
