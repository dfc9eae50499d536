//! What the processes of a machine do, as far as the host can see: proc_pid_stat(5), proc_pid_wchan(5).

use std::fmt;
use std::fs::{read_link, read_to_string};

use crate::vmm::process_tree::process_tree;

/// Clock ticks of user space in a second, which are part of the ABI of x86.
const TICKS: u64 = 100;

/// A process of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: u32,
    name: String,
    state: String,
    /// User and kernel time, in ticks.
    ticks: u64,
    /// Where it waits in the host's kernel.
    channel: String,
}

/// The descendants of a process, parents first, without those that are kiln itself.
pub(super) fn processes_below(root: u32) -> Vec<Process> {
    let own = read_link("/proc/self/exe").ok();
    let others = |&id: &u32| read_link(format!("/proc/{id}/exe")).ok() != own;
    process_tree(root).into_iter().filter(others).filter_map(Process::look).collect()
}

impl Process {
    fn look(id: u32) -> Option<Self> {
        let read = |file: &str| read_to_string(format!("/proc/{id}/{file}")).ok();
        Self::read(id, &read("stat")?, &read("wchan").unwrap_or_default())
    }

    fn read(id: u32, stat: &str, channel: &str) -> Option<Self> {
        // The name may hold anything, also brackets and blanks.
        let (start, rest) = stat.rsplit_once(") ")?;
        let name = start.split_once('(')?.1.to_string();
        let fields: Vec<&str> = rest.split(' ').collect();
        let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok());
        let (user, kernel) = (ticks(11)?, ticks(12)?);
        let channel = if channel == "0" { "" } else { channel };
        let state = (*fields.first()?).to_string();
        Some(Self { id, name, state, ticks: user.saturating_add(kernel), channel: channel.to_string() })
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state.as_str() {
            "R" => "running",
            "S" => "sleeping",
            "D" => "in uninterruptible sleep",
            "T" => "stopped",
            "t" => "stopped by its tracer",
            "Z" => "dead",
            other => other,
        };
        write!(f, "process {} ({}): {state}", self.id, self.name)?;
        write!(f, ", {}.{:02} s of CPU time", self.ticks / TICKS, self.ticks % TICKS)?;
        if self.channel.is_empty() { Ok(()) } else { write!(f, ", waits in {}", self.channel) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_process_is_described_in_a_line() {
        let stat = "77 (a) (b) S 1 77 77 0 -1 4194304 1 0 0 0 1234 66 0 0 20 0 1 0 5 0 0";
        let process = Process::read(77, stat, "do_wait").unwrap();
        assert_eq!(
            process.to_string(),
            "process 77 (a) (b): sleeping, 13.00 s of CPU time, waits in do_wait"
        );
        let running = Process { state: "R".into(), channel: String::new(), ..process };
        assert_eq!(running.to_string(), "process 77 (a) (b): running, 13.00 s of CPU time");
    }

    #[test]
    fn a_child_is_found_and_kiln_itself_is_not() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let found = processes_below(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.iter().any(|process| process.id == child.id()), "{found:?}");
        assert!(found.iter().all(|process| process.id != std::process::id()), "{found:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(stat: String, channel: String) {
            let _ = Process::read(1, &stat, &channel);
        }
    }
}
