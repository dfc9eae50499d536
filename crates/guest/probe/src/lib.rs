//! The instrument that looks into the kernel with BPF.
//!
//! * [`probe`]: from a request to its report
//! * [`companion`]: what bpftrace starts
//! * [`tools`]: what each of them finds

mod session;
mod tools;

pub use session::probe;
pub use tools::companion;
