//! Locks of files: flock(2) and fcntl(2).

use std::fmt;
use std::fs;

/// A lock of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLock {
    /// What made it, as the kernel calls it: FLOCK, POSIX, OFDLCK, LEASE.
    pub kind: String,
    /// READ or WRITE.
    pub mode: String,
    /// The device of the file, major:minor in hexadecimal, and its inode.
    pub file: String,
    /// The bytes that are locked, such as 0-EOF.
    pub range: String,
}

impl fmt::Display for FileLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, mode, file, range } = self;
        write!(f, "{kind} {mode} lock of file {file}, bytes {range}")
    }
}

/// A line of `/proc/locks`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Those that wait for a lock have its number.
    pub(super) number: u64,
    pub(super) is_waiting: bool,
    pub(super) process: i32,
    pub(super) lock: FileLock,
}

/// All locks, and who waits for them.
pub(super) fn all() -> Vec<Entry> {
    fs::read_to_string("/proc/locks").unwrap_or_default().lines().filter_map(parse).collect()
}

/// The format is in proc_locks(5). One that is waited for is not marked; one that waits has arrows after the number.
fn parse(line: &str) -> Option<Entry> {
    let mut words = line.split_ascii_whitespace();
    let number = words.next()?.strip_suffix(':')?.parse().ok()?;
    let mut words = words.peekable();
    let is_waiting = words.next_if_eq(&"->").is_some();
    let [kind, _, mode, process, file, first, last] = [(); 7].map(|()| words.next().unwrap_or_default());
    let lock = FileLock {
        kind: kind.to_owned(),
        mode: mode.to_owned(),
        file: file.to_owned(),
        range: format!("{first}-{last}"),
    };
    Some(Entry { number, is_waiting, process: process.parse().ok()?, lock })
}

/// The lock for which a process waits, and who has it.
pub(super) fn awaited(entries: &[Entry], process: i32) -> Option<(FileLock, i32)> {
    let waiting = entries.iter().find(|entry| entry.is_waiting && entry.process == process)?;
    let holder = entries.iter().find(|entry| !entry.is_waiting && entry.number == waiting.number)?;
    Some((waiting.lock.clone(), holder.process))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKS: &str = "\
1: FLOCK  ADVISORY  WRITE 811 08:01:1234 0 EOF
1: -> FLOCK  ADVISORY  WRITE 812 08:01:1234 0 EOF
2: POSIX  ADVISORY  READ  813 00:19:77 0 9
3: OFDLCK ADVISORY  WRITE -1 00:19:78 0 0
lies
4:
";

    #[test]
    fn who_waits_for_a_lock_has_its_number() {
        let entries: Vec<_> = LOCKS.lines().filter_map(parse).collect();
        assert_eq!(entries.len(), 4);
        let (lock, holder) = awaited(&entries, 812).expect("812 waits");
        assert_eq!(holder, 811);
        assert_eq!(lock.to_string(), "FLOCK WRITE lock of file 08:01:1234, bytes 0-EOF");
        assert_eq!(awaited(&entries, 813), None);
    }
}
