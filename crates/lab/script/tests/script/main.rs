//! The language against a bench that has no machines.
//!
//! * [`fake`]: the bench, and how scripts are run on it
//! * [`objects`]: each method and what it asks for; [`answers`]: what a guest sends; [`errors`]: what goes wrong
//! * [`steps`], [`parallel`]: the order of things; [`journal`]: runs that are killed
//! * [`limits`]: scripts that use too much; [`checks`]: what is found without running; [`properties`]: scripts at random

#![expect(clippy::unwrap_used, reason = "clippy does not see that the helpers here are for tests only")]

mod answers;
mod checks;
mod errors;
mod fake;
mod journal;
mod limits;
mod objects;
mod parallel;
mod properties;
mod steps;
