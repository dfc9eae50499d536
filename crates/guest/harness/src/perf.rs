//! Events of perf: perf_event_open(2).

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use crate::sys::call_for_descriptor;

/// `PERF_FLAG_FD_CLOEXEC`.
const CLOEXEC: usize = 1 << 3;

/// Words of `struct perf_event_attr` as it was first published with a size of its own, `PERF_ATTR_SIZE_VER0`.
const WORDS: usize = 8;

/// The type `PERF_TYPE_SOFTWARE`.
pub const SOFTWARE: u64 = 1;

/// What is asked of an event: the fields of `struct perf_event_attr`, which are 0 by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The type.
    pub kind: u64,
    /// Which event of the type.
    pub config: u64,
    /// Events from sample to sample.
    pub sample_period: u64,
    /// What read(2) gives.
    pub read_format: u64,
    /// The bits that follow, `disabled` first.
    pub flags: u64,
}

/// Opens an event of a process on a CPU; of all processes, and on whichever CPU, where none is named.
///
/// # Errors
///
/// As the manual page says.
pub fn open(attributes: Attributes, process: Option<u32>, cpu: Option<u32>) -> Result<OwnedFd, Errno> {
    let Attributes { kind, config, sample_period, read_format, flags } = attributes;
    let size = (WORDS * size_of::<u64>()) as u64;
    let words: [u64; WORDS] = [kind | size << 32, config, sample_period, 0, read_format, flags, 0, 0];
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
