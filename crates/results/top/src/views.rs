//! A file for each view.
//!
//! * [`sessions`](mod@sessions), [`changes`](mod@changes), [`problems`](mod@problems): from a look to a table
//! * [`session`](mod@session), [`run`](mod@run): pages that are opened from there
//! * [`start`](mod@start): kernels and suites to choose
//! * [`help`](mod@help), [`leave`](mod@leave): what stands above the others

pub(crate) mod changes;
pub(crate) mod help;
pub(crate) mod leave;
pub(crate) mod problems;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod start;
