//! Marks of a program in a recording of `kiln trace`, among the events of the kernel.
//!
//! A mark is in the kernel when [`Marker::mark`] returns: it stays if the program is killed. It costs a write(2).

use std::fs::File;
use std::io::{self, Write};

/// The variable that names the file for marks: `trace_marker` of Documentation/trace/ftrace.rst. It is set while kiln records.
pub const VARIABLE: &str = "KILN_TRACE_MARKER";

/// Where marks go.
#[derive(Debug)]
pub struct Marker(File);

impl Marker {
    /// That of the recording; nothing if there is none, or this program may not write there.
    #[must_use]
    pub fn open() -> Option<Self> {
        let path = std::env::var_os(VARIABLE)?;
        File::options().write(true).open(path).ok().map(Self)
    }

    /// Makes a mark. Older kernels cut it after a page with its head, newer ones after several.
    ///
    /// # Errors
    ///
    /// When the recording is over.
    pub fn mark(&self, text: &str) -> io::Result<()> {
        // In pieces it would be several marks.
        (&self.0).write(text.as_bytes()).map(drop)
    }
}
