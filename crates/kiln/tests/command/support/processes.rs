//! Who is still there.

use std::process::{Child, Command};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

/// Everything that a call starts inherits this variable.
pub(crate) const MARK: &str = "KILN_TEST_MARK";

/// A shell that runs beside kiln, and ends with its test.
pub(crate) struct Shell(Child);

impl Shell {
    pub(crate) fn start(script: &str) -> Self {
        Self(Command::new("sh").args(["-c", script]).spawn().expect("there is a shell"))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A living process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: u32,
    pub(crate) name: String,
}

/// The living processes that a call started, directly or not, and the call itself.
pub(crate) fn marked(mark: &str) -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").expect("Linux");
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| has_variable(*id, MARK, mark)).map(|id| Process { id, name: name(id) }).collect()
}

/// Whether a process was started with a variable of this value.
pub(crate) fn has_variable(id: u32, variable: &str, value: &str) -> bool {
    let wanted = format!("{variable}={value}");
    // Of the dead and of strangers nothing can be read.
    let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
}

/// What a process is called; nothing of one that has gone.
fn name(id: u32) -> String {
    std::fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default().trim().to_string()
}

/// The words with which a process was started; nothing of one that has gone.
pub(crate) fn command_line(id: u32) -> String {
    String::from_utf8_lossy(&std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default())
        .replace('\0', " ")
}

pub(crate) fn signal(id: u32, signal: Signal) {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("it lives, and is ours");
}

/// Kills a process that may have ended since it was seen.
pub(crate) fn kill_if_alive(id: u32) {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw).expect("a process");
    let killed = kill_process(pid, Signal::KILL);
    assert!(matches!(killed, Ok(()) | Err(Errno::SRCH)), "{killed:?}");
}

/// The ids of all processes below this one, and when each began. Unlike an environment, this is known
/// also of a process that has thrown away what it was started with.
pub(crate) fn descendants(id: u32) -> Vec<(u32, String)> {
    let tasks = std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> =
        lists.flat_map(|list| list.split(' ').filter_map(|id| id.parse().ok()).collect::<Vec<_>>()).collect();
    let below = children.iter().flat_map(|&child| descendants(child)).collect::<Vec<_>>();
    children.into_iter().filter_map(|child| Some((child, start(child)?))).chain(below).collect()
}

/// Whether one of these processes runs a program of this name.
pub(crate) fn any_runs(all: &[(u32, String)], program: &str) -> bool {
    all.iter().any(|(id, _)| name(*id) == program)
}

/// Whether a process of that start is still there, dead ones excepted.
pub(crate) fn lives(process: &(u32, String)) -> bool {
    start(process.0).is_some_and(|start| start == process.1)
}

/// When a living process began: field 22 of proc_pid_stat(5).
fn start(id: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    (fields[0] != "Z").then(|| fields[19].to_string())
}
