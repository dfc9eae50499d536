//! The instrument that loads a kernel, and verifies what it does under load.
//!
//! * [`stressor`]: what a stressor is; [`setting`]: its options and figures; [`stressors`] are all of them, a folder for
//!   each class
//! * [`worker`]: what its body sees of the engine
//! * [`kit`]: what bodies are made of
//! * [`engine`]: starts workers, looks at the time, ends them, reports; [`placement`]: how they are scheduled
//! * `coverage`: which code of the kernel they reach
//! * `board`: the memory that engine and workers share; `directory`: where workers work
//! * `leftovers`, `strays`: what outlives its worker; `thermal`: temperatures

mod board;
mod coverage;
mod directory;
pub mod engine;
mod kit;
mod leftovers;
mod placement;
pub mod setting;
mod strays;
pub mod stressor;
mod stressors;
mod thermal;
mod worker;

pub use engine::{Refusal, run};
pub use stressor::Stressor;
pub use stressors::{all, catalogue};
pub use worker::Worker;

/// The argument with which the instrument does nothing but end: a stressor executes it as a small program.
pub const EXIT_AT_ONCE: &std::ffi::CStr = c"exit-at-once";
