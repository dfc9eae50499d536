//! The reader's side of the memory through which a recording reaches the host: [`protocol::trace::ring`].
//!
//! The guest may write anything there at any time: it is read as a file, within bounds, and never mapped.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protocol::trace::ring::{ALIGNMENT, ANSWERED, ASKED, BLOCKS, Head, Kind, TAKEN, TIME, WRITTEN};
use thiserror::Error;

/// Questions for the time that are answered: a guest could ask for ever.
const ANSWERS_MAX: u32 = 100_000;

/// So soon after an answer the next question may come.
const SOON: Duration = Duration::from_millis(1);

/// Bytes that are read at once, unless a single block has more.
const PIECE: usize = 1 << 20;

/// Why nothing more can be taken.
#[derive(Debug, Error)]
pub enum RingError {
    /// The memory cannot be read or written.
    #[error("the memory of the recording: {0}")]
    Io(#[from] io::Error),
    /// The guest wrote something else there.
    #[error("the recording is damaged: what it wrote is no ring any more")]
    Damaged,
}

/// The memory.
#[derive(Debug)]
pub struct Ring {
    file: File,
    /// Where it begins there.
    begin: u64,
    capacity: u64,
    taken: u64,
    /// The last question for the time that was answered, and how many were.
    answered: u64,
    answers: u32,
    /// Nothing is taken from here on.
    end: Option<u64>,
    piece: Vec<u8>,
}

impl Ring {
    /// So many bytes of a file from a place on. What is left there of an earlier recording is taken first.
    ///
    /// # Errors
    ///
    /// When they are too few, or cannot be read.
    pub fn new(file: File, begin: u64, size: u64) -> Result<Self, RingError> {
        let capacity = size.checked_sub(BLOCKS as u64).ok_or(RingError::Damaged)?;
        let aligned = capacity.is_multiple_of(ALIGNMENT as u64) && capacity > 0;
        aligned.then_some(()).ok_or(RingError::Damaged)?;
        let (taken, answered, answers) = (0, 0, 0);
        let ring = Self { file, begin, capacity, taken, answered, answers, end: None, piece: Vec::new() };
        Ok(Self { taken: ring.number(TAKEN)?, answered: ring.number(ASKED)?, ..ring })
    }

    /// Answers the writer's questions for the time, while they come.
    ///
    /// # Errors
    ///
    /// When the memory cannot be read or written.
    pub(crate) fn answer(&mut self) -> Result<(), RingError> {
        let mut since: Option<Instant> = None;
        while self.answers < ANSWERS_MAX && since.is_none_or(|since| since.elapsed() < SOON) {
            let asked = self.number(ASKED)?;
            if asked != self.answered {
                let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                self.set_number(TIME, u64::try_from(time.as_nanos()).unwrap_or_default())?;
                self.set_number(ANSWERED, asked)?;
                (self.answered, self.answers) = (asked, self.answers + 1);
                since = Some(Instant::now());
            } else if since.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// What is written from now on is not taken: a guest could write for ever.
    pub(crate) fn close(&mut self) {
        if self.end.is_none() {
            // What cannot be read is reported when it is taken.
            self.end = self.number(WRITTEN).ok();
        }
    }

    /// Takes the blocks that are there, at most as many as lie in one piece; gives whether there were any.
    ///
    /// # Errors
    ///
    /// When what is there is no block.
    pub fn take(&mut self, mut take: impl FnMut(Kind, &[u8])) -> Result<bool, RingError> {
        let written = self.end.map_or_else(|| self.number(WRITTEN), Ok)?;
        let there = written.checked_sub(self.taken).filter(|there| *there <= self.capacity);
        let there = there.ok_or(RingError::Damaged)?;
        let place = self.taken % self.capacity;
        let there = usize::try_from(there.min(self.capacity - place)).unwrap_or(usize::MAX);
        if there == 0 {
            return Ok(false);
        }
        self.read(place, there.min(PIECE))?;
        if self.head(0)?.block() > self.piece.len() {
            let block = self.head(0)?.block();
            (block <= there).then_some(()).ok_or(RingError::Damaged)?;
            self.read(place, block)?;
        }
        let mut at = 0;
        while at < self.piece.len() {
            let head = self.head(at)?;
            let Some(bytes) = self.piece.get(at + ALIGNMENT..at + head.block()) else { break };
            take(head.kind, &bytes[..head.length as usize]);
            at += head.block();
        }
        if at == 0 {
            return Err(RingError::Damaged);
        }
        self.taken += at as u64;
        self.set_number(TAKEN, self.taken)?;
        Ok(true)
    }

    fn set_number(&self, place: usize, number: u64) -> io::Result<()> {
        self.file.write_all_at(&number.to_le_bytes(), self.begin + place as u64)
    }

    fn number(&self, place: usize) -> io::Result<u64> {
        let mut number = [0; 8];
        self.file.read_exact_at(&mut number, self.begin + place as u64)?;
        Ok(u64::from_le_bytes(number))
    }

    fn read(&mut self, place: u64, length: usize) -> io::Result<()> {
        self.piece.resize(length, 0);
        self.file.read_exact_at(&mut self.piece, self.begin + BLOCKS as u64 + place)
    }

    /// The head at a place of the piece that was read.
    fn head(&self, at: usize) -> Result<Head, RingError> {
        let bytes = self.piece.get(at..at + ALIGNMENT).and_then(|bytes| bytes.try_into().ok());
        bytes.and_then(Head::read).ok_or(RingError::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPACITY: u64 = 4096;

    const SIZE: u64 = BLOCKS as u64 + CAPACITY;

    fn memory() -> File {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(SIZE).expect("room");
        file
    }

    fn set_written(file: &File, written: u64) {
        file.write_all_at(&written.to_le_bytes(), WRITTEN as u64).expect("writable");
    }

    fn taken(ring: &mut Ring) -> Result<Vec<(Kind, Vec<u8>)>, RingError> {
        let mut blocks = Vec::new();
        while ring.take(|kind, bytes| blocks.push((kind, bytes.to_vec())))? {}
        Ok(blocks)
    }

    #[test]
    fn blocks_are_taken_once_and_around_the_end() {
        let file = memory();
        let mut ring = Ring::new(file.try_clone().expect("a descriptor"), 0, SIZE).expect("a ring");
        assert_eq!(taken(&mut ring).expect("nothing yet"), []);
        let put = |place: u64, kind, bytes: &[u8]| {
            let length = u32::try_from(bytes.len()).expect("short");
            let block = [&Head { kind, length }.to_bytes()[..], bytes].concat();
            file.write_all_at(&block, BLOCKS as u64 + place % CAPACITY).expect("writable");
        };
        put(0, Kind::Entry, b"abc");
        put(32, Kind::Gap, &[0; 4096 - 48]);
        set_written(&file, 4096);
        let found = taken(&mut ring).expect("blocks");
        assert_eq!(found[0], (Kind::Entry, b"abc".to_vec()));
        put(4096, Kind::Page { cpu: 3 }, b"page");
        set_written(&file, 4096 + 32);
        assert_eq!(taken(&mut ring).expect("a block"), [(Kind::Page { cpu: 3 }, b"page".to_vec())]);
    }

    #[test]
    fn a_guest_that_lies_is_found_out() {
        for written in [u64::MAX, CAPACITY + 16, 8] {
            let file = memory();
            set_written(&file, written);
            let mut ring = Ring::new(file, 0, SIZE).expect("a ring");
            assert!(matches!(taken(&mut ring), Err(RingError::Damaged)), "{written}");
        }
        let file = memory();
        let head = Head { kind: Kind::Entry, length: u32::MAX };
        file.write_all_at(&head.to_bytes(), BLOCKS as u64).expect("writable");
        set_written(&file, 64);
        assert!(matches!(taken(&mut Ring::new(file, 0, SIZE).expect("a ring")), Err(RingError::Damaged)));
    }

    #[test]
    fn a_writer_that_asks_for_ever_gets_no_answer_any_more() {
        let memory = memory();
        let mut ring = Ring::new(memory.try_clone().expect("a descriptor"), 0, SIZE).expect("a ring");
        let ask = |number: u64| memory.write_all_at(&number.to_le_bytes(), ASKED as u64).expect("writable");
        for answers in [0, ANSWERS_MAX] {
            ring.answers = answers;
            ask(ring.answered + 7);
            ring.answer().expect("it is there");
            assert_eq!(ring.answered, 7, "{answers}");
        }
    }

    proptest! {
        #[test]
        fn any_memory_has_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..4096), written in 0_u64..5000) {
            let file = memory();
            file.write_all_at(&bytes, BLOCKS as u64).expect("writable");
            set_written(&file, written);
            if let Ok(blocks) = taken(&mut Ring::new(file, 0, SIZE).expect("a ring")) {
                prop_assert!(blocks.len() as u64 * ALIGNMENT as u64 <= written);
            }
        }
    }
}
