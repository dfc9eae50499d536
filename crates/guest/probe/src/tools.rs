//! What each tool finds.

mod bpftrace;
mod cachetop;
mod forks;
mod funccount;
mod klockstat;
mod opensnoop;
mod slabratetop;

use std::cmp::Reverse;

use bpf::Watch;
pub use bpftrace::companion;
use protocol::Report;
use protocol::probe::{Found, Missing, ROWS_MAX, Tool as Asked};

/// A tool that looks into the kernel.
pub(crate) trait Tool {
    /// Takes what the kernel has in its buffers.
    fn look(&mut self) -> Result<(), Report> {
        Ok(())
    }

    /// Nothing more is looked at.
    fn end(&mut self) -> Result<(), Report> {
        self.look()
    }

    /// What was found.
    fn found(&mut self) -> Result<Found, Report>;

    /// What a person wants to see of it while it grows.
    fn so_far(&mut self) -> Result<Found, Report> {
        self.found()
    }

    /// What this kernel cannot tell.
    fn missing(&self) -> Vec<Missing> {
        Vec::new()
    }

    /// What there was no room for.
    fn lost(&self) -> Result<u64, Report>;
}

/// Has a tool look from now on.
///
/// # Errors
///
/// `skip` if this kernel or user cannot, `broken` if it refuses.
pub(crate) fn begin(tool: &Asked, watch: Watch) -> Result<Box<dyn Tool>, Report> {
    Ok(match tool {
        Asked::Cachetop => Box::new(cachetop::Cachetop::begin(&watch)?),
        Asked::Forks => Box::new(forks::Forks::begin(&watch)?),
        Asked::Funccount { patterns } => Box::new(funccount::Funccount::begin(patterns, &watch)?),
        Asked::Klockstat => Box::new(klockstat::Klockstat::begin(&watch)?),
        Asked::Opensnoop { failed } => Box::new(opensnoop::Opensnoop::begin(*failed, &watch)?),
        Asked::Slabratetop => Box::new(slabratetop::Slabratetop::begin(&watch)?),
        Asked::Bpftrace { script, json } => Box::new(bpftrace::Bpftrace::begin(script, *json, &watch)?),
    })
}

/// A name as the kernel has it: up to its first zero.
fn name(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// The rows with the largest numbers, these first; `key` gives the number of a row, and what orders those with the same.
fn largest<T, N: Ord>(mut rows: Vec<T>, key: impl Fn(&T) -> (u64, N)) -> Vec<T> {
    rows.sort_by_cached_key(|row| {
        let (number, name) = key(row);
        (Reverse(number), name)
    });
    rows.truncate(ROWS_MAX);
    rows
}
