//! Events of perf: perf_event_open(2).
//!
//! * [`number()`]: what an event is to the kernel
//! * [`Ring`]: the buffer in which the kernel tells of them; [`Record`]: what it tells

mod function;
mod number;
mod record;
mod ring;

pub use function::unknown;
pub use number::{Number, number, probe_of};
pub use record::{HEADER, Mapping, Record};
pub use ring::Ring;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;

use crate::sys::{call_for_descriptor, ioctl};

/// `PERF_FLAG_FD_CLOEXEC`.
const CLOEXEC: usize = 1 << 3;

/// `PERF_EVENT_IOC_SET_OUTPUT`.
const SET_OUTPUT: u32 = 0x2405;

/// Words of `struct perf_event_attr` with the registers and the stack of a sample, `PERF_ATTR_SIZE_VER3`.
const WORDS: usize = 12;

/// The type `PERF_TYPE_SOFTWARE`.
pub const SOFTWARE: u64 = 1;

/// `PERF_COUNT_SW_TASK_CLOCK`: nanoseconds that a thread runs.
pub const TASK_CLOCK: Number = Number::new(SOFTWARE, 1);

/// `PERF_COUNT_SW_DUMMY`, which counts nothing.
pub const DUMMY: Number = Number::new(SOFTWARE, 9);

/// Bits of [`Attributes::flags`], as the manual page names them.
pub mod flags {
    /// It counts nothing until it is enabled.
    pub const DISABLED: u64 = 1;
    /// Also in what the process starts.
    pub const INHERIT: u64 = 1 << 1;
    /// Not in the kernel.
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    /// Not in the hypervisor.
    pub const EXCLUDE_HV: u64 = 1 << 6;
    /// Not while a CPU is idle.
    pub const EXCLUDE_IDLE: u64 = 1 << 7;
    /// Records of mappings that can be executed; with [`MMAP2`].
    pub const MMAP: u64 = 1 << 8;
    /// Records of names.
    pub const COMM: u64 = 1 << 9;
    /// What each thread had is told when it ends.
    pub const INHERIT_STAT: u64 = 1 << 11;
    /// It is enabled when the process executes a program.
    pub const ENABLE_ON_EXEC: u64 = 1 << 12;
    /// Records of processes that begin and end.
    pub const TASK: u64 = 1 << 13;
    /// Each record says when and of whom.
    pub const SAMPLE_ID_ALL: u64 = 1 << 18;
    /// No calls of the program: it has no frame pointers.
    pub const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
    /// Mappings say which file it is.
    pub const MMAP2: u64 = 1 << 23;
}

/// What is asked of an event: the fields of `struct perf_event_attr`, which are 0 by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The type.
    pub kind: u64,
    /// Which event of the type.
    pub config: u64,
    /// The address of the function that it is a probe of: `config2`.
    pub function: u64,
    /// Events from sample to sample.
    pub sample_period: u64,
    /// What a sample has.
    pub sample_type: u64,
    /// What read(2) gives.
    pub read_format: u64,
    /// The bits that follow, `disabled` first.
    pub flags: u64,
    /// Which registers of the program a sample has.
    pub sample_regs_user: u64,
    /// Bytes of the program's stack that it has.
    pub sample_stack_user: u32,
}

/// Opens an event of a process on a CPU; of all processes, and on whichever CPU, where none is named.
///
/// # Errors
///
/// As the manual page says.
pub fn open(attributes: Attributes, process: Option<u32>, cpu: Option<u32>) -> Result<OwnedFd, Errno> {
    let Attributes { kind, config, sample_period, sample_type, read_format, flags, .. } = attributes;
    let mut words = [0; WORDS];
    words[0] = kind | (size_of_val(&words) as u64) << 32;
    words[1..6].copy_from_slice(&[config, sample_period, sample_type, read_format, flags]);
    words[8] = attributes.function;
    words[10] = attributes.sample_regs_user;
    words[11] = attributes.sample_stack_user.into();
    let address = (&raw const words).addr();
    let number = |number: Option<u32>| number.map_or(usize::MAX, |number| number as usize);
    let no_group = usize::MAX;
    // SAFETY: the attributes have their size, and outlive the call.
    unsafe {
        call_for_descriptor(
            libc::SYS_perf_event_open,
            [address, number(process), number(cpu), no_group, CLOEXEC],
        )
    }
}

/// Has the kernel write the records of an event where it writes those of another one on the same CPU.
///
/// # Errors
///
/// As ioctl(2) says.
pub fn write_into(event: impl AsFd, other: impl AsFd) -> Result<(), Errno> {
    let other = usize::try_from(other.as_fd().as_raw_fd()).map_err(|_| Errno::BADF)?;
    // SAFETY: the request takes a number.
    unsafe { ioctl(event, SET_OUTPUT, other) }.map(drop)
}

/// The CPUs that are online.
///
/// # Errors
///
/// Why that is not known, in a line.
pub fn online_cpus() -> Result<impl Iterator<Item = u32>, String> {
    let path = "/sys/devices/system/cpu/online";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let ranges: Vec<_> = text.trim().split(',').filter_map(range).collect();
    Ok(ranges.into_iter().flatten())
}

/// `3` or `0-3`.
fn range(text: &str) -> Option<std::ops::RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_read_as_the_kernel_writes_them() {
        assert_eq!((range("3"), range("0-3"), range("a")), (Some(3..=3), Some(0..=3), None));
        assert!(online_cpus().expect("sysfs is mounted").count() > 0);
    }
}
