//! Programs that cannot be executed.

use std::io::{Error, ErrorKind};
use std::path::Path;

use crate::check::{Checked, broken};

/// Ends the work as broken: a program cannot be executed, which says nothing about the kernel.
///
/// # Errors
///
/// Always.
pub fn not_executed<T>(program: &str, error: &Error) -> Checked<T> {
    broken(&format!("cannot execute {program}: {}", why_not(program, error)))
}

/// Why a program was not executed: the kernel reports a missing interpreter as it does a missing program.
fn why_not(program: &str, error: &Error) -> String {
    let is_there = error.kind() == ErrorKind::NotFound && Path::new(program).is_file();
    let first = is_there.then(|| std::fs::read(program).unwrap_or_default());
    match first.as_deref().map(|content| content.strip_prefix(b"#!")) {
        None => error.to_string(),
        Some(None) => "there is no dynamic loader for it".to_string(),
        Some(Some(line)) => {
            let line = String::from_utf8_lossy(&line[..line.len().min(256)]).into_owned();
            format!("there is no {}", line.split_whitespace().next().unwrap_or_default())
        }
    }
}
