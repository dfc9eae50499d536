//! The instrument that looks into the kernel with BPF.
//!
//! * [`probe`]: from a request to its report
//! * [`object`]: a program in the kernel, and where it is attached
//! * [`companion`]: what bpftrace starts
//! * [`tools`]: what each of them finds
//! * [`watch`]: whose events are looked at

mod object;
mod session;
mod tools;
mod watch;

pub use session::probe;
pub use tools::companion;
