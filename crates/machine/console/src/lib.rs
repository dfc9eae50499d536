//! What a machine shows of itself: the lines of its console, and how it comes to its end.
//!
//! * [`Console`]: takes the lines apart and remembers the last words of the kernel
//! * [`printk`]: what stands before the text of a line
//! * [`Death`], [`BootFailure`]: how a machine, or a boot of it, comes to its end

mod end;
pub mod printk;

use std::collections::VecDeque;

use protocol::results::cut;

pub use end::{BootFailure, BootTrouble, CONSOLE_OPTIONS, ConsoleSupport, Death, Facts, PORT_OPTION};

/// Longest line that is kept, in bytes; the rest is cut off.
const LINE_MAX: usize = 2048;

/// Lines that are kept for whoever wants to see the last ones.
const TAIL: usize = 100;

/// Takes the console's bytes apart and remembers what matters about the end.
#[derive(Debug, Default, Clone)]
pub struct Console {
    part: Vec<u8>,
    tail: VecDeque<String>,
    lines: u64,
    panic: Option<String>,
    finished_panic: bool,
    last_order: Option<Order>,
}

/// The last thing that the kernel said it was doing with the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Restart,
    PowerOff,
    Halt,
}

impl Console {
    /// Takes `bytes` and gives the lines that they completed.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for &byte in bytes {
            match byte {
                b'\n' => lines.push(self.end_line()),
                _ if self.part.len() < LINE_MAX => self.part.push(byte),
                _ => {}
            }
        }
        lines
    }

    /// What stands after the last line end, as a line.
    pub fn finish(&mut self) -> Option<String> {
        (!self.part.is_empty()).then(|| self.end_line())
    }

    fn end_line(&mut self) -> String {
        let line = printable(&std::mem::take(&mut self.part));
        self.lines += 1;
        self.notice(&line);
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line.clone());
        line
    }

    fn notice(&mut self, line: &str) {
        let text = message(line);
        if let Some(title) = text.strip_prefix("Kernel panic - not syncing: ") {
            self.panic.get_or_insert_with(|| title.to_string());
        }
        self.finished_panic |= text.starts_with("---[ end Kernel panic");
        self.last_order = match text {
            "reboot: Restarting system" | "sysrq: Resetting" => Some(Order::Restart),
            "reboot: Power down" => Some(Order::PowerOff),
            "reboot: System halted" => Some(Order::Halt),
            _ if text.starts_with("reboot: Restarting system with command") => Some(Order::Restart),
            _ => self.last_order,
        };
    }

    /// The machine is at its end although its program still runs: it halts, or has panicked and stays so.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.finished_panic || self.last_order == Some(Order::Halt)
    }

    /// Why the machine ended, as far as the kernel said it.
    #[must_use]
    pub fn last_words(&self) -> Option<Death> {
        match (&self.panic, self.last_order) {
            (Some(title), _) if title.starts_with("Attempted to kill init!") => {
                Some(Death::AgentDied(title.clone()))
            }
            (Some(title), _) => Some(Death::Panic(title.clone())),
            (None, Some(Order::Restart)) => Some(Death::Restarted),
            (None, Some(Order::PowerOff | Order::Halt)) => Some(Death::PoweredOff),
            (None, None) => None,
        }
    }

    /// Lines up to now.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The last lines, at most `count`.
    #[must_use]
    pub fn tail(&self, count: usize) -> Vec<String> {
        self.tail.iter().skip(self.tail.len().saturating_sub(count)).cloned().collect()
    }
}

/// The text of a console line after what printk puts before it.
#[must_use]
pub fn message(line: &str) -> &str {
    printk::read(line).text
}

/// Bytes from a stranger as text that does no harm on a terminal.
#[must_use]
pub fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end_matches('\r');
    cut(text, LINE_MAX).chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn console(text: &str) -> Console {
        let mut console = Console::default();
        console.feed(text.as_bytes());
        console
    }

    #[test]
    fn a_panic_is_the_last_word_also_when_the_machine_restarts_after_it() {
        let console = console(
            "[    1.5] Kernel panic - not syncing: sysrq triggered crash\r\n[    1.6] reboot: Restarting system\n",
        );
        assert_eq!(console.last_words(), Some(Death::Panic("sysrq triggered crash".into())));
    }

    #[test]
    fn the_death_of_process_1_is_not_the_kernels() {
        let console =
            console("[ 2.0] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\n");
        assert!(matches!(console.last_words(), Some(Death::AgentDied(_))));
    }

    #[test]
    fn a_panic_that_a_program_prints_in_the_middle_of_a_line_is_none() {
        let console = console("echo Kernel panic - not syncing: no\n");
        assert_eq!(console.last_words(), None);
    }

    #[test]
    fn a_halted_machine_is_over() {
        assert!(console("[ 9.1] reboot: System halted\n").is_over());
        assert!(!console("[ 9.1] reboot: System halt").is_over());
    }

    #[test]
    fn escape_sequences_are_made_harmless() {
        assert_eq!(printable(b"\x1b[31mred\x07\r"), "\u{fffd}[31mred\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_bounded(bytes: Vec<u8>, piece in 1usize..50) {
            let mut console = Console::default();
            let mut lines: Vec<String> = bytes.chunks(piece).flat_map(|c| console.feed(c)).collect();
            lines.extend(console.finish());
            prop_assert_eq!(lines.len() as u64, console.lines());
            prop_assert!(console.tail(TAIL).len() <= TAIL);
            prop_assert!(lines.iter().all(|line| line.chars().all(|c| c == '\t' || !c.is_control())));
        }
    }
}
