//! Compares two recordings.

use anyhow::Result;
use report::trace::differences;
use viewer::{Differences, Work, look};

use super::kept;
use crate::cli::TraceDiff;
use crate::listeners::document;

/// Shows what is different and gives the exit code.
pub(super) fn diff(args: &TraceDiff) -> Result<u8> {
    let (first, second) = (work(args, &args.first)?, work(args, &args.second)?);
    let found = Differences::new(&first, &second);
    document(args.json, || differences::text(&found), || differences::json(&found))?;
    Ok(0)
}

fn work(args: &TraceDiff, name: &str) -> Result<Work> {
    let trace = kept::open(name)?;
    let mut work = Work::default();
    kept::report(look(&trace, args.filter.as_ref(), &mut work)?);
    Ok(work)
}
