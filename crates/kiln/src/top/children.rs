//! What was started: kilns of their own, which write nothing to the terminal.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use top::Input;

/// This very program, also after another was installed in its place.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Bytes of what a child said last in which its last line is looked for.
const LAST_WORDS: u64 = 4096;

/// All that was started and not released. What is left of it is stopped when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Children {
    all: Vec<Started>,
    told: Vec<top::Child>,
}

/// A kiln that was started.
#[derive(Debug)]
struct Started {
    child: Child,
    arguments: Vec<String>,
    /// What it says on standard error.
    log: File,
    ended: Option<String>,
}

impl Children {
    /// Starts kiln with these arguments.
    pub(super) fn start(&mut self, arguments: Vec<String>) -> io::Result<()> {
        let log = host::task::nameless()?;
        let child = Command::new(THIS_PROGRAM)
            .arg0("kiln")
            .args(&arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.try_clone()?)
            // What the terminal sends is not for it.
            .process_group(0)
            .spawn()?;
        self.all.push(Started { child, arguments, log, ended: None });
        Ok(())
    }

    /// How they are, if that is not as before.
    pub(super) fn news(&mut self) -> Option<Input> {
        let now: Vec<top::Child> = self.all.iter_mut().map(Started::look).collect();
        (now != self.told).then(|| {
            self.told.clone_from(&now);
            Input::Children(now)
        })
    }

    /// How many have not ended.
    pub(super) fn living(&mut self) -> usize {
        self.all.iter_mut().map(Started::look).filter(|child| child.ended.is_none()).count()
    }

    /// Lets them go on by themselves.
    pub(super) fn release(&mut self) {
        self.all.clear();
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for started in self.all.iter_mut().filter(|started| started.ended.is_none()) {
            let id = i32::try_from(started.child.id()).ok().and_then(Pid::from_raw);
            // One that has just ended needs none.
            id.map(|id| kill_process(id, Signal::TERM));
        }
        for started in &mut self.all {
            let _ = started.child.wait();
        }
    }
}

impl Started {
    fn look(&mut self) -> top::Child {
        if self.ended.is_none() {
            self.ended = match self.child.try_wait() {
                Ok(status) => status.map(how),
                Err(error) => Some(error.to_string()),
            };
        }
        let (id, arguments) = (self.child.id(), self.arguments.clone());
        top::Child { id, arguments, ended: self.ended.clone(), said: last_line(&self.log) }
    }
}

fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// The last line that says something; nothing if none does.
fn last_line(log: &File) -> String {
    let size = log.metadata().map_or(0, |found| found.len());
    let mut bytes = vec![0; usize::try_from(size.min(LAST_WORDS)).unwrap_or(0)];
    if log.read_exact_at(&mut bytes, size.saturating_sub(LAST_WORDS)).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_was_said_last_is_the_last_line_with_a_word() {
        let mut log = host::task::nameless().expect("a file");
        assert_eq!(last_line(&log), "");
        log.write_all(b"one\nkiln: two\n\n").expect("writable");
        assert_eq!(last_line(&log), "kiln: two");
        log.write_all(&[b'x'; 10_000]).expect("writable");
        assert_eq!(last_line(&log).len(), 4096);
    }
}
