//! Programs of PyPI that read what kiln writes.

use std::path::Path;
use std::process::Command;

use super::text;

/// Runs a program of Python with the packages that `scripts/setup proof` installs, and gives what it prints.
pub(crate) fn python(program: &str, file: &Path) -> String {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/readers/bin/python");
    let done = Command::new(python).args(["-c", program, text(file)]).output();
    let done = done.unwrap_or_else(|error| panic!("{python}: {error}: run scripts/setup proof"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
