//! The code of each program of `bpf/`.

use aya::include_bytes_aligned;

/// What each thread or process had of some events of perf, added up at each switch.
pub const COUNTS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/counts.bpf.o"));

/// Which programs make processes and threads, execute and end.
pub const FORKS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/forks.bpf.o"));

/// How often functions of the kernel are called.
pub const FUNCTIONS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/functions.bpf.o"));

/// Waits for locks of the kernel.
pub const LOCKS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/locks.bpf.o"));

/// Which files are opened.
pub const OPENS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/opens.bpf.o"));

/// How processes use the page cache.
pub const PAGE_CACHE: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/page_cache.bpf.o"));

/// What is allocated from slabs.
pub const SLABS: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/slabs.bpf.o"));
