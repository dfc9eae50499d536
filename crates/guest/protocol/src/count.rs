//! The instrument `count`: how often events happen while a program runs, in all its processes or everywhere.
//!
//! * [`CountRequest`]: which [`Event`]s, while what runs
//! * [`CountReport`]: what was [`Counted`], of the whole and, if that was asked for, of each [`Task`] and each interval

mod event;
mod report;
mod request;

pub use event::{Counter, Event, WrongEvent};
pub use report::{CountReport, Counted, INTERVALS_MAX, Interval, Missing, TASKS_MAX, Task, WrongReport};
pub use request::{CountRequest, EVENTS_MAX, INTERVAL_MAX_MS, INTERVAL_MIN_MS, Part, WrongRequest};
