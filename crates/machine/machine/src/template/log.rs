//! The log of a kernel in the memory of its machine: what it would have printed if it had a console.
//!
//! Since 5.10 the texts stand in a ring of blocks, each of a number and a text, in whole words: see
//! kernel/printk/printk_ringbuffer.c. The numbers follow each other, so that a log is told from any other text without a
//! symbol and wherever the kernel lies. All of it may be made up, as what a kernel prints may be.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::memory::{Memory, parts};

/// How the first text of every log begins: `linux_banner` of init/version.c.
const FIRST: &[u8] = b"Linux version ";

/// Bytes that are looked at at once, and those behind them that a log may go on in.
const CHUNK: usize = 1 << 20;
const LOG_MAX: usize = 256 << 10;

/// A word of the kernel.
const WORD: usize = 8;

/// Longest text in bytes, `LOG_LINE_MAX` and its prefix; most texts.
const TEXT_MAX: usize = 1024 + 64;
const TEXTS_MAX: usize = 2000;

/// Most texts in a chunk that begin like a log; a kernel has a few.
const FIRST_MAX: usize = 100;

/// The bits of a number: `DESC_ID_MASK`.
const NUMBER: u64 = u64::MAX >> 2;

/// The texts of the log, the first first; none if there is no log, or this host cannot read it. It takes as long as reading
/// all of the memory, unless `interrupt` is set.
pub(crate) fn kernel_log(memory: &Memory, interrupt: &AtomicBool) -> Vec<String> {
    let logs = memory.files().iter().map(|file| read(file, interrupt).unwrap_or_default());
    logs.max_by_key(Vec::len).unwrap_or_default()
}

fn read(memory: &File, interrupt: &AtomicBool) -> io::Result<Vec<String>> {
    let mut bytes = vec![0; CHUNK + LOG_MAX];
    let mut longest = Vec::new();
    for part in parts(memory) {
        let (mut at, end) = part?;
        while at < end && !interrupt.load(Ordering::Relaxed) {
            // A log does not go on in memory that was never written.
            let length = bytes.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
            let count = memory.read_at(&mut bytes[..length], at)?;
            // A kernel that moves its log to a larger buffer leaves what it had before.
            longest = find(&bytes[..count]).filter(|texts| texts.len() > longest.len()).unwrap_or(longest);
            at += CHUNK as u64;
        }
    }
    Ok(longest)
}

/// The longest log that begins in these bytes, if one does.
fn find(bytes: &[u8]) -> Option<Vec<String>> {
    let words = (WORD..bytes.len().min(CHUNK + WORD)).step_by(WORD);
    let first = words.filter(|&at| bytes[at..].starts_with(FIRST)).take(FIRST_MAX);
    // The banner alone also stands among the kernel's constants.
    first.map(|at| texts(bytes, at - WORD)).filter(|texts| texts.len() > 1).max_by_key(Vec::len)
}

/// The texts of the blocks from `at` on.
fn texts(bytes: &[u8], mut at: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some(number) = word(bytes, at).filter(|_| texts.len() < TEXTS_MAX) {
        let start = at + WORD;
        let limit = bytes.len().min(start + TEXT_MAX);
        let mut ends = (start + WORD..limit).step_by(WORD);
        let next = ends.find(|&end| word(bytes, end) == Some(number.wrapping_add(1) & NUMBER));
        // Behind the last text there is nothing yet.
        let end = next.or_else(|| (start..limit).find(|&end| bytes[end] == 0));
        let Some(end) = end.filter(|&end| end > start) else { break };
        texts.push(text(&bytes[start..end]));
        let Some(next) = next else { break };
        at = next;
    }
    texts
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + WORD)?.try_into().ok().map(u64::from_le_bytes)
}

/// Without what fills the last word, and what printk leaves behind a text.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(without_rest(&bytes[..end])).into_owned()
}

/// `printk_sprint()` of kernel/printk/printk.c writes a text with its level and its line end, and moves it over the level. So
/// its last two characters stand there twice. Before 5.11 the line end is never there.
fn without_rest(text: &[u8]) -> &[u8] {
    // Of `pr_cont("\n")` only the level is left: `KERN_SOH` and a letter.
    let text = text.split(|&byte| byte == 1).next().unwrap_or_default();
    match text {
        [.., a, b, c, d, b'\n'] if (a, b) == (c, d) => &text[..text.len() - 3],
        [line @ .., b'\n'] => line,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn blocks(texts: &[&str]) -> Vec<u8> {
        // `DESC0_ID`, just before the numbers begin anew.
        let first = NUMBER - 1;
        let mut bytes = Vec::new();
        for (number, text) in (first..).zip(texts) {
            bytes.extend((number & NUMBER).to_le_bytes());
            bytes.extend(text.as_bytes());
            bytes.resize(bytes.len().next_multiple_of(WORD), 0);
        }
        bytes
    }

    fn memory(at: u64, bytes: &[u8]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(64 << 20).unwrap();
        file.write_all_at(bytes, at).unwrap();
        file
    }

    #[test]
    fn the_texts_are_found_wherever_the_log_lies() {
        let texts = ["Linux version 6.1.0 (x@y)", "Command line: a=b", "12345678"];
        let log = blocks(&texts);
        for at in [0, 8, (1 << 20) - 16, (1 << 20) - 8, 1 << 20, (33 << 20) + 4096] {
            assert_eq!(read(&memory(at, &log), &NEVER).unwrap(), texts, "at {at}");
        }
        assert_eq!(read(&memory(4, &log), &NEVER).unwrap(), [""; 0], "a block stands in whole words");
    }

    #[test]
    fn the_log_is_found_in_the_memory_of_any_node() {
        let memory = Memory::new(&[64, 64]).unwrap();
        memory.files()[1].write_all_at(&blocks(&["Linux version 6.1.0", "next"]), 4096).unwrap();
        assert_eq!(kernel_log(&memory, &NEVER), ["Linux version 6.1.0", "next"]);
        assert_eq!(kernel_log(&Memory::new(&[1, 1]).unwrap(), &NEVER), [""; 0]);
    }

    #[test]
    fn of_two_logs_it_is_the_one_that_goes_on() {
        let (before, after) =
            (blocks(&["Linux version 6.1.0", "a"]), blocks(&["Linux version 6.1.0", "a", "b"]));
        for (first, second) in [(&before, &after), (&after, &before)] {
            let memory = memory(4096, first);
            memory.write_all_at(second, 9 << 20).unwrap();
            assert_eq!(read(&memory, &NEVER).unwrap(), ["Linux version 6.1.0", "a", "b"]);
        }
        let interrupt = AtomicBool::new(true);
        assert_eq!(read(&memory(4096, &after), &interrupt).unwrap(), [""; 0]);
    }

    #[test]
    fn the_banner_alone_is_no_log() {
        let banner = b"\x01\x02\x03\x04\x05\x06\x07\x08Linux version 6.1.0 (x@y)\n\0";
        assert_eq!(read(&memory(4096, banner), &NEVER).unwrap(), [""; 0]);
        let mut both = banner.to_vec();
        both.resize(both.len().next_multiple_of(WORD), 0);
        both.extend(blocks(&["Linux version 6.1.0", "next"]));
        assert_eq!(find(&both).unwrap_or_default(), ["Linux version 6.1.0", "next"]);
    }

    #[test]
    fn what_printk_leaves_behind_a_text_is_no_part_of_it() {
        let log = blocks(&[
            "Linux version 6.1.0x)x)\n",
            "of size 204658484\n",
            "no level\n",
            "usable\x01c\n",
            "of 5.10: 0x00000000",
        ]);
        let texts = find(&log).unwrap_or_default();
        assert_eq!(
            texts,
            ["Linux version 6.1.0x)", "of size 2046584", "no level", "usable", "of 5.10: 0x00000000"]
        );
    }

    proptest! {
        #[test]
        fn any_memory_is_read(mut bytes: Vec<u8>, at in 0..64_usize, number: u64, next: u8) {
            let mut log = [&number.to_le_bytes(), FIRST, b"x\0"].concat();
            log.extend(number.wrapping_add(u64::from(next)).to_le_bytes());
            bytes.splice(at.min(bytes.len()).., log);
            let texts = find(&bytes).unwrap_or_default();
            prop_assert!(texts.len() <= TEXTS_MAX && texts.iter().all(|text| text.len() <= 3 * TEXT_MAX));
        }
    }
}
