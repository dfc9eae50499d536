//! What came on the console, and how the boot ended.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use machine::{BootFailure, Event as MachineEvent, printk};
use protocol::ToAgent;

use crate::ktap::{Reader, Results};
use crate::source::Up;

/// Bytes of the console that are kept; results are read also after that.
const BYTES_MAX: usize = 32 << 20;

/// How long a machine may take to power off, on however slow a host.
const GRACE: Duration = Duration::from_secs(120);

/// How often the user's wish to stop is looked at.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(200);

/// Lines that may come after the hello.
const LINES_AFTER_MAX: usize = 10_000;

/// The console of one boot.
#[derive(Debug, Default)]
pub(super) struct Console {
    pub(super) command_line: Option<String>,
    reader: Reader,
    lines: Vec<String>,
    bytes: usize,
    /// Lines that were not kept.
    pub(super) dropped: u64,
}

/// How the boot ended.
#[derive(Debug)]
pub(super) enum Boot {
    /// The agent said hello.
    Up { release: String, took: Duration },
    /// The kernel did not come so far.
    Failed(BootFailure),
    /// The host could not start it.
    Never,
}

impl Console {
    pub(super) fn push(&mut self, line: &str) {
        self.reader.line(line);
        self.bytes += line.len() + size_of::<String>();
        if self.bytes <= BYTES_MAX {
            self.lines.push(line.to_string());
        } else {
            self.dropped += 1;
        }
    }

    /// The machine is up and not needed any more. The hello came by another way than the console, whose
    /// last lines are sure to be there only when the machine has ended.
    pub(super) fn settle(&mut self, up: Up, interrupt: &AtomicBool) -> Boot {
        let Up { mut machine, release, took } = up;
        machine.tell(&ToAgent::PowerOff);
        let deadline = Instant::now() + GRACE;
        for _ in 0..LINES_AFTER_MAX {
            if self.reader.is_complete() || interrupt.load(Ordering::Relaxed) || Instant::now() >= deadline {
                break;
            }
            match machine.next(deadline.min(Instant::now() + INTERRUPT_INTERVAL)) {
                MachineEvent::Console(line) => self.push(&line),
                MachineEvent::Agent(_)
                | MachineEvent::Stranger(_)
                | MachineEvent::Stopped
                | MachineEvent::Quiet => {}
                MachineEvent::Ended(_) => break,
            }
        }
        Boot::Up { release, took }
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
    pub(super) fn lines(&self, range: Range<u64>) -> impl Iterator<Item = &str> {
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
