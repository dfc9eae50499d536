//! Processes that are looked at without being stopped, or for some milliseconds.

use std::process::Command;

use crate::common::{Running, compile, until};
use observe::{Deadlock, Error, deadlocks, file_locks, process, stacks, waits};

/// The deadlock in which a program is, sooner or later.
fn deadlock_of(program: &Running) -> Deadlock {
    let first = program.number();
    let is_of = |found: &Deadlock| {
        found.circle.iter().any(|wait| {
            wait.process == first
                || process::describe(wait.process).is_some_and(|known| known.parent == first)
        })
    };
    until(|| deadlocks().into_iter().find(is_of))
}

fn mutexes(arguments: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Running::start(Command::new(compile(&folder, "abba")).args(arguments));
    let found = deadlock_of(&program);
    assert_eq!(found.circle.len(), 2);
    assert!(found.circle.iter().all(|wait| wait.reason.to_string().starts_with("mutex 0x")), "{found:?}");
    let [behind] = &found.behind[..] else { panic!("{found:?}") };
    assert_eq!(behind.thread, program.number(), "the main thread joins the first");
    assert_eq!(waits(&[program.number()]).expect("it is there").len(), 3);
}

#[test]
fn mutexes_in_opposite_order() {
    mutexes(&[]);
}

#[test]
fn robust_mutexes_in_opposite_order() {
    mutexes(&["robust"]);
}

/// One waits as a reader, the other as a writer.
fn rwlocks(arguments: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Running::start(Command::new(compile(&folder, "rwlocks")).args(arguments));
    let found = deadlock_of(&program);
    assert_eq!(found.circle.len(), 2);
    assert!(found.circle.iter().all(|wait| wait.reason.to_string().starts_with("rwlock 0x")), "{found:?}");
    // Another writer, and the main thread, which joins the first.
    assert_eq!(found.behind.len(), 2, "{found:?}");
}

#[test]
fn rwlocks_in_opposite_order() {
    rwlocks(&[]);
}

#[test]
fn rwlocks_that_processes_may_share_in_opposite_order() {
    rwlocks(&["shared"]);
}

#[test]
fn pipes_that_nobody_fills() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Running::start(&mut Command::new(compile(&folder, "pipes")));
    let found = deadlock_of(&program);
    assert_eq!(found.circle.len(), 2);
    assert!(
        found.circle.iter().all(|wait| wait.reason.to_string().starts_with("data in pipe ")),
        "{found:?}"
    );
}

#[test]
fn locks_of_files_in_opposite_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["one", "two"].map(|name| folder.path().join(name));
    let program = Running::start(Command::new(compile(&folder, "flocks")).args(files));
    let found = deadlock_of(&program);
    assert_eq!(found.circle.len(), 2);
    assert!(found.circle.iter().all(|wait| wait.reason.to_string().starts_with("FLOCK WRITE")), "{found:?}");
    assert_eq!(file_locks(program.number()).len(), 1);
}

#[test]
fn one_that_takes_locks_in_order_is_in_no_deadlock() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Running::start(&mut Command::new(compile(&folder, "clean")));
    until(|| (process::threads(program.number()).ok()?.len() == 5).then_some(()));
    for _ in 0..20 {
        let wrong: Vec<_> =
            deadlocks().into_iter().filter(|found| found.circle[0].process == program.number()).collect();
        assert_eq!(wrong, []);
    }
}

#[test]
fn stacks_are_those_of_all_threads_and_they_go_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Running::start(&mut Command::new(compile(&folder, "abba")));
    deadlock_of(&program);
    let threads = stacks(program.number()).expect("it may be looked at");
    assert_eq!(threads.len(), 3);
    let has = |function: &str| {
        threads
            .iter()
            .any(|thread| thread.frames.iter().any(|frame| frame.function.as_deref() == Some(function)))
    };
    assert!(has("ab") && has("ba") && has("main"), "{threads:?}");
    assert!(threads.iter().all(|thread| !thread.is_stuck));
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.number())).expect("it is there");
    assert!(status.contains("TracerPid:\t0\n") && status.contains("State:\tS"), "{status}");
}

#[test]
fn a_process_that_is_not_there_is_an_error() {
    assert!(matches!(stacks(i32::MAX), Err(Error::NoProcess(i32::MAX))));
    assert!(matches!(waits(&[i32::MAX]), Err(Error::NoProcess(i32::MAX))));
}
