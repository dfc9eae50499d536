//! Who is still there.

use rustix::process::{Pid, Signal, kill_process};

/// Everything that a call starts inherits this variable.
pub(crate) const MARK: &str = "KILN_TEST_MARK";

/// A living process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) name: String,
}

/// The living processes that a call started, directly or not, and the call itself.
pub(crate) fn marked(mark: &str) -> Vec<Process> {
    let wanted = format!("{MARK}={mark}");
    let entries = std::fs::read_dir("/proc").expect("Linux");
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        // Of the dead and of strangers nothing can be read.
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    })
    .map(|id| {
        let name = std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        Process { id, name: name.trim().to_string() }
    })
    .collect()
}

pub(crate) fn signal(id: u32, signal: Signal) {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("it lives, and is ours");
}
