//! Pipes and FIFOs: who writes and who reads.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// A pipe: its device and inode.
pub(super) type Pipe = (u64, u64);

/// The processes at both ends of all pipes.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    writers: HashMap<Pipe, Vec<i32>>,
    readers: HashMap<Pipe, Vec<i32>>,
}

impl Pipes {
    /// Adds the ends that a process has.
    pub(super) fn add(&mut self, process: i32) {
        let entries = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        for entry in entries {
            let Some(pipe) = pipe(&entry.path()) else { continue };
            let descriptor = entry.file_name();
            let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{}", descriptor.display()));
            let (reads, writes) = access(&info.unwrap_or_default());
            if reads {
                self.readers.entry(pipe).or_default().push(process);
            }
            if writes {
                self.writers.entry(pipe).or_default().push(process);
            }
        }
    }

    /// The processes that can write into a pipe.
    pub(super) fn writers(&self, pipe: Pipe) -> &[i32] {
        self.writers.get(&pipe).map_or(&[], Vec::as_slice)
    }

    /// The processes that can read from it.
    pub(super) fn readers(&self, pipe: Pipe) -> &[i32] {
        self.readers.get(&pipe).map_or(&[], Vec::as_slice)
    }
}

/// The pipe that a descriptor is.
pub(super) fn of_descriptor(process: i32, descriptor: u64) -> Option<Pipe> {
    pipe(Path::new(&format!("/proc/{process}/fd/{descriptor}")))
}

fn pipe(path: &Path) -> Option<Pipe> {
    let metadata = fs::metadata(path).ok()?;
    metadata.file_type().is_fifo().then(|| (metadata.dev(), metadata.ino()))
}

/// Whether a descriptor is open for reading, and for writing: the flags in proc_pid_fdinfo(5) are octal.
fn access(info: &str) -> (bool, bool) {
    let flags =
        info.lines().find_map(|line| i32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    match flags.map(|flags| flags & libc::O_ACCMODE) {
        Some(libc::O_RDONLY) => (true, false),
        Some(libc::O_WRONLY) => (false, true),
        Some(libc::O_RDWR) => (true, true),
        _ => (false, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_which_end_it_is() {
        assert_eq!(access("pos:\t0\nflags:\t0100000\n"), (true, false));
        assert_eq!(access("flags:\t0100001\n"), (false, true));
        assert_eq!(access("flags:\t02\n"), (true, true));
        assert_eq!(access("nothing"), (false, false));
    }

    #[test]
    fn both_ends_of_a_pipe_are_found() {
        let (_reader, writer) = std::io::pipe().expect("a pipe");
        let me = i32::try_from(std::process::id()).expect("a number");
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&writer);
        let pipe = of_descriptor(me, descriptor.unsigned_abs().into()).expect("a pipe");
        let mut pipes = Pipes::default();
        pipes.add(me);
        assert_eq!((pipes.writers(pipe), pipes.readers(pipe)), (&[me][..], &[me][..]));
    }
}
