//! Where the threads of a race are that does not go on, as proc(5) says.

use std::fmt::Write;
use std::fs::read_to_string;

use crate::tally::Tally;
use crate::whereabouts::Whereabouts;

/// Frames of a kernel stack that are shown.
const FRAMES: usize = 12;

/// Both threads of process `process`: what they do, their states, system calls and kernel stacks.
pub(crate) fn describe(process: i32, tally: &Tally) -> String {
    let round = tally.rounds() + 1;
    let mut text = format!("round {round} does not end");
    for (name, side) in ["A", "B"].into_iter().zip(tally.sides()) {
        // A text always has room.
        let _ = write!(text, "; {name} {}", side.doing().name());
        text.push_str(&in_kernel(process, side));
    }
    text
}

/// ` (state D, system call 1, in a < b < c)`, as far as this may be known.
fn in_kernel(process: i32, side: &Whereabouts) -> String {
    let read = |file: &str| read_to_string(format!("/proc/{process}/task/{}/{file}", side.thread()));
    let Ok(stat) = read("stat") else { return " (its thread is not there)".to_string() };
    let mut facts = vec![format!("state {}", state(&stat))];
    if let Some(number) = read("syscall").ok().as_deref().and_then(system_call) {
        facts.push(format!("system call {number}"));
    }
    let stack = read("stack").unwrap_or_default();
    let frames: Vec<_> = stack.lines().filter_map(function).take(FRAMES).collect();
    if !frames.is_empty() {
        facts.push(format!("in {}", frames.join(" < ")));
    }
    format!(" ({})", facts.join(", "))
}

/// The state of a thread: the name before it may hold anything.
fn state(stat: &str) -> &str {
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next()).unwrap_or("?")
}

/// The number of the system call that a thread is in; nothing while it runs in user space.
fn system_call(line: &str) -> Option<u32> {
    line.split_whitespace().next()?.parse().ok()
}

/// The function of a line such as `[<0>] do_wait+0x60/0x100`.
fn function(line: &str) -> Option<&str> {
    line.split_whitespace().nth(1)?.split('+').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_proc_are_read() {
        assert_eq!(state("12 (race) b) D 1 12 12"), "D");
        assert_eq!(state(""), "?");
        assert_eq!(system_call("257 0x1 0x2"), Some(257));
        assert_eq!((system_call("running"), system_call("-1 0x1")), (None, None));
        assert_eq!(function("[<0>] do_wait+0x60/0x100"), Some("do_wait"));
        assert_eq!(function(""), None);
    }

    #[test]
    fn a_thread_that_is_there_is_described() {
        let tally = Tally::new();
        tally.sides()[0].adopt();
        let text = describe(std::process::id().cast_signed(), &tally);
        assert!(text.starts_with("round 1 does not end; A waits (state R"), "{text}");
        assert!(text.ends_with("; B waits (its thread is not there)"), "{text}");
    }
}
