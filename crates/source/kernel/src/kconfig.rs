//! Fragments of a configuration, and why Kconfig did not grant what they ask for.
//!
//! [`fragment`] reads what is asked. [`Symbols`] is what a tree's Kconfig files say: `lexer` cuts them into
//! statements and expands `macros`, `expression` reads conditions, `reader` follows the blocks. [`unmet`] compares
//! both with the `.config` that came out: `value` evaluates conditions on it, `explain` finds the part of a
//! condition that fails, `reason` says it in one line. `order` knows what must be set before what. Only `tree` looks
//! at a disk; nothing is ever run.

mod attributes;
mod error;
mod explain;
mod expression;
#[cfg(test)]
mod fixture;
mod fragment;
mod lexer;
mod macros;
mod nearest;
mod order;
mod reader;
mod reason;
mod symbols;
mod tree;
mod value;

pub(crate) use fragment::{Assignment, combine, parse as parse_fragment};
pub(crate) use macros::Variables;
pub(crate) use order::is_settable;
pub(crate) use reason::unmet;
pub(crate) use symbols::Symbols;
pub(crate) use tree::Tree;
