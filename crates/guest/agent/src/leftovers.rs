//! Removes what a case left behind, so that it cannot disturb the next one.

use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{WaitOptions, wait};
use rustix::time::Timespec;

use crate::processes::{self, kill_all};

/// The directory in which every case starts.
pub(crate) const TMP: &str = "/tmp";

/// Rounds of killing, a millisecond each; a fork bomb needs several.
const ROUNDS: usize = 1000;

/// Longest name of a leftover, in bytes.
const NAME_MAX: usize = 256;

/// Leftovers that are named one by one.
const NAMED: usize = 20;

/// Mount points of process 1's name space.
pub(crate) fn mounts() -> Vec<String> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(|line| line.split(' ').nth(4)).map(unescape).collect()
}

/// The kernel writes blanks and the like in octal: proc_pid_mountinfo(5).
fn unescape(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(field.to_string(), |text, (from, to)| text.replace(from, to))
}

/// Removes processes, mounts and files of the last run; gives what had to be removed, `names` first.
pub(crate) fn remove(mut names: Vec<String>, mounts_before: &[String]) -> Vec<String> {
    names.extend(remove_processes());
    names.extend(remove_mounts(mounts_before));
    if let Err(error) = empty_tmp() {
        names.push(format!("{TMP} cannot be emptied: {}", harness::check::describe(error)));
    }
    names.truncate(NAMED);
    for name in &mut names {
        name.truncate(name.floor_char_boundary(NAME_MAX));
    }
    names
}

/// A process can fork while the others are killed, so this goes on until nobody is left.
pub(crate) fn remove_processes() -> Vec<String> {
    if !has_children() {
        return Vec::new();
    }
    let mut names: Vec<String> =
        processes::all().iter().map(|process| format!("process {process}")).collect();
    for _ in 0..ROUNDS {
        kill_all();
        // An early return only makes the next round come sooner.
        let _ = rustix::thread::nanosleep(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 });
        if !has_children() {
            return names;
        }
    }
    names.extend(processes::all().iter().map(|process| format!("process {process} cannot be killed")));
    names
}

/// Whether anybody is left: every process of user space descends from this one, and orphans come to
/// it. Takes in those that have ended.
fn has_children() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

fn remove_mounts(before: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    // The last mount first, since mounts can lie inside each other.
    for place in mounts().iter().rev().filter(|place| !before.contains(place)) {
        names.push(match unmount(place.as_str(), UnmountFlags::DETACH) {
            Ok(()) => format!("mount {place}"),
            Err(error) => format!("mount {place} cannot be removed: {}", harness::check::describe(error)),
        });
    }
    names
}

/// Removes the files in [`TMP`]; where they resist, the whole file system is exchanged, which takes a
/// hundred times as long.
fn empty_tmp() -> Result<(), Errno> {
    if is_emptied(Path::new(TMP)).is_ok() {
        return Ok(());
    }
    unmount(TMP, UnmountFlags::DETACH)?;
    mount("tmpfs", TMP, "tmpfs", MountFlags::empty(), c"mode=1777,size=50%")
}

fn is_emptied(directory: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let is_directory = entry.file_type()?.is_dir();
        let remove =
            if is_directory { std::fs::remove_dir_all::<&Path> } else { std::fs::remove_file::<&Path> };
        remove(&entry.path())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_with_a_blank_is_read() {
        assert_eq!(unescape("/mnt/a\\040b\\134c"), "/mnt/a b\\c");
    }
}
