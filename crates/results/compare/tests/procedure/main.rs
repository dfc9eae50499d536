//! Requests that are carried out on a host of which the truth is known.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "clippy takes only the test functions themselves for tests"
)]

mod calibrate;
mod counted;
mod earlier;
mod experiments;
mod fake;
mod roots;
mod timed;
