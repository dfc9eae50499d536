//! Pages of a ring buffer as `trace_pipe_raw` gives them: `kernel/trace/ring_buffer.c`, Documentation/trace/ring-buffer-design.rst.
//!
//! A page begins with the time of its first record and with the number of bytes that are in use. Each record has a word of
//! 32 bits, of which 5 tell its kind or length and 27 the time since the record before.

use thiserror::Error;

use crate::layout::Layout;

/// In the number of bytes in use: records between this page and the one before were overwritten.
const MISSED: u64 = 1 << 31;

/// And how many is stored behind the last record.
const MISSED_STORED: u64 = 1 << 30;

/// The other bits of it are the number.
const COMMIT: u64 = (1 << 20) - 1;

/// Kinds of records that are no data, by the five bits of their length; smaller values are a quarter of the bytes, and 0 stands for a
/// word with the length.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// Bits of the time in the word before a record.
const DELTA_BITS: u32 = 27;

/// An absolute time has so few bits; those above are as before.
const ABSOLUTE_BITS: u32 = DELTA_BITS + 32;

/// A word.
const WORD: usize = 4;

/// Records that the kernel has dropped before a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lost {
    /// None.
    #[default]
    Nothing,
    /// So many.
    Records(u64),
    /// Some: the page had no room for their number.
    Some,
}

/// What is wrong with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WrongPage {
    /// It is shorter than its head.
    #[error("a page of {0} bytes is shorter than its head")]
    Short(usize),
    /// It promises more than there is.
    #[error("a page promises {promised} bytes and has {there}")]
    Promise {
        /// Bytes in use, as it says.
        promised: u64,
        /// Bytes that there are.
        there: usize,
    },
    /// A record reaches beyond the last byte in use.
    #[error("the record at byte {0} of a page reaches beyond its end")]
    Record(usize),
}

/// A page with its records.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The time from which the first record counts, in the units of the trace clock.
    pub begin: u64,
    /// What was lost before it.
    pub lost: Lost,
    data: &'a [u8],
}

/// A record of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// When it was written, in the units of the trace clock.
    pub time: u64,
    /// Its fields, with those that all events have.
    pub data: &'a [u8],
}

/// The records of a page in their order. It ends behind the first that is wrong.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    time: u64,
    data: &'a [u8],
    at: usize,
}

impl<'a> Page<'a> {
    /// Reads the head of a page.
    ///
    /// # Errors
    ///
    /// When it promises more than there is.
    pub fn read(layout: Layout, bytes: &'a [u8]) -> Result<Self, WrongPage> {
        let (head, data) = bytes.split_at_checked(layout.data).ok_or(WrongPage::Short(bytes.len()))?;
        let commit = number(&head[layout.commit..layout.commit + layout.long]);
        let promised = commit & COMMIT;
        let used = usize::try_from(promised).ok().and_then(|used| data.split_at_checked(used));
        let (data, behind) = used.ok_or(WrongPage::Promise { promised, there: data.len() })?;
        let lost = match (commit & MISSED != 0, commit & MISSED_STORED != 0) {
            (false, _) => Lost::Nothing,
            (true, true) if behind.len() >= layout.long => Lost::Records(number(&behind[..layout.long])),
            (true, _) => Lost::Some,
        };
        Ok(Self { begin: number(&head[..size_of::<u64>()]), lost, data })
    }

    /// Its records.
    #[must_use]
    pub fn records(&self) -> Records<'a> {
        Records { time: self.begin, data: self.data, at: 0 }
    }
}

impl<'a> Records<'a> {
    /// The next word and what follows it.
    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.data.get(at..at.checked_add(WORD)?)?;
        bytes.try_into().ok().map(u32::from_le_bytes)
    }

    /// The length that stands in the word behind that of a record: it counts itself.
    fn long(&self) -> Option<usize> {
        self.word(self.at + WORD)
            .and_then(|length| usize::try_from(length).ok())
            .filter(|length| *length >= WORD)
    }

    fn step(&mut self) -> Option<Option<Record<'a>>> {
        let head = self.word(self.at)?;
        let (kind, delta) = (head & 31, u64::from(head >> 5));
        let (begin, length) = match kind {
            PADDING if delta == 0 => {
                // What is behind it was never used.
                self.at = self.data.len();
                return Some(None);
            }
            TIME_EXTEND | TIME_STAMP => {
                let more = u64::from(self.word(self.at + WORD)?) << DELTA_BITS | delta;
                self.time = if kind == TIME_EXTEND {
                    self.time.wrapping_add(more)
                } else {
                    absolute(self.time, more)
                };
                self.at += 2 * WORD;
                return Some(None);
            }
            PADDING | 0 => (self.at + 2 * WORD, self.long()? - WORD),
            quarter => (self.at + WORD, quarter as usize * WORD),
        };
        self.time = self.time.wrapping_add(delta);
        let data = self.data.get(begin..begin.checked_add(length)?)?;
        // The next begins at a whole word.
        self.at = begin + length.next_multiple_of(WORD);
        Some((kind != PADDING).then_some(Record { time: self.time, data }))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, WrongPage>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.data.len() {
            match self.step() {
                Some(Some(record)) => return Some(Ok(record)),
                Some(None) => {}
                None => {
                    let at = std::mem::replace(&mut self.at, self.data.len());
                    return Some(Err(WrongPage::Record(at)));
                }
            }
        }
        None
    }
}

/// An absolute time of 59 bits in one of 64, which does not go back.
fn absolute(before: u64, low: u64) -> u64 {
    let time = before & !((1 << ABSOLUTE_BITS) - 1) | low;
    if time < before { time.wrapping_add(1 << ABSOLUTE_BITS) } else { time }
}

/// A number of up to eight bytes, little endian.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
