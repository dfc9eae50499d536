//! A sample, as the kernel writes it.

use harness::perf::{HEADER, Record};
use unwind::Registers;

/// `PERF_SAMPLE_IP`, `_TID`, `_TIME`, `_CALLCHAIN`, `_REGS_USER` and `_STACK_USER`.
pub(crate) const TYPE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 12 | 1 << 13;

/// `PERF_REG_X86_BP`, `_SP` and `_IP`, which is the order in which a sample has them.
pub(crate) const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;

/// `PERF_SAMPLE_REGS_ABI_64`.
const ABI_64: u64 = 2;

/// From here on an entry of the call chain says whose calls follow: `PERF_CONTEXT_MAX`.
const CONTEXT: u64 = 0u64.wrapping_sub(4095);

/// Where a thread was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Taken<'a> {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// Addresses in the kernel, the innermost first. A call returns to the instruction after it: the one before is given.
    pub(crate) kernel: Vec<u64>,
    /// Where its program was; none of a thread of the kernel, and of a program of 32 bits.
    pub(crate) registers: Option<Registers>,
    /// The stack of the program, from the stack pointer on.
    stack: &'a [u8],
}

/// Takes words from the front of bytes.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn half(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn next(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes(8)?.try_into().ok()?))
    }
}

/// When a record of an event with samples of [`TYPE`] was written, in the nanoseconds of a clock that all CPUs have.
pub(crate) fn time_of(bytes: &[u8], record: &Record) -> u64 {
    let at = match record {
        Record::Sample(_) => Some(HEADER + 16),
        // What the samples have, too, is at the end of other records.
        _ => bytes.len().checked_sub(8),
    };
    let bytes = at.and_then(|at| bytes.get(at..at + 8)?.try_into().ok());
    bytes.map_or(0, u64::from_ne_bytes)
}

impl<'a> Taken<'a> {
    /// Reads a sample of [`TYPE`]: what follows its header.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut words = Words(bytes);
        let _address = words.next()?;
        let (pid, tid, _time) = (words.half()?, words.half()?, words.next()?);
        let entries = usize::try_from(words.next()?).ok()?;
        let kernel = addresses(Words(words.bytes(entries.checked_mul(8)?)?));
        let registers = match words.next()? {
            0 => None,
            abi => {
                let [rbp, rsp, rip] = [words.next()?, words.next()?, words.next()?];
                (abi == ABI_64).then_some(Registers { rip, rsp, rbp })
            }
        };
        let size = usize::try_from(words.next()?).ok()?;
        let stack = words.bytes(size)?;
        let copied = if size == 0 { 0 } else { usize::try_from(words.next()?).ok()? };
        Some(Self { pid, tid, kernel, registers, stack: stack.get(..copied)? })
    }

    /// The word at an address of the program's stack, as far as it was copied.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.registers?.rsp)?).ok()?;
        let bytes = self.stack.get(at..at.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }
}

/// The addresses of a call chain without what says whose they are.
fn addresses(mut chain: Words<'_>) -> Vec<u64> {
    let addresses = std::iter::from_fn(|| chain.next()).filter(|&address| address < CONTEXT);
    addresses.enumerate().map(|(at, address)| address.saturating_sub(u64::from(at > 0))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// A sample of thread 8 of process 7, in a system call.
    fn sample() -> Vec<u8> {
        let ids = u64::from(7_u32) | u64::from(8_u32) << 32;
        let kernel = 0u64.wrapping_sub(128);
        let begin = [0xffff_ffff_8100_0000, ids, 99, 3, kernel, 0xffff_ffff_8100_0000, 0xffff_ffff_8120_0000];
        [words(&begin), words(&[2, 0x30, 0x1000, 0x40_0000]), words(&[32, 11, 12, 13, 14, 16])].concat()
    }

    #[test]
    fn a_sample_is_read() {
        let bytes = sample();
        let taken = Taken::read(&bytes).expect("a sample");
        assert_eq!((taken.pid, taken.tid), (7, 8));
        assert_eq!(taken.kernel, [0xffff_ffff_8100_0000, 0xffff_ffff_811f_ffff]);
        assert_eq!(taken.registers, Some(Registers { rip: 0x40_0000, rsp: 0x1000, rbp: 0x30 }));
        let read = [0x1000, 0x1008, 0x1010, 0xfff, 0x1001, u64::MAX].map(|address| taken.word(address));
        assert_eq!(read, [Some(11), Some(12), None, None, Some(12 << 56), None]);
    }

    #[test]
    fn records_have_their_time_at_the_end_and_samples_further_on() {
        let bytes = [vec![0; HEADER], sample()].concat();
        assert_eq!(time_of(&bytes, &Record::Sample(sample())), 99);
        assert_eq!(time_of(&words(&[1, 2, 3]), &Record::Throttled), 3);
        assert_eq!(time_of(&[1, 2], &Record::Throttled), 0);
    }

    #[test]
    fn a_thread_of_the_kernel_has_no_program() {
        let ids = u64::from(7_u32) | u64::from(8_u32) << 32;
        let bytes = words(&[0xffff_ffff_8100_0000, ids, 99, 1, 0xffff_ffff_8100_0000, 0, 0]);
        let taken = Taken::read(&bytes).expect("a sample");
        assert_eq!((taken.registers, taken.kernel.len(), taken.word(0)), (None, 1, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_sample_or_none(at in 0_usize..120, byte in any::<u8>(), length in 0_usize..140) {
            let mut bytes = sample();
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            bytes.truncate(length);
            let read = Taken::read(&bytes);
            prop_assert!(read.is_none_or(|taken| taken.word(u64::from(byte)).is_none() || taken.registers.is_some()));
        }
    }
}
