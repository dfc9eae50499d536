//! What threads wait for, and deadlocks.

use observe::waits::Reason;
use observe::{Deadlock, FileLock, Wait};
use serde_json::{Value, json};

use crate::safe::safe_line;
use crate::words::counted;

/// Targets that are named: a pipe may have many writers.
const TARGETS_MAX: usize = 8;

/// A line for each deadlock and for each thread in it.
#[must_use]
pub fn deadlocks(found: &[Deadlock]) -> String {
    let text = |deadlock: &Deadlock| {
        let mut text =
            format!("deadlock of {}\n{}", counted(deadlock.circle.len(), "thread"), waits(&deadlock.circle));
        if !deadlock.behind.is_empty() {
            text += &format!("  behind it\n{}", waits(&deadlock.behind));
        }
        text
    };
    found.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// A line for each thread that waits.
#[must_use]
pub fn waits(waits: &[Wait]) -> String {
    waits.iter().map(|wait| format!("  {}\n", line(wait))).collect()
}

fn line(wait: &Wait) -> String {
    let mut targets: Vec<String> = wait.targets.iter().take(TARGETS_MAX).map(i32::to_string).collect();
    if wait.targets.len() > TARGETS_MAX {
        targets.push("...".to_owned());
    }
    let of =
        if wait.process == wait.thread { String::new() } else { format!(" of process {}", wait.process) };
    let who = match (&wait.reason, targets.is_empty()) {
        (Reason::Thread(_) | Reason::Child(Some(_)), _) => String::new(),
        (_, true) => " (owner unknown)".to_owned(),
        (Reason::Mutex(_) | Reason::Rwlock(_) | Reason::FileLock(_), _) => {
            format!(" held by {}", targets.join(" or "))
        }
        (Reason::Writer(_), _) => format!(" from {}", targets.join(" or ")),
        (Reason::Reader(_), _) => format!(" read by {}", targets.join(" or ")),
        (Reason::Child(None), _) => format!(": {}", targets.join(" or ")),
    };
    format!("{} {}{of} waits for {}{who}", wait.thread, safe_line(&wait.comm), wait.reason)
}

/// A line for each lock of a file.
#[must_use]
pub fn file_locks(locks: &[FileLock]) -> String {
    locks.iter().map(|lock| format!("  holds {}\n", safe_line(&lock.to_string()))).collect()
}

/// Waits for programs.
#[must_use]
pub fn waits_json(waits: &[Wait]) -> Value {
    let wait = |wait: &Wait| {
        json!({
            "process": wait.process,
            "thread": wait.thread,
            "comm": wait.comm,
            "waits_for": wait.reason.to_string(),
            "targets": wait.targets,
        })
    };
    waits.iter().map(wait).collect()
}

/// Deadlocks for programs.
#[must_use]
pub fn deadlocks_json(found: &[Deadlock]) -> Value {
    let deadlock = |found: &Deadlock| json!({ "circle": waits_json(&found.circle), "behind": waits_json(&found.behind) });
    found.iter().map(deadlock).collect()
}

/// Locks of files for programs.
#[must_use]
pub fn file_locks_json(locks: &[FileLock]) -> Value {
    let lock = |lock: &FileLock| json!({ "kind": lock.kind, "mode": lock.mode, "file": lock.file, "range": lock.range });
    locks.iter().map(lock).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_to_do_something_is_named() {
        let wait = |reason: Reason, targets: &[i32]| Wait {
            process: 10,
            thread: 11,
            comm: "a\x1b[2Jb".to_owned(),
            reason,
            targets: targets.to_vec(),
            switches: 0,
        };
        let lines = [
            wait(Reason::Mutex(0x10), &[12]),
            wait(Reason::Rwlock(0x10), &[12]),
            wait(Reason::Thread(12), &[12]),
            wait(Reason::Child(None), &[13, 14]),
            wait(Reason::Child(Some(13)), &[13]),
            wait(Reason::Writer(7), &[]),
            wait(Reason::Reader(7), &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ];
        assert_eq!(
            waits(&lines),
            "  11 ab of process 10 waits for mutex 0x10 held by 12
  11 ab of process 10 waits for rwlock 0x10 held by 12
  11 ab of process 10 waits for the end of thread 12
  11 ab of process 10 waits for the end of a child: 13 or 14
  11 ab of process 10 waits for the end of process 13
  11 ab of process 10 waits for data in pipe 7 (owner unknown)
  11 ab of process 10 waits for room in pipe 7 read by 1 or 2 or 3 or 4 or 5 or 6 or 7 or 8 or ...
"
        );
    }
}
