//! Programs for BPF, each in C and of a file of its own, and what loads them.
//!
//! * [`programs`]: the code of each
//! * [`Object`]: a program in the kernel, and where it is attached
//! * [`Watch`]: whose events are looked at

mod object;
pub mod programs;
mod watch;

pub use object::Object;
pub use watch::Watch;
