//! The instrument that looks again and again where programs and the kernel are: perf_event_open(2).
//!
//! * [`sample()`]: from a request to its report
//! * [`event`]: what samples are taken at; [`taken`]: what they have
//! * [`order`]: what several CPUs wrote, in the order of time
//! * [`processes`]: what is mapped into each process; [`tree`]: their calls, counted
//! * [`kallsyms`]: the kernel's functions; [`naming`]: the tree with the names of its functions

mod event;
mod kallsyms;
mod naming;
mod order;
mod processes;
mod session;
mod taken;
mod tree;

pub use session::sample;
