//! Bisections from the request to the conclusion: Kernels and machines are played, all else is as it is.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy takes only the test functions themselves for tests"
)]

mod experiments;
mod fake;
mod kernels;
mod machines;
mod parameters;
