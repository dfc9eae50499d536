//! The processes of user space.

use protocol::End;
use protocol::message::TEXT_MAX;
use protocol::results::cut;
use rustix::process::WaitStatus;

/// What a shell gives for a program that cannot be executed, and for one that is not there: sh(1).
pub(crate) const NOT_EXECUTABLE: i32 = 126;
pub(crate) const NOT_FOUND: i32 = 127;

/// Living processes of user space other than this one: `ID (NAME)`.
pub(crate) fn all() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|&id| id > 2).filter_map(describe_process).collect()
}

fn describe_process(id: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (head, tail) = stat.rsplit_once(')')?;
    let mut fields = tail.split_whitespace();
    let (state, parent) = (fields.next()?, fields.next()?);
    // Children of process 2 are threads of the kernel; a zombie is dead already.
    (parent != "2" && state != "Z" && state != "X").then(|| format!("{head})"))
}

/// Kills every process but this one.
pub(crate) fn kill_all() {
    // From process 1 the special number -1 means everyone else: kill(2). Nobody else is no error.
    // SAFETY: no memory is involved.
    unsafe { libc::kill(-1, libc::SIGKILL) };
}

/// What a shell gives for a program that was not executed.
pub(crate) fn status_of(error: &std::io::Error) -> i32 {
    if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { NOT_EXECUTABLE }
}

/// Lets a new process have the signals that this one waits for.
pub(crate) fn unblock_signals() {
    // SAFETY: the set is a local that sigemptyset initialises.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// How a process ended, from its wait status.
pub(crate) fn end_of(status: WaitStatus) -> End {
    match status.terminating_signal() {
        Some(signal) => End::Signalled(signal),
        None => End::Exited(status.exit_status().unwrap_or(-1)),
    }
}

/// State and kernel stack of every process of user space: proc_pid_stack(5), proc_pid_wchan(5).
pub(crate) fn stacks() -> String {
    let mut text = String::new();
    for process in all() {
        let id = process.split(' ').next().unwrap_or_default();
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
        let state =
            read("status").lines().find(|line| line.starts_with("State:")).unwrap_or_default().to_string();
        text.push_str(&format!("{process} {}\n", state.replace('\t', " ")));
        for line in read("stack").lines() {
            text.push_str(&format!("    {line}\n"));
        }
        if text.len() > TEXT_MAX {
            break;
        }
    }
    cut(&text, TEXT_MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_listed() {
        let own = format!("{} (", std::process::id());
        assert!(all().iter().any(|process| process.starts_with(&own)));
    }
}
