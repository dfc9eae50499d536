//! The instrument `sample`: where a program and the kernel are, again and again.
//!
//! * [`SampleRequest`]: at which [`Event`](crate::count::Event), and while what
//! * [`SampleReport`]: the samples as a tree of calls, whose [`Node`]s are [`Function`]s

mod report;
mod request;

pub use report::{
    FUNCTIONS_MAX, Function, NODES_MAX, Node, Part, SampleReport, TEXT_MAX, WrongReport, totals,
};
pub use request::{PERIOD_MIN_NS, STACK_MAX, SampleRequest, WrongRequest};
