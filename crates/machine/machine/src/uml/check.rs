//! Whether User-Mode Linux can work on this host.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// Debian's User-Mode Linux, if it is installed.
#[must_use]
pub fn installed() -> Option<PathBuf> {
    crate::program::Program::find("linux.uml")
}

/// Whether a process may trace its children, by which UML runs the programs in it.
///
/// # Errors
///
/// Why it may not.
pub fn may_trace() -> Result<(), String> {
    let mut command = Command::new("/proc/self/exe");
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe { command.pre_exec(trace_me) };
    let child = command.spawn().map_err(|error| format!("a process may not be traced: {error}"))?;
    let id = Pid::from_child(&child);
    let wait = || waitpid(Some(id), WaitOptions::empty()).ok().flatten();
    // A traced process stops before its first instruction.
    let stopped = wait().is_some_and(|(_, status)| status.stopped());
    if !stopped {
        return Err("a traced process does not stop".to_string());
    }
    // The standard library would take the stop for its end, and not kill it.
    let _ = kill_process(id, Signal::KILL);
    wait();
    Ok(())
}

/// PTRACE_TRACEME of ptrace(2).
fn trace_me() -> std::io::Result<()> {
    let nothing = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the request takes no argument.
    match unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, nothing, nothing) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracing_is_tried_and_nothing_is_left_of_it() {
        may_trace().expect("hosts that run these tests allow it");
    }
}
