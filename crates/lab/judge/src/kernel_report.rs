//! WARN, BUG, oops and their like in the kernel log.
//!
//! * [`scan`]: the reports in a piece of log, each with a title that is the same on each boot
//! * `openings`: what begins a report, as data; it also says what deliberately does not
//! * `scanner`: where a report begins and ends, and what only follows from an earlier one
//! * `stack`, `helpers`: the function to name
//! * `title`, `clean`: the title, without what changes from boot to boot
//! * `line`, `inside`: one line of the log
//!
//! One defect gives one report. What a defect drags along (the trap behind a message, the panic
//! behind an oops, everything after a panic) belongs to the first report, since the first bad thing
//! is the cause. A report with the kind and title of an earlier one is that one again and is not
//! repeated: stalls come back every few seconds, a WARN in a loop at once.
//!
//! The log is hostile: time is linear in its length, lines, reports and their number are bounded,
//! and no text can make it panic.

mod clean;
mod helpers;
mod inside;
mod line;
mod openings;
mod scanner;
mod stack;
mod title;

use console::message;
use serde::{Deserialize, Serialize};

/// Reports that [`scan`] returns at most.
pub const REPORTS_MAX: usize = 50;
/// Lines that a report keeps at most.
pub const LINES_MAX: usize = 200;
/// Bytes that are read and kept of a line at most.
pub const LINE_BYTES_MAX: usize = 1_000;

/// Lines of a report in which [`is_expected`] looks.
const EXPECTED_IN_LINES: usize = 10;

/// A defect that the kernel reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelReport {
    /// What kind of report it is.
    pub kind: Kind,
    /// What and where, without all that changes from boot to boot: `WARNING in ext4_foo`.
    pub title: String,
    /// All its lines; at most [`LINES_MAX`].
    pub lines: Vec<String>,
}

/// The kinds of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `WARN()` and its like: the kernel met what must not be and goes on.
    Warning,
    /// `kernel BUG at` and other lines that begin with `BUG:`: the kernel gives up what it was doing.
    Bug,
    /// The processor refused: page fault, general protection fault, invalid opcode, double fault ...
    Oops,
    /// `Kernel panic` without an earlier report.
    Panic,
    /// Wrong use of locks or RCU, found by lockdep.
    Lockdep,
    /// Wrong use of memory, found by KASAN.
    Kasan,
    /// Wrong use of memory, found by KFENCE.
    Kfence,
    /// A data race, found by KCSAN.
    Kcsan,
    /// Use of memory that was never written, found by KMSAN.
    Kmsan,
    /// Undefined behaviour of C, found by UBSAN.
    Ubsan,
    /// Memory to which no pointer is left, found by kmemleak.
    Kmemleak,
    /// A task slept for too long.
    HungTask,
    /// RCU waited for too long.
    RcuStall,
    /// A CPU did not schedule for too long.
    SoftLockup,
    /// A CPU took no interrupts for too long.
    HardLockup,
    /// A workqueue did not progress for too long.
    WorkqueueLockup,
    /// An object of the allocator was overwritten or freed wrongly, found by SLUB.
    SlabCorruption,
    /// A linked list was broken.
    ListCorruption,
    /// A timer, work or the like was freed or initialised while in use, found by debugobjects.
    DebugObjects,
    /// An interrupt came and no driver took it.
    UnhandledInterrupt,
    /// A network device that cannot go since somebody keeps a reference.
    NetdevLeak,
}

/// The reports in `lines` of a kernel log, with or without what printk puts before them, in order; at
/// most [`REPORTS_MAX`].
#[must_use]
pub fn scan(lines: &[&str]) -> Vec<KernelReport> {
    let mut scanner = scanner::Scanner::default();
    for line in lines {
        if scanner.is_full() {
            break;
        }
        scanner.feed(message(protocol::results::cut(line, LINE_BYTES_MAX)).trim_end());
    }
    scanner.finish()
}

/// Whether the title or one of the first lines of the report contains one of the texts.
///
/// An empty text expects nothing: else a stray blank in a list would excuse every defect.
#[must_use]
pub fn is_expected(report: &KernelReport, expects: &[&str]) -> bool {
    let within = |text: &str| {
        report.title.contains(text)
            || report.lines.iter().take(EXPECTED_IN_LINES).any(|line| line.contains(text))
    };
    expects.iter().map(|text| text.trim()).any(|text| !text.is_empty() && within(text))
}

#[cfg(test)]
mod tests;
