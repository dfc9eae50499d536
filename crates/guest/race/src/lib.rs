//! The instrument that makes improbable collisions of two threads probable.
//!
//! Two threads execute their sections at the same time, round after round. First it samples how long the sections take;
//! then it delays one of them in each round so that all alignments with which they overlap are tried, and the promising
//! ones more often.
//!
//! * [`race`]: what a race is, and how its author writes it; [`runner`] runs it by a [`plan`]
//! * [`engine`]: the rounds; [`side`]: the part of a thread in a [`mod@round`]; [`barrier`]: where both wait for each other;
//!   [`pair`]: both threads from start to end; [`setting`]: what they know; [`outcome`]: what goes to the judgement
//! * [`controller`]: the delay of each round; [`sampler`], [`flip`], [`disturbance`], [`lead`]: what it learns from rounds
//! * [`statistics`], [`sequence`]: medians, and numbers that are evenly spread
//! * [`plain`], [`published`]: what it is compared with
//! * [`clock`]: a clock that both threads agree on
//! * [`tally`]: what is counted, in memory that outlives the threads; [`counter`] counts there; [`coverage`]: the delays
//!   that were tried
//! * [`supervisor`]: the process that watches the threads, and ends them if a section does not return; [`whereabouts`]:
//!   where a thread is, and [`stuck`]: where in the kernel
//! * [`synthetic`]: races with known windows; [`races`]: races of the kernel
//! * [`program`]: the instrument from its request to its report

mod barrier;
pub mod clock;
mod controller;
mod counter;
mod coverage;
mod disturbance;
mod engine;
mod flip;
mod lead;
mod outcome;
mod pair;
mod plain;
pub mod plan;
pub mod program;
mod published;
pub mod race;
pub mod races;
mod round;
pub mod runner;
mod sampler;
mod sequence;
mod setting;
mod side;
mod statistics;
mod stuck;
pub mod supervisor;
pub mod synthetic;
pub mod tally;
mod whereabouts;

pub use plan::Plan;
pub use race::{Judgement, Race};
pub use runner::Runner;
