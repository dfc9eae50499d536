//! Waiting for what another process does, without guessing how long it takes.

use std::io::ErrorKind;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::Pid;

/// How often a condition is tried before the first pause.
const EAGER: u32 = 16;

/// The pause after that; each further one is twice as long.
const FIRST: Duration = Duration::from_micros(1);

/// The longest pause.
const LONGEST: Duration = Duration::from_millis(10);

/// Lets others run until `condition` holds, with pauses that grow; the time limit of the case ends a wait in vain.
///
/// # Errors
///
/// That of `condition`.
pub fn until(mut condition: impl FnMut() -> Result<bool, Errno>) -> Result<(), Errno> {
    for _ in 0..EAGER {
        if condition()? {
            return Ok(());
        }
        rustix::thread::sched_yield();
    }
    let mut pause = FIRST;
    while !condition()? {
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST);
    }
    Ok(())
}

/// Waits until a process sleeps in the system call of this number, or sleeps at all where the kernel does not show the call:
/// proc_pid_syscall(5) needs `CONFIG_HAVE_ARCH_TRACEHOOK`.
///
/// # Errors
///
/// When the process has ended, and `EPERM` when it may not be traced.
pub fn until_asleep_in(process: Pid, number: libc::c_long) -> Result<(), Errno> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", process.as_raw_pid()));
    until(|| {
        let is_asleep = match read("syscall") {
            Ok(text) => Ok(sleeps_in(&text) == Some(number)),
            Err(error) if error.kind() == ErrorKind::NotFound => read("stat").map(|text| sleeps(&text)),
            Err(error) => Err(error),
        };
        is_asleep.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    })
}

/// The system call in which a process sleeps: `running`, `-1` for another kind of sleep, or a number, arguments and
/// registers.
fn sleeps_in(text: &str) -> Option<libc::c_long> {
    text.split_whitespace().next()?.parse().ok().filter(|number| *number >= 0)
}

/// Whether the state of a process, which comes after its name in parentheses, is sleep: proc_pid_stat(5).
fn sleeps(text: &str) -> bool {
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.trim_start().starts_with(['S', 'D'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::{child, pause_forever};

    #[test]
    fn a_condition_is_tried_until_it_holds() {
        let mut tries = 0;
        until(|| {
            tries += 1;
            Ok(tries == 30)
        })
        .expect("no error");
        assert_eq!((tries, until(|| Err(Errno::IO))), (30, Err(Errno::IO)));
    }

    #[test]
    fn the_text_of_the_kernel_is_read() {
        let asleep = "34 0x0 0x0 0x0 0x0 0x0 0x0 0x7ffd2b3c 0x7f1a2b3c\n";
        assert_eq!(
            [asleep, "running\n", "-1 0x7ff 0x7f1\n", ""].map(sleeps_in),
            [Some(34), None, None, None]
        );
    }

    #[test]
    fn the_state_comes_after_a_name_with_anything_in_it() {
        let states = ["7 (a) R (b) S 1 7", "7 (x) D 1 7", "7 (S) R 1 7", "7 S", ""].map(sleeps);
        assert_eq!(states, [true, true, false, false, false]);
    }

    #[test]
    fn a_process_that_sleeps_in_a_call_is_seen() {
        let sleeper = child(|| pause_forever()).expect("fork");
        assert_eq!(until_asleep_in(sleeper.pid(), libc::SYS_pause), Ok(()));
    }
}
