//! What `kiln observe` prints.
//!
//! * [`events`]: what happens to processes
//! * [`job`]: a program and all that it started
//! * [`stack`]: what threads do
//! * [`waits`]: what they wait for

pub mod events;
pub mod job;
pub mod stack;
pub mod waits;
