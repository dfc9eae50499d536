//! The writer's side of the memory through which a recording reaches the host: [`protocol::trace::ring`].

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use protocol::trace::ring::{ALIGNMENT, ANSWERED, ASKED, BLOCKS, Head, Kind, TAKEN, TIME, WRITTEN};
use protocol::trace::{Alignment, Entry};
use rustix::fd::AsFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::time::ClockId;

use crate::clock::nanoseconds;

/// If the reader takes nothing for so long, there is none any more.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Between two looks whether the reader has taken something.
const PAUSE: Duration = Duration::from_millis(1);

/// The reader is asked for its clock for so long, unless an answer came within [`GOOD`]: the quickest one counts. On a host with more to
/// do than it has CPUs, most answers are late.
const ASKING: Duration = Duration::from_millis(250);

/// An answer that is quick enough, in nanoseconds from the middle of the time that it took.
const GOOD: u64 = 5_000;

/// How long an answer may take: the reader may have no CPU for a while.
const ANSWER: Duration = Duration::from_secs(1);

/// The memory, mapped as long as this lives. Full, it has the writer wait for the reader.
#[derive(Debug)]
pub struct Ring {
    memory: *mut u8,
    length: usize,
    /// Bytes that have been written.
    written: u64,
}

impl Ring {
    /// Maps so many bytes of the file at a path, from a place on. What was written there before is still to be read.
    ///
    /// # Errors
    ///
    /// As open(2) and mmap(2) say.
    pub fn open(path: &Path, place: usize, length: usize) -> Result<Self, Errno> {
        let file = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        Self::map(file, place as u64, length)
    }

    /// The same of an open file.
    ///
    /// # Errors
    ///
    /// As mmap(2) says.
    pub fn map(file: impl AsFd, place: u64, length: usize) -> Result<Self, Errno> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        if length < BLOCKS + ALIGNMENT || !length.is_multiple_of(ALIGNMENT) {
            return Err(Errno::INVAL);
        }
        // SAFETY: a new mapping at an address that the kernel chooses; it is unmapped when this is dropped.
        let memory = unsafe { mmap(std::ptr::null_mut(), length, access, MapFlags::SHARED, file, place)? };
        // What is recorded shall not pay for it with a fork.
        // SAFETY: the range was just mapped; children do not touch it.
        unsafe { madvise(memory, length, Advice::LinuxDontFork)? };
        let mut ring = Self { memory: memory.cast(), length, written: 0 };
        ring.written = ring.number(WRITTEN).load(Ordering::Relaxed);
        Ok(ring)
    }

    /// Writes an entry.
    ///
    /// # Errors
    ///
    /// When nobody reads any more.
    pub fn entry(&mut self, entry: &Entry) -> Result<(), Errno> {
        let bytes = entry.encode().map_err(|_| Errno::MSGSIZE)?;
        self.block(Kind::Entry, bytes.len(), |block| {
            block.copy_from_slice(&bytes);
            Ok(bytes.len())
        })?;
        Ok(())
    }

    /// Writes a block of at most `size` bytes, which `fill` puts there; gives how many those were. If there are none, there is no
    /// block.
    ///
    /// # Errors
    ///
    /// When nobody reads any more, and what `fill` gives.
    pub fn block(
        &mut self,
        kind: Kind,
        size: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        let length = u32::try_from(size).map_err(|_| Errno::MSGSIZE)?;
        let place = self.room(Head { kind, length }.block())?;
        let filled = fill(self.bytes(place + ALIGNMENT, size))?;
        if filled > 0 {
            let length = u32::try_from(filled.min(size)).map_err(|_| Errno::MSGSIZE)?;
            self.commit(place, Head { kind, length });
        }
        Ok(filled)
    }

    /// The clock of the reader; nothing if it does not answer.
    #[must_use]
    pub fn align(&self) -> Option<Alignment> {
        let (since, mut best) = (Instant::now(), self.ask()?);
        while best.error_ns > GOOD && since.elapsed() < ASKING {
            best = self.ask().filter(|found| found.error_ns < best.error_ns).unwrap_or(best);
        }
        Some(best)
    }

    fn ask(&self) -> Option<Alignment> {
        let number = self.number(ASKED).load(Ordering::Relaxed).wrapping_add(1);
        let (since, before) = (Instant::now(), nanoseconds(ClockId::Monotonic));
        self.number(ASKED).store(number, Ordering::Release);
        while self.number(ANSWERED).load(Ordering::Acquire) != number {
            if since.elapsed() > ANSWER {
                return None;
            }
            std::thread::yield_now();
        }
        let realtime_ns = self.number(TIME).load(Ordering::Relaxed);
        let error_ns = nanoseconds(ClockId::Monotonic).saturating_sub(before).div_ceil(2);
        Some(Alignment { monotonic_ns: before + error_ns, realtime_ns, error_ns })
    }

    /// Waits until there is room for a block of so many bytes in one piece, and gives its place.
    fn room(&mut self, block: usize) -> Result<usize, Errno> {
        let capacity = self.length - BLOCKS;
        if block > capacity {
            return Err(Errno::MSGSIZE);
        }
        let place = self.place();
        if let Some(left) = capacity.checked_sub(place).filter(|left| *left < block) {
            self.wait_for(left)?;
            let length = u32::try_from(left - ALIGNMENT).map_err(|_| Errno::MSGSIZE)?;
            self.commit(BLOCKS + place, Head { kind: Kind::Gap, length });
        }
        self.wait_for(block)?;
        Ok(BLOCKS + self.place())
    }

    /// Where the next block is, from [`BLOCKS`] on.
    fn place(&self) -> usize {
        let capacity = (self.length - BLOCKS) as u64;
        usize::try_from(self.written % capacity).unwrap_or_default()
    }

    /// Waits until so many bytes are free.
    fn wait_for(&self, bytes: usize) -> Result<(), Errno> {
        let capacity = (self.length - BLOCKS) as u64;
        let (mut since, mut before) = (Instant::now(), None);
        loop {
            let taken = self.number(TAKEN).load(Ordering::Acquire).min(self.written);
            if self.written - taken + bytes as u64 <= capacity {
                return Ok(());
            }
            if before != Some(taken) {
                (since, before) = (Instant::now(), Some(taken));
            } else if since.elapsed() > TIMEOUT {
                return Err(Errno::PIPE);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn commit(&mut self, place: usize, head: Head) {
        self.bytes(place, ALIGNMENT).copy_from_slice(&head.to_bytes());
        self.written += head.block() as u64;
        // The block is whole before its end is known.
        self.number(WRITTEN).store(self.written, Ordering::Release);
    }

    fn number(&self, place: usize) -> &AtomicU64 {
        // SAFETY: within the mapping, aligned, and both sides use it as an atomic.
        unsafe { AtomicU64::from_ptr(self.memory.add(place).cast()) }
    }

    /// A part of the memory that only the writer writes to.
    fn bytes(&mut self, place: usize, length: usize) -> &mut [u8] {
        assert!(place + length <= self.length, "a block lies within the memory");
        // SAFETY: within the mapping, and the reader reads nothing that has not been committed.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(place), length) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no slice of it outlives it.
        let _ = unsafe { munmap(self.memory.cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::clock::Pair;

    #[test]
    fn the_time_of_the_reader_is_learned_to_within_the_error() {
        let memory = tempfile::NamedTempFile::new().expect("a file");
        memory.as_file().set_len(1 << 20).expect("room");
        let place = tempfile::tempdir().expect("a directory");
        let taken = transcode::Ring::new(memory.reopen().expect("a descriptor"), 0, 1 << 20).expect("a ring");
        let follower =
            transcode::Follower::start(taken, &place.path().join("trace"), None).expect("a thread");
        let found = Ring::open(memory.path(), 0, 1 << 20).expect("mapped").align().expect("an answer");
        follower.finish().expect("nothing came");
        // Both have the same clocks here.
        let Pair { monotonic_ns, realtime_ns, error_ns } = Pair::now();
        let offset = |realtime: u64, monotonic: u64| i128::from(realtime) - i128::from(monotonic);
        let apart = offset(found.realtime_ns, found.monotonic_ns) - offset(realtime_ns, monotonic_ns);
        // Meanwhile the kernel may have changed the speed of one.
        let allowed = u128::from(found.error_ns + error_ns) + 1000;
        assert!(apart.unsigned_abs() <= allowed, "{apart} ns: {found:?}");
    }

    #[test]
    fn a_reader_that_does_not_answer_is_asked_once() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len((BLOCKS + ALIGNMENT) as u64).expect("room");
        let ring = Ring::open(file.path(), 0, BLOCKS + ALIGNMENT).expect("mapped");
        assert_eq!(ring.align(), None);
        assert_eq!(ring.number(ASKED).load(Ordering::Relaxed), 1);
    }

    #[test]
    fn blocks_lie_in_one_piece_and_wait_for_the_reader() {
        const CAPACITY: usize = 4096;
        let file = tempfile::NamedTempFile::new().expect("a file");
        let memory = file.as_file();
        memory.set_len((BLOCKS + CAPACITY) as u64).expect("room");
        let number = |place: usize| {
            let mut bytes = [0; 8];
            memory.read_exact_at(&mut bytes, place as u64).expect("it is there");
            u64::from_le_bytes(bytes)
        };
        let head = |place: usize| {
            let mut bytes = [0; ALIGNMENT];
            memory.read_exact_at(&mut bytes, (BLOCKS + place) as u64).expect("it is there");
            Head::read(&bytes).expect("a head")
        };
        let mut ring = Ring::open(file.path(), 0, BLOCKS + CAPACITY).expect("mapped");
        let page = Kind::Page { cpu: 1 };
        let mut write = |size: usize, filled: usize| ring.block(page, size, |_| Ok(filled)).expect("room");
        assert_eq!((write(1008, 1008), write(1008, 0), write(2000, 1001)), (1008, 0, 1001));
        assert_eq!(number(WRITTEN), 2048, "a block without bytes is none, and a shorter one takes less");
        assert_eq!(head(1024), Head { kind: page, length: 1001 });
        // What was taken makes room for what does not fit before the end.
        memory.write_all_at(&2048_u64.to_le_bytes(), TAKEN as u64).expect("writable");
        write(1008, 1008);
        write(1500, 1500);
        assert_eq!(head(3072), Head { kind: Kind::Gap, length: 1008 });
        assert_eq!((head(0), number(WRITTEN)), (Head { kind: page, length: 1500 }, 4096 + 1520));
        assert_eq!(ring.block(page, CAPACITY, |_| Ok(1)), Err(Errno::MSGSIZE));
    }
}
