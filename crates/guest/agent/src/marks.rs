//! What the agent and programs say in a recording: lines in `trace_marker`.

use mark::{Marker, VARIABLE};
use rustix::fd::OwnedFd;

/// Longest path of the file.
const PATH_MAX: usize = 4096;

/// Takes the line with the file from a pipe, for this process and those that it starts.
pub(crate) fn begin(pipe: &OwnedFd) {
    let mut line = [0; PATH_MAX];
    let read = rustix::io::read(pipe, &mut line).unwrap_or_default();
    let path = String::from_utf8_lossy(&line[..read]);
    let path = path.lines().next().unwrap_or_default();
    if !path.is_empty() {
        // SAFETY: this process has one thread.
        unsafe { std::env::set_var(VARIABLE, path) };
    }
}

/// Nothing is recorded any more.
pub(crate) fn end() {
    // SAFETY: this process has one thread.
    unsafe { std::env::remove_var(VARIABLE) };
}

/// Says something, if there is a recording.
pub(crate) fn mark(text: &str) {
    // A recording without it is a recording.
    let _ = Marker::open().map(|marker| marker.mark(text));
}
