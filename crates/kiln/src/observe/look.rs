//! Looks at processes that run.

use anyhow::{Context, Result};
use judge::exit::INTERRUPTED;
use observe::Deadlock;
use report::observe::{stack, waits};
use serde_json::json;

use crate::cli::{Deadlocks, OneProcess};
use crate::listeners::document;
use crate::signals;

/// Deadlocks were found.
const FOUND: u8 = 1;

/// Shows what the threads of a process do.
pub(super) fn stacks(args: &OneProcess) -> Result<u8> {
    let threads = observe::stacks(args.process).map_err(super::refused)?;
    document(args.json, || stack::threads(&threads), || stack::json(&threads))?;
    Ok(0)
}

/// Shows what the threads of a process wait for, and the locks that it holds.
pub(super) fn locks(args: &OneProcess) -> Result<u8> {
    let waiting = observe::waits(&[args.process]).map_err(super::refused)?;
    let held = observe::file_locks(args.process);
    let text = || match waits::waits(&waiting) + &waits::file_locks(&held) {
        text if text.is_empty() => "no file locks, and no known waits\n".to_owned(),
        text => text,
    };
    let json =
        || json!({ "waits": waits::waits_json(&waiting), "file_locks": waits::file_locks_json(&held) });
    document(args.json, text, json)?;
    Ok(0)
}

/// Shows threads that wait for each other.
pub(super) fn deadlocks(args: &Deadlocks) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let found = loop {
        let found = found(args.process);
        let (true, Some(pause)) = (found.is_empty(), args.watch) else { break found };
        if !signals::pause(pause, &interrupt) {
            return Ok(INTERRUPTED);
        }
    };
    let text = || if found.is_empty() { "no deadlock\n".to_owned() } else { waits::deadlocks(&found) };
    document(args.json, text, || waits::deadlocks_json(&found))?;
    Ok(if found.is_empty() { 0 } else { FOUND })
}

fn found(process: Option<i32>) -> Vec<Deadlock> {
    let concerns = |found: &Deadlock| {
        let mut all = found.circle.iter().chain(&found.behind);
        process.is_none_or(|process| all.any(|wait| wait.process == process))
    };
    observe::deadlocks().into_iter().filter(concerns).collect()
}
