//! What came on the console, and how the boot ended.

use std::ops::Range;
use std::time::Duration;

use console::{BootFailure, printk};

use crate::ktap::{Reader, Results};

/// Bytes of the console that are kept; results are read also after that.
const BYTES_MAX: usize = 32 << 20;

/// The console of one boot.
#[derive(Debug, Default)]
pub struct Console {
    reader: Reader,
    lines: Vec<String>,
    bytes: usize,
    /// Lines that were not kept.
    pub(super) dropped: u64,
}

/// How the boot ended.
#[derive(Debug)]
pub enum Boot {
    /// The agent said hello.
    Up {
        /// `uname -r`.
        release: String,
        /// From the start of the machine's program to the hello.
        took: Duration,
    },
    /// The kernel did not come so far.
    Failed(BootFailure),
    /// The host could not start it.
    Never,
}

impl Console {
    /// Takes the next line.
    pub fn push(&mut self, line: &str) {
        self.reader.line(line);
        self.bytes += line.len() + size_of::<String>();
        if self.bytes <= BYTES_MAX {
            self.lines.push(line.to_string());
        } else {
            self.dropped += 1;
        }
    }

    /// Whether all results that were planned are there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.reader.is_complete()
    }

    /// Lines up to now.
    pub(super) fn count(&self) -> u64 {
        self.reader.lines()
    }

    /// The results; nothing can be added after that.
    pub(super) fn results(&mut self) -> Results {
        std::mem::take(&mut self.reader).finish()
    }

    /// The lines with these numbers, as far as they were kept.
    pub fn lines(&self, range: Range<u64>) -> impl Iterator<Item = &str> {
        let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).min(self.lines.len());
        let (start, end) = (at(range.start), at(range.end));
        self.lines[start.min(end)..end].iter().map(String::as_str)
    }

    /// From the last line before `range` to its last line, by the kernel's clock.
    pub(super) fn duration(&self, range: &Range<u64>) -> Duration {
        let last = |range: Range<u64>| self.lines(range).filter_map(|line| printk::read(line).time).last();
        let start = last(range.start.saturating_sub(1)..range.start);
        let span = start.zip(last(range.clone())).map(|(start, end)| end.saturating_sub(start));
        span.unwrap_or_default()
    }
}
