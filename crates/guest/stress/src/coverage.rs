//! Which code of the kernel a worker reaches: Documentation/dev-tools/kcov.rst.
//!
//! The engine opens the traces of a worker before it starts it. The worker, and each process that it forks, has the
//! kernel record into one of them; the engine takes out what is recorded while they run. What threads and children of
//! clone(2) and vfork(2) do is not recorded.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use harness::check::{Checked, broken, describe, skip};
use harness::kallsyms;
use harness::memory::Area;
use harness::sys::ioctl;
use protocol::stress::Coverage;
use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::ioctl::Opcode;
use rustix::mm::{MapFlags, ProtFlags, mmap};

/// Words of a trace: a count, and then addresses.
const WORDS: usize = 1 << 17;

/// Traces of a worker: its own, and those of processes that it forks and that run at the same time.
const TRACES: usize = 4;

/// `KCOV_INIT_TRACE`, `KCOV_ENABLE` and `KCOV_DISABLE` of <linux/kcov.h>.
const INIT_TRACE: Opcode = 0x8008_6301;
const ENABLE: Opcode = 0x6364;
const DISABLE: Opcode = 0x6365;

/// `KCOV_TRACE_PC` of the same.
const TRACE_PC: usize = 0;

/// Where the text of the kernel is in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    start: u64,
    end: u64,
}

impl Text {
    /// That of the running kernel.
    ///
    /// # Errors
    ///
    /// When it does not tell.
    pub(crate) fn find() -> Checked<Self> {
        let text = Self::of(&kallsyms::read().unwrap_or_default());
        if text.start == 0 || text.end <= text.start {
            return broken("/proc/kallsyms does not say where the kernel is");
        }
        Ok(text)
    }

    fn of(table: &str) -> Self {
        let address = |name| kallsyms::address(table, name).unwrap_or(0);
        Self { start: address("_text"), end: address("_etext") }
    }

    fn distance(&self, address: u64) -> Option<u32> {
        // The kernel records where its hook returns to, which may be in the next line.
        let call = address.checked_sub(1).filter(|call| (self.start..self.end).contains(call))?;
        u32::try_from(call - self.start).ok()
    }
}

/// Where the kernel records what one process reaches.
#[derive(Debug)]
struct Trace {
    file: OwnedFd,
    memory: Area,
}

impl Trace {
    fn open() -> Result<Self, Errno> {
        let file = open("/sys/kernel/debug/kcov", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        // SAFETY: the request takes a number.
        unsafe { ioctl(&file, INIT_TRACE, WORDS)? };
        let (length, access) = (WORDS * size_of::<u64>(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a new mapping at an address that the kernel chooses.
        let start = unsafe { mmap(std::ptr::null_mut(), length, access, MapFlags::SHARED, &file, 0)? };
        Ok(Self { file, memory: Area { start: start.cast(), length } })
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: mapped until it is dropped, of this length, and everybody uses the words as atomics.
        unsafe { std::slice::from_raw_parts(self.memory.start.cast(), WORDS) }
    }

    /// Takes out what is recorded; says whether there was no room for more. Meanwhile the kernel may go on: an address that
    /// it writes then is seen the next time.
    fn take(&self, seen: &mut impl FnMut(u64)) -> bool {
        let [count, addresses @ ..] = self.words() else { return false };
        let recorded = usize::try_from(count.swap(0, Ordering::AcqRel)).unwrap_or(0);
        addresses.iter().take(recorded).for_each(|address| seen(address.load(Ordering::Relaxed)));
        recorded >= addresses.len()
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // Nothing can be done about a mapping that stays.
        let _ = self.memory.unmap();
    }
}

/// The traces of one worker.
#[derive(Debug)]
pub(crate) struct Traces(Vec<Trace>);

impl Traces {
    /// # Errors
    ///
    /// Skips where the kernel does not record.
    pub(crate) fn open() -> Checked<Self> {
        match (0..TRACES).map(|_| Trace::open()).collect() {
            Ok(traces) => Ok(Self(traces)),
            Err(Errno::NOENT | Errno::ACCESS | Errno::NOTTY) => skip(
                "this kernel does not record coverage: it has no CONFIG_KCOV, or this user may not use it. Build one with \
                 `kiln build TREE --config boot,cov`, and name it with --in",
            ),
            Err(error) => broken(&format!("/sys/kernel/debug/kcov: {}", describe(error))),
        }
    }

    /// Adds what is recorded; says whether there was no room for more.
    pub(crate) fn take(&self, points: &mut Points, text: Text) -> bool {
        let mut overflowed = false;
        for trace in &self.0 {
            overflowed |= trace.take(&mut |address| points.add(address, text));
        }
        points.overflowed |= overflowed;
        overflowed
    }

    /// Has the kernel record what this process does from now on, and what those do that it forks.
    pub(crate) fn begin(&self) {
        let files = self.0.iter().map(|trace| trace.file.as_raw_fd()).collect();
        if FILES.set(files).is_ok() {
            enable();
            // SAFETY: the handler makes system calls alone. Without memory for it, children are not recorded.
            unsafe { libc::pthread_atfork(None, None, Some(enable)) };
        }
    }

    /// Has it record no more of this process.
    pub(crate) fn end(&self) {
        for trace in &self.0 {
            // SAFETY: the request takes no argument. Only one of them is this process's.
            let _ = unsafe { ioctl(&trace.file, DISABLE, 0) };
        }
    }
}

/// Those of this worker, for the processes that it forks.
static FILES: OnceLock<Vec<RawFd>> = OnceLock::new();

/// Records into the first trace that is free; where all are in use, not at all.
extern "C" fn enable() {
    for &file in FILES.get().into_iter().flatten() {
        // SAFETY: the request takes a number. Where a stressor has closed the file, it fails.
        if unsafe { ioctl(BorrowedFd::borrow_raw(file), ENABLE, TRACE_PC) }.is_ok() {
            return;
        }
    }
}

/// What the workers of an instance have reached.
#[derive(Debug, Default)]
pub(crate) struct Points {
    in_image: BTreeSet<u32>,
    in_modules: BTreeSet<u64>,
    overflowed: bool,
}

impl Points {
    fn add(&mut self, address: u64, text: Text) {
        match text.distance(address) {
            Some(distance) => drop(self.in_image.insert(distance)),
            // A word that was not written yet.
            None if address == 0 => {}
            None => drop(self.in_modules.insert(address)),
        }
    }

    pub(crate) fn report(&self) -> Coverage {
        let in_modules = u32::try_from(self.in_modules.len()).unwrap_or(u32::MAX);
        Coverage { in_modules, overflowed: self.overflowed, ..Coverage::of(&self.in_image) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_told_by_where_they_are() {
        let table = "ffffffff81000000 T _text\nffffffff81000000 T startup\nffffffff82000000 T _etext\n";
        let text = Text::of(table);
        let mut points = Points::default();
        let addresses =
            [0xffff_ffff_8100_0011, 0xffff_ffff_8100_0011, 0, 0xffff_ffff_c000_0000, 0xffff_ffff_8100_0101];
        addresses.into_iter().for_each(|address| points.add(address, text));
        let coverage = points.report();
        assert_eq!((coverage.points, coverage.in_modules, coverage.overflowed), (vec![0x10, 0xf0], 1, false));
    }
}
