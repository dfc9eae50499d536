//! Calls that are ended in the middle of something.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::{Call, Done, Place, Running, processes, text, until};

/// How a person and how a host ends kiln.
pub(crate) const SIGNALS: [Signal; 2] = [Signal::INT, Signal::KILL];

/// Names below a folder by which something is on its way in.
pub(crate) fn half(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if name.starts_with("tmp-") || name.starts_with(".kiln-part-") || name.ends_with(".part") {
            found.push(path);
        } else if path.is_dir() && !path.is_symlink() {
            found.extend(half(&path));
        }
    }
    found
}

/// Waits until a call has started this program, directly or not.
pub(crate) fn await_program(running: &Running, name: &str) {
    until(name, || processes::any_runs(&processes::descendants(running.pid()), name).then_some(()));
}

/// Ends a call, and sees that nothing of it is left that nobody would tidy up: no process, mount or temporary file.
#[track_caller]
pub(crate) fn stop(place: &Place, running: Running, signal: Signal) -> Done {
    // Some of them forget by what mark they are known.
    let all = processes::descendants(running.pid());
    running.signal(signal);
    let done = running.wait();
    let code = (signal == Signal::INT).then_some(130);
    assert_eq!(done.code, code, "{}{}", done.stdout, done.stderr);
    until("all of them are gone", || (!all.iter().any(processes::lives)).then_some(()));
    let mounts = fs::read_to_string("/proc/self/mounts").expect("Linux");
    assert!(!mounts.contains(text(place.path())), "{mounts}");
    let left = fs::read_dir(temporary(place)).expect("it was made").flatten().chain(in_shared_memory());
    let left: Vec<PathBuf> = left.map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
    done
}

/// The same call with a folder of its own for temporary files.
pub(crate) fn with_own_temporary(place: &Place, call: Call) -> Call {
    let folder = temporary(place);
    fs::create_dir_all(&folder).expect("writable");
    call.env("TMPDIR", folder)
}

fn temporary(place: &Place) -> PathBuf {
    place.path().join("temporary")
}

fn in_shared_memory() -> impl Iterator<Item = fs::DirEntry> {
    let is_ours = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().contains("kiln");
    fs::read_dir("/dev/shm").into_iter().flatten().flatten().filter(is_ours)
}
