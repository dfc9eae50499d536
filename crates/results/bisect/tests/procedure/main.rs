//! Bisections of worlds of which the truth is known, from the ends to the proof.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy takes only the test functions themselves for tests"
)]

mod any;
mod ends;
mod fake;
mod graph;
mod line;
mod metric;
mod resume;
mod set;
mod simulation;
mod underway;
mod untestable;
