//! Back traces of a kernel that stopped answering, which it prints itself when it is provoked.

use std::io::Write;
use std::time::{Duration, Instant};

use super::Vmm;
use crate::Event;

/// What is done to a kernel that stopped answering, most of it to make it print back traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provocation {
    /// A break on the console's serial port. With the letter that follows it is a SysRq, which a kernel
    /// obeys that still takes interrupts.
    Break,
    /// An interrupt that cannot be masked. The kernel prints what it hit and panics.
    Nmi,
    /// Stops the machine for good.
    Stop,
}

/// Letters of Documentation/admin-guide/sysrq.rst: what the CPUs do, and which tasks are blocked.
const LETTERS: [u8; 2] = [b'l', b'w'];

/// Most lines that are kept.
const LINES_MAX: usize = 200;

/// A kernel that says nothing for this long has said all.
const LULL: Duration = Duration::from_secs(2);

/// How long it may talk after each provocation.
const WAIT: Duration = Duration::from_secs(10);

impl Vmm {
    /// The back traces, after a line that says how they came about.
    pub(super) fn traces(&mut self) -> Vec<String> {
        let by_sysrq: Vec<String> = LETTERS.iter().flat_map(|&letter| self.sysrq(letter)).collect();
        if !by_sysrq.is_empty() {
            return titled("printed on SysRq, after kiln gave up on the kernel:", by_sysrq);
        }
        if !self.driver.provoke(Provocation::Nmi) {
            return Vec::new();
        }
        titled("printed at an NMI that kiln sent after it gave up on the kernel:", self.new_lines())
    }

    fn sysrq(&mut self, letter: u8) -> Vec<String> {
        let sent = self.driver.provoke(Provocation::Break) && self.console_input.write_all(&[letter]).is_ok();
        if sent { self.new_lines() } else { Vec::new() }
    }

    /// What the kernel says from now on.
    fn new_lines(&mut self) -> Vec<String> {
        let (mut lines, end) = (Vec::new(), Instant::now() + WAIT);
        while Instant::now() < end && self.wait(end.min(Instant::now() + LULL)) {
            for event in std::mem::take(&mut self.queue) {
                match event {
                    Event::Console(line) => lines.push(line),
                    Event::Ended(_) => return lines,
                    Event::Agent(_)
                    | Event::Stranger(_)
                    | Event::Stopped
                    | Event::Hazard(_)
                    | Event::Quiet => {}
                }
            }
        }
        lines
    }
}

fn titled(title: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    [title.to_string()].into_iter().chain(lines).take(LINES_MAX + 1).collect()
}
