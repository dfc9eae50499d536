//! How an instrument is started, and what it writes.
//!
//! An instrument is a static program that runs on this host and in machines alike. Its one argument is its request, in
//! JSON; it writes one [`Line`] a line, in JSON, on its standard output. SIGINT and SIGTERM end it early: it undoes what
//! it did and reports what it has.

use serde::{Deserialize, Serialize};

use crate::Report;

/// How the name of an instrument begins wherever a program is named.
pub const SCHEME: &str = "kiln:";

/// The name of an instrument as a program: `kiln:latency`.
#[must_use]
pub fn scheme(name: &str) -> String {
    format!("{SCHEME}{name}")
}

/// The variable that names the file of an instrument for others that run it. Without it, the program is in the path,
/// by the name that [`scheme`] gives.
#[must_use]
pub fn variable(name: &str) -> String {
    format!("KILN_INSTRUMENT_{}", name.to_uppercase())
}

/// A line of an instrument that reports a `T`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line<T> {
    /// What is known so far, about once a second.
    SoFar(T),
    /// All that it was asked for, or what there was when a signal ended it. Nothing follows.
    Done(T),
    /// It cannot do what it was asked for: `skip` if this machine or user lacks something, `broken` if its own part
    /// failed. Nothing follows.
    Stopped(Report),
}

/// How a [`Line::SoFar`] begins, in JSON.
pub const SO_FAR: &str = "{\"so-far\":";

/// The exit status of an instrument that did what it was asked for.
pub const DONE: u8 = 0;

/// It found the kernel at fault.
pub const FAULT: u8 = 1;

/// Its argument is no request.
pub const WRONG_REQUEST: u8 = 2;

/// Its own part failed.
pub const BROKEN: u8 = 3;

/// Something that it needs is missing: the status by which kselftest says so.
pub const SKIPPED: u8 = 4;
