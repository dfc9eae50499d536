//! The instrument `probe`: a tool that looks into the kernel while a program runs.
//!
//! * [`ProbeRequest`]: which [`Tool`], while what runs
//! * [`ProbeReport`]: what it [`Found`]

mod report;
mod request;

pub use report::{
    Found, Function, LockKind, LockWaits, Missing, OPENS_MAX, OUTPUT_MAX, Open, PageCache, ProbeReport,
    Programs, ROWS_MAX, Slab, WrongReport,
};
pub use request::{PATTERNS_MAX, ProbeRequest, SCRIPT_MAX, Tool, WrongRequest};
