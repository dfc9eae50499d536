//! The language against a bench that has no machines.

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
