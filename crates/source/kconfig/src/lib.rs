//! Configurations of kernels, fragments of them, and why Kconfig did not grant what they ask for.
//!
//! [`Config`] is what a kernel was built with. [`fragment`] reads what is asked. [`Symbols`] is what a tree's Kconfig files say: `lexer` cuts them into
//! statements and expands `macros`, `expression` reads conditions, `reader` follows the blocks. [`unmet`] compares
//! both with the `.config` that came out: `value` evaluates conditions on it, `explain` finds the part of a
//! condition that fails, `reason` says it in one line. `order` knows what must be set before what. Only `tree` looks
//! at a disk; nothing is ever run.

mod attributes;
mod config;
mod error;
mod explain;
mod expression;
#[cfg(test)]
mod fixture;
pub mod fragment;
mod lexer;
mod macros;
mod nearest;
mod order;
mod reader;
mod reason;
mod symbols;
mod tree;
mod value;

pub use config::Config;
pub use error::{Error, Place};
pub use fragment::{Assignment, Wanted};
pub use macros::Variables;
pub use order::is_settable;
pub use reason::{Unmet, unmet};
pub use symbols::Symbols;
pub use tree::Tree;
