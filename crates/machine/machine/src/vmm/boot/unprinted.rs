//! What a kernel logged and did not print: out of the memory of its machine.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use console::{Console, Death, message};

use super::{CONSOLE_LINES, Starting};
use crate::Machine;
use crate::error::{BootFailure, BootTrouble};
use crate::template::kernel_log;

/// Stands before lines that never were on a console.
const NOT_PRINTED: &str = "from the kernel's log in the machine's memory, which it did not print:";

/// Lines that are shown of a log, the last ones: more than a panic or an oops has.
const LINES: usize = 80;

impl Starting<'_> {
    /// The panic of a kernel that could not print it.
    pub(super) fn silent_panic(&mut self, interrupt: &AtomicBool) -> Option<BootFailure> {
        if panic_in(&self.machine.console).is_some() {
            return None;
        }
        let log = self.log(interrupt);
        self.panicked(&log)
    }

    /// The silence of a kernel that did not print all that it logged, or the panic that it did not print.
    pub(super) fn silent(&mut self, trouble: BootTrouble, interrupt: &AtomicBool) -> BootFailure {
        let log = self.log(interrupt);
        if panic_in(&self.machine.console).is_none()
            && let Some(panic) = self.panicked(&log)
        {
            return panic;
        }
        // The console and the log as they were before the kernel is provoked.
        let failure = self.with_log(trouble, &log);
        let facts = Box::new(self.machine.examine());
        BootFailure { facts, dump: self.machine.dumped(), ..failure }
    }

    fn panicked(&mut self, log: &Console) -> Option<BootFailure> {
        let death = panic_in(log)?;
        let failure = self.with_log(BootTrouble::of(death, self.spec.engine.port_option()), log);
        let facts = Box::new(self.machine.examine_dead());
        Some(BootFailure { facts, dump: self.machine.dumped(), ..failure })
    }

    /// What the kernel has logged, whether it could print it or not.
    fn log(&self, interrupt: &AtomicBool) -> Console {
        let mut log = Console::default();
        let texts = self.memory.as_ref().map(|memory| kernel_log(memory, interrupt)).unwrap_or_default();
        texts.iter().for_each(|text| drop(log.feed(format!("{text}\n").as_bytes())));
        log
    }

    fn with_log(&self, trouble: BootTrouble, log: &Console) -> BootFailure {
        let log = unprinted(log.tail(usize::MAX), &self.machine.console.tail(usize::MAX));
        let title = (!log.is_empty()).then(|| NOT_PRINTED.to_string());
        let log = title.into_iter().chain(log);
        let console = self.machine.console.tail(CONSOLE_LINES).into_iter().chain(log).collect();
        BootFailure { console, ..self.machine.failure(trouble) }
    }
}

fn panic_in(lines: &Console) -> Option<Death> {
    lines.last_words().filter(|death| matches!(death, Death::Panic(_) | Death::AgentDied(_)))
}

/// The last lines of a log, after the last one that was printed.
fn unprinted(log: Vec<String>, printed: &[String]) -> Vec<String> {
    let printed: HashSet<&str> = printed.iter().map(|line| message(line)).collect();
    let begin = log.iter().rposition(|line| printed.contains(message(line))).map_or(0, |at| at + 1);
    let begin = begin.max(log.len().saturating_sub(LINES));
    log.into_iter().skip(begin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_was_printed_is_not_shown_again() {
        let log = lines(&["Linux version 6.1.0", "Command line: a=b", "BUG: x"]);
        let printed =
            lines(&["firmware", "[    0.000000] Linux version 6.1.0", "[    0.1] Command line: a=b"]);
        assert_eq!(unprinted(log.clone(), &printed), ["BUG: x"]);
        assert_eq!(unprinted(log.clone(), &printed[..2]), log[1..]);
        assert_eq!(unprinted(log.clone(), &[]), log);
        assert_eq!(unprinted(log.clone(), &log), [""; 0]);
    }

    #[test]
    fn the_end_of_a_long_log_is_shown() {
        let log: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        assert_eq!(unprinted(log.clone(), &[]), log[1000 - LINES..]);
    }
}
