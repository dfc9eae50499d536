//! The system call in which a thread is blocked.

use std::fs;

/// A system call: its number and arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Syscall {
    pub(super) number: i64,
    pub(super) arguments: [u64; 6],
}

/// The system call in which a thread is blocked; nothing if it runs, waits for something else, or may not be looked at.
pub(super) fn blocked_in(process: i32, thread: i32) -> Option<Syscall> {
    parse(&fs::read_to_string(format!("/proc/{process}/task/{thread}/syscall")).ok()?)
}

/// The format is in proc_pid_syscall(5): a number in decimal, six arguments, the stack pointer and the program counter.
fn parse(text: &str) -> Option<Syscall> {
    let mut words = text.split_ascii_whitespace();
    let number = words.next()?.parse().ok().filter(|&number| number >= 0)?;
    let mut arguments = [0; 6];
    for argument in &mut arguments {
        *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    }
    Some(Syscall { number, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocked_threads_have_a_system_call() {
        let blocked = "202 0x7f1 0x80 0x2 0x0 0x0 0x0 0x7ffc 0x7f2\n";
        assert_eq!(parse(blocked), Some(Syscall { number: 202, arguments: [0x7f1, 0x80, 2, 0, 0, 0] }));
        for other in ["running\n", "-1 0x7ffc 0x7f2\n", "", "202 0x1\n", "202 1 2 3 4 5 6 7 8\n"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
