//! The page in which a case counts its results.
//!
//! The page is shared memory. Every process of a case can reach it, also after fork and exec:
//! `KILN_RESULTS` names the file and `KILN_RESULTS_FD` the inherited descriptor. Counting is one
//! atomic addition, so no result is lost on its way up a chain of calls, and a process that is
//! killed right after a report has still reported.
//!
//! Everything here may have been written by a stranger: readers check every length.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::message::{Counts, Report, ReportKind};

mod checkpoint;

pub use checkpoint::{CHECKPOINTS, Checkpoints};

/// Environment variable with the path of the page.
pub const PATH_VARIABLE: &str = "KILN_RESULTS";
/// Environment variable with the descriptor of the page, for a case that changed its root.
pub const DESCRIPTOR_VARIABLE: &str = "KILN_RESULTS_FD";

const MAGIC: u32 = 0x4e4c_494b;
const SLOTS: usize = 255;
const TEXT: usize = 248;

/// Size of the shared memory in bytes.
pub const PAGE_SIZE: usize = size_of::<Page>();

/// The shared memory: counters, checkpoints, and a slot of text for each of the first results.
#[repr(C)]
#[derive(Debug)]
pub struct Page {
    magic: AtomicU32,
    counters: [AtomicU32; 4],
    taken: AtomicU32,
    checkpoints: Checkpoints,
    slots: [Slot; SLOTS],
}

#[repr(C)]
#[derive(Debug)]
struct Slot {
    /// Kind plus one; 0 while the text is being written.
    kind: AtomicU32,
    length: AtomicU32,
    text: [AtomicU32; TEXT / 4],
}

impl Page {
    /// The page at the start of `memory`.
    ///
    /// # Safety
    ///
    /// `memory` must point to [`PAGE_SIZE`] bytes of mapped, writable, page-aligned memory that stays
    /// mapped for `'a` and that others change only atomically.
    #[must_use]
    pub unsafe fn at<'a>(memory: *mut u8) -> &'a Page {
        // SAFETY: by the contract above; every bit pattern is a valid Page.
        unsafe { &*memory.cast::<Page>() }
    }

    /// Makes a page of zeroes a results page.
    pub fn prepare(&self) {
        self.magic.store(MAGIC, Ordering::Release);
    }

    /// Whether this is a results page at all.
    #[must_use]
    pub fn is_prepared(&self) -> bool {
        self.magic.load(Ordering::Acquire) == MAGIC
    }

    /// Counts a result and keeps its text if there is one and room for it.
    pub fn report(&self, kind: ReportKind, text: &str) {
        self.counters[kind as usize].fetch_add(1, Ordering::AcqRel);
        if text.is_empty() && kind == ReportKind::Pass {
            return;
        }
        let taken = self.taken.fetch_add(1, Ordering::AcqRel) as usize;
        if let Some(slot) = self.slots.get(taken) {
            slot.write(kind, text);
        }
    }

    /// The counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let count = |kind: ReportKind| self.counters[kind as usize].load(Ordering::Acquire);
        Counts {
            pass: count(ReportKind::Pass),
            fail: count(ReportKind::Fail),
            skip: count(ReportKind::Skip),
            broken: count(ReportKind::Broken),
        }
    }

    /// Where processes of the case wait for each other.
    #[must_use]
    pub fn checkpoints(&self) -> &Checkpoints {
        &self.checkpoints
    }

    /// The results with their texts from number `first` on, as far as they are complete.
    #[must_use]
    pub fn reports_from(&self, first: usize) -> Vec<Report> {
        let slots = self.slots.get(first..).unwrap_or_default();
        slots.iter().map_while(Slot::read).collect()
    }
}

impl Slot {
    fn write(&self, kind: ReportKind, text: &str) {
        let text = cut(text, TEXT).as_bytes();
        for (word, bytes) in self.text.iter().zip(text.chunks(4)) {
            let mut value = [0; 4];
            value[..bytes.len()].copy_from_slice(bytes);
            word.store(u32::from_le_bytes(value), Ordering::Relaxed);
        }
        self.length.store(u32::try_from(text.len()).unwrap_or(0), Ordering::Relaxed);
        self.kind.store(kind as u32 + 1, Ordering::Release);
    }

    fn read(&self) -> Option<Report> {
        let kind = match self.kind.load(Ordering::Acquire) {
            1 => ReportKind::Pass,
            2 => ReportKind::Fail,
            3 => ReportKind::Skip,
            4 => ReportKind::Broken,
            _ => return None,
        };
        let length = (self.length.load(Ordering::Relaxed) as usize).min(TEXT);
        let bytes: Vec<u8> =
            self.text.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        Some(Report { kind, text: String::from_utf8_lossy(&bytes[..length]).into_owned() })
    }
}

/// The longest prefix of `text` that has at most `limit` bytes and ends between characters.
#[must_use]
pub fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A page in ordinary memory.
    struct Memory(Vec<u64>);

    impl Memory {
        fn new() -> Self {
            Memory(vec![0; PAGE_SIZE.div_ceil(8)])
        }

        fn page(&mut self) -> &Page {
            // SAFETY: the vector has PAGE_SIZE aligned bytes and lives as long as the reference.
            unsafe { Page::at(self.0.as_mut_ptr().cast()) }
        }
    }

    #[test]
    fn results_are_counted_and_kept_in_order() {
        let mut memory = Memory::new();
        let page = memory.page();
        page.prepare();
        page.report(ReportKind::Pass, "first");
        page.report(ReportKind::Fail, "second");
        assert_eq!(page.counts(), Counts { pass: 1, fail: 1, ..Counts::default() });
        assert_eq!(page.reports_from(1), [Report { kind: ReportKind::Fail, text: "second".into() }]);
    }

    #[test]
    fn results_beyond_the_slots_are_still_counted() {
        let mut memory = Memory::new();
        let page = memory.page();
        for _ in 0..1000 {
            page.report(ReportKind::Pass, &"long ".repeat(100));
        }
        assert_eq!(page.counts().pass, 1000);
        assert_eq!(page.reports_from(0).len(), SLOTS);
    }

    #[test]
    fn eight_threads_lose_nothing() {
        let mut memory = Memory::new();
        let page = memory.page();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..1000).for_each(|_| page.report(ReportKind::Pass, "same")));
            }
        });
        assert_eq!(page.counts().pass, 8000);
    }

    proptest! {
        #[test]
        fn a_page_of_any_bytes_is_read_without_panic(mut words in proptest::collection::vec(any::<u64>(), 600)) {
            words.resize(PAGE_SIZE.div_ceil(8), 3);
            let mut memory = Memory(words);
            let page = memory.page();
            prop_assert!(page.reports_from(0).len() <= SLOTS);
            prop_assert!(page.reports_from(usize::MAX).is_empty());
        }

        #[test]
        fn text_is_cut_between_characters(text: String) {
            let mut memory = Memory::new();
            let page = memory.page();
            page.report(ReportKind::Skip, &text);
            prop_assert_eq!(&page.reports_from(0)[0].text, cut(&text, TEXT));
        }
    }
}
