//! What a trace says.
//!
//! * [`mod@walk`]: its events in their order, with the names of their threads
//! * [`seen`]: an event and its surroundings; [`filter`]: which of them are of interest; [`parse`]: from text to a filter
//! * [`threads`]: what threads are called; [`field`]: fields of events
//! * [`states`]: what threads and CPUs do from event to event; [`kind`]: which events say so; [`interval`]: what lasted
//! * [`moment`]: the states at a moment
//! * [`mod@look`]: one way through a trace for each of these views:
//!   * [`statistics`]: how many events there are of each kind, how long threads run and system calls take; [`spread`]: of such times; [`rows`]: not too many of them
//!   * [`activity`]: what threads spend their time with; [`latency`]: how long it takes until something is done
//!   * [`tree`]: which thread made which; [`critical_path`]: which one waited for which
//!   * [`timeline`]: what is drawn
//!   * [`axis`](mod@axis): of several traces
//!   * [`moment`]: what was at a time, by its [`files`] and [`checkpoints`]
//!   * [`work`]: what is compared; [`differences`]: of two recordings; [`mod@patterns`]: what is repeated in threads

pub mod activity;
mod axis;
mod checkpoints;
pub mod critical_path;
pub mod differences;
mod field;
mod files;
pub mod filter;
pub mod interval;
mod kind;
pub mod latency;
pub mod look;
mod moment;
mod parse;
pub mod patterns;
mod rows;
pub mod seen;
pub mod spread;
pub mod states;
pub mod statistics;
#[cfg(test)]
mod testing;
pub mod threads;
pub mod timeline;
pub mod tree;
pub mod walk;
pub mod work;

pub use activity::Activity;
pub use axis::Axis;
pub use differences::Differences;
pub use files::Files;
pub use filter::Filter;
pub use interval::{Interval, State, What};
pub use latency::Latencies;
pub use look::{View, look};
pub use moment::Moment;
pub use parse::WrongFilter;
pub use seen::Seen;
pub use spread::Spread;
pub use states::States;
pub use statistics::Statistics;
pub use threads::Threads;
pub use timeline::Timeline;
pub use tree::Tree;
pub use walk::{walk, walk_together};
pub use work::Work;
