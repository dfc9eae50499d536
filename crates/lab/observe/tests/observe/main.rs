//! Programs of which it is known what they do.

mod common;
mod connector;
mod job;
mod look;
