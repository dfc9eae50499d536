//! What the console says from the start of a boot: no Run has it, and questions about boots are answered there.

use std::time::Duration;

use console::printk;
use protocol::KernelRecord;

/// Lines that are kept, as many as a Run keeps of records: a boot has some 500.
const LINES_MAX: usize = 2000;

/// Lines with the text that are kept.
pub(crate) const FOUND_MAX: usize = 5;

/// Severity of a record whose own is not known, as of printk's without one (`CONFIG_MESSAGE_LOGLEVEL_DEFAULT`).
const LEVEL: u8 = 4;

/// Lines of the console since the start of the machine.
#[derive(Debug, Default)]
pub(crate) struct BootLog {
    records: Vec<KernelRecord>,
    found: Vec<String>,
}

impl BootLog {
    /// Takes a line; it may be the one with the `text` that is looked for.
    pub(crate) fn line(&mut self, line: &str, text: Option<&str>) {
        if self.found.len() < FOUND_MAX && text.is_some_and(|text| line.contains(text)) {
            self.found.push(line.to_string());
        }
        if self.records.len() < LINES_MAX {
            let printk::Line { time, text, .. } = printk::read(line);
            let time = time.unwrap_or_else(|| self.now());
            self.records.push(KernelRecord {
                sequence: self.records.len() as u64,
                time_us: u64::try_from(time.as_micros()).unwrap_or(u64::MAX),
                level: LEVEL,
                text: text.to_string(),
            });
        }
    }

    /// When the last line was written.
    fn now(&self) -> Duration {
        self.records.last().map_or(Duration::ZERO, |record| Duration::from_micros(record.time_us))
    }

    /// All that was emit, and the first lines with the text; the next boot begins anew.
    pub(crate) fn take(&mut self) -> (Vec<KernelRecord>, Vec<String>) {
        let Self { records, found } = std::mem::take(self);
        (records, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_records_and_those_with_the_text_are_reported() {
        let mut log = BootLog::default();
        for line in ["SeaBIOS", "[    0.250000] Linux version 6", "[    1.000001][    T1] eth0: up", "a tail"]
        {
            log.line(line, Some("eth0: up"));
        }
        let (records, found) = log.take();
        let seen: Vec<_> = records.iter().map(|record| (record.time_us, record.text.as_str())).collect();
        let expected =
            [(0, "SeaBIOS"), (250_000, "Linux version 6"), (1_000_001, "eth0: up"), (1_000_001, "a tail")];
        assert_eq!(seen, expected);
        assert_eq!(found, ["[    1.000001][    T1] eth0: up"]);
        assert_eq!(log.take(), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_flood_is_bounded() {
        let mut log = BootLog::default();
        (0..10 * LINES_MAX).for_each(|_| log.line("again", Some("again")));
        let (records, found) = log.take();
        assert_eq!((records.len(), found.len()), (LINES_MAX, FOUND_MAX));
    }
}
