//! The loop of somebody who edits a reproducer and runs it: another program each time, in a machine that is kept.

use std::cell::Cell;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::compiler::compile;
use crate::kiln::Kiln;

const SOURCE: &str = "int main(void) { return 0; }\n";

/// A program that is never the same twice.
pub(crate) struct Reproducer {
    directory: TempDir,
    program: Vec<u8>,
    edits: Cell<u64>,
}

impl Reproducer {
    pub(crate) fn new() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let program = std::fs::read(compile(directory.path(), "reproducer", SOURCE, &[])?)?;
        Ok(Self { directory, program, edits: Cell::new(0) })
    }

    /// Changes it and runs it. Bytes behind the end of an ELF file change nothing but what it is.
    pub(crate) fn edit_and_run(&self, kiln: &Kiln) -> Result<()> {
        let edits = self.edits.get() + 1;
        self.edits.set(edits);
        let path = self.directory.path().join("reproducer");
        std::fs::write(&path, [self.program.as_slice(), &edits.to_le_bytes()].concat())?;
        kiln.run(&["--exec", path.to_str().context("a path that is text")?])
    }
}
