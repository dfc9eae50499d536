//! A program of this host that takes mail, as sendmail(8) does.

use std::io::{Seek, Write};
use std::process::Command as Process;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host::Task;
use host::task::Failure as TaskFailure;

use crate::message::Message;
use crate::settings::Command;
use crate::transport::{Failure, Transport};

/// A program that speaks to a server itself waits for it.
const LIMIT: Duration = Duration::from_secs(5 * 60);

/// Lines of a complaint that are reported.
const LINES: usize = 3;

/// Hands messages to a program.
#[derive(Debug)]
pub(crate) struct Sendmail<'a> {
    pub(crate) command: &'a Command,
    pub(crate) interrupt: &'a AtomicBool,
}

impl Transport<Message> for Sendmail<'_> {
    fn deliver(&mut self, message: &Message) -> Result<(), Failure> {
        let later = |error: &dyn std::fmt::Display| Failure::Later(error.to_string());
        let mut input = host::nameless().map_err(|error| later(&error))?;
        input
            .write_all(&message.for_others())
            .and_then(|()| input.rewind())
            .map_err(|error| later(&error))?;
        let addresses: Vec<String> = message.recipients.iter().map(ToString::to_string).collect();
        let sender = message.sender.to_string();
        let mut words: Vec<&str> = vec!["-i", "-f", &sender, "--"];
        words.extend(addresses.iter().map(String::as_str));
        let task = match self.command {
            Command::Program(program) => Task::new(program, &words, self.interrupt),
            // As git does: the user wrote it for a shell.
            Command::Shell(line) => {
                let line = format!("{line} \"$@\"");
                Task::new("sh", &[&["-c", &line, "sendmail"], words.as_slice()].concat(), self.interrupt)
            }
        };
        let give = |command: &mut Process| {
            command.stdin(input);
        };
        let done = task.limit(LIMIT).with(give).run(&mut || {});
        match done {
            Ok(done) if done.success => Ok(()),
            // A program that takes mail and fails has not taken it: EX_TEMPFAIL and all others of sysexits(3).
            Ok(done) => Err(Failure::Later(complaint(&done.complaint))),
            Err(error @ TaskFailure::Missing(_)) => Err(later(&error)),
            Err(error) => Err(Failure::Unknown(error.to_string())),
        }
    }
}

/// The first lines of what a program says against it, in one.
pub(crate) fn complaint(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES).collect();
    if lines.is_empty() { "it gave no reason".to_owned() } else { lines.join("; ") }
}
