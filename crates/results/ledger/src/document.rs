//! Writes a JSON document so that it is there as a whole or not at all.

use std::io;
use std::path::Path;

use serde::Serialize;

/// Writes `value` to `path`.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    host::write_atomically(path, &bytes)
}
