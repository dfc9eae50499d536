//! What the processes of a case that does not end are doing.

use protocol::message::TEXT_MAX;
use protocol::results::cut;

use super::leftovers::processes;

/// State and kernel stack of every process of user space: proc_pid_stack(5), proc_pid_wchan(5).
pub(super) fn stacks() -> String {
    let mut text = String::new();
    for process in processes() {
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
