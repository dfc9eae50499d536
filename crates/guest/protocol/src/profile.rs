//! What QEMU's plugin writes about the instructions that a guest executed.
//!
//! A file that grows: [`MAGIC`], [`VERSION`], then records. Every number is little endian. A record is its kind (u32),
//! the length of what follows (u32), and:
//!
//! * [`BLOCKS`]: runs of instructions that were executed one after the other, in the kernel. How many (u32), then of
//!   each the address (u64), how many instructions (u16), and the size of each of these in bytes (u8). Blocks are
//!   numbered from 0 as they come in the file.
//! * [`STACKS`]: chains of calls in the kernel. How many (u32), then of each the number of its caller's chain (u32), which
//!   is smaller, and the address where the function was entered (u64). They are numbered from 1 as they come in the file;
//!   0 is the chain without calls.
//! * [`JOB`]: one job, after the blocks and stacks that are new in it.
//!   * Its repetitions in their order, [`REPETITIONS_MAX`] at most: how many (u32), and of each the instructions outside
//!     (u64) and inside (u64) the kernel. They are counted as the time-stamp counter does it: behind the first reading
//!     of it that follows the mark of the beginning, up to and with the last one before the mark of the end.
//!   * How many repetitions are in none of the following variants (u32).
//!   * Variants, which are repetitions with the same numbers of instructions; [`VARIANTS_MAX`] at most: how many (u32),
//!     and of each how many repetitions it stands for (u32), instructions outside (u64) and inside (u64) the kernel, and
//!     its blocks: how many (u32), and of each the chain of calls that led to it (u32), its number (u32), and how often
//!     it was executed (u32).

/// The first bytes.
pub const MAGIC: [u8; 8] = *b"kilnprof";

/// The version of this form, four bytes after [`MAGIC`].
pub const VERSION: u32 = 1;

/// The kind of a record with blocks.
pub const BLOCKS: u32 = 1;

/// The kind of a record with a job.
pub const JOB: u32 = 2;

/// The kind of a record with stacks.
pub const STACKS: u32 = 3;

/// Most repetitions of a job that are listed.
pub const REPETITIONS_MAX: usize = 64;

/// Most variants of a job.
pub const VARIANTS_MAX: usize = 16;

/// Most blocks of a file.
pub const BLOCKS_MAX: usize = 1 << 18;

/// Most blocks of a variant, each with the chains of calls that led to it.
pub const EXECUTIONS_MAX: usize = 1 << 18;

/// Most stacks of a file, with the one without calls.
pub const STACKS_MAX: usize = 1 << 18;

/// Most calls of a chain.
pub const FRAMES_MAX: usize = 128;

/// Most instructions of a block: QEMU's own limit (`TCG_MAX_INSNS`).
pub const INSTRUCTIONS_MAX: usize = 512;
