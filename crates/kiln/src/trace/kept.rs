//! Traces that were recorded.

use std::path::{Path, PathBuf};

use anyhow::Result;
use ctf::Trace;

use super::record::TRACE;
use crate::failure::{WrongUsage, complain};

/// The file that makes a folder a trace.
const METADATA: &str = "metadata";

/// Opens a trace by its folder or its name, and reports what is missing in it.
pub(super) fn open(text: &str) -> Result<Trace> {
    let trace = Trace::open(&folder(text)?)?;
    if trace.lost() > 0 {
        complain(&format!("{} events were lost", trace.lost()));
    }
    Ok(trace)
}

/// Reports packets that could not be read.
pub(super) fn report(damage: u64) {
    if damage > 0 {
        complain(&format!("{damage} packets of the trace are damaged: some events are missing"));
    }
}

/// The folder of a trace: one itself, one with a recording, or one that kiln keeps.
fn folder(text: &str) -> Result<PathBuf> {
    let inside = |path: &Path| {
        [path.to_owned(), path.join(TRACE)].into_iter().find(|path| path.join(METADATA).is_file())
    };
    if Path::new(text).is_dir() {
        let found = inside(Path::new(text));
        return Ok(found.ok_or_else(|| WrongUsage(format!("{text}: there is no trace in this folder")))?);
    }
    let found = ledger::folder_named(&ledger::traces_root(), text, ("trace", TRACE))?;
    Ok(found.join(TRACE))
}
