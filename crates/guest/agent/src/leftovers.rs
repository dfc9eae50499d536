//! Removes what a case left behind, so that it cannot disturb the next one.

use std::path::Path;

use protocol::Leftover;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{WaitOptions, wait};
use rustix::time::Timespec;

use crate::processes::{self, kill_all};
use crate::root;

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

/// Removes processes, mounts and files of the last run; gives what had to be removed, with `removed` before.
pub(crate) fn remove(removed: Vec<Leftover>, mounts_before: &[String]) -> Vec<Leftover> {
    let mut all = removed;
    all.extend(remove_processes());
    all.extend(remove_mounts(mounts_before));
    if !root::has_services()
        && let Err(error) = empty_tmp()
    {
        all.push(stuck(TMP.to_string(), format!("cannot be emptied: {}", harness::check::describe(error))));
    }
    bounded(all)
}

/// As many as are named, what is still there before the rest: the host gives up a machine that holds such.
fn bounded(mut all: Vec<Leftover>) -> Vec<Leftover> {
    all.sort_by_key(|leftover| leftover.stuck.is_none());
    all.truncate(NAMED);
    for Leftover { name, .. } in &mut all {
        name.truncate(name.floor_char_boundary(NAME_MAX));
    }
    all
}

fn gone(name: String) -> Leftover {
    Leftover { name, stuck: None }
}

fn stuck(name: String, why: String) -> Leftover {
    Leftover { name, stuck: Some(why) }
}

/// A process can fork while the others are killed, so this goes on until nobody is left. The services of a root stay, and
/// with them what a program has left to their init.
pub(crate) fn remove_processes() -> Vec<Leftover> {
    if root::has_services() || !has_children() {
        return Vec::new();
    }
    let names = || processes::all().into_iter().map(|process| format!("process {process}"));
    let found: Vec<Leftover> = names().map(gone).collect();
    for _ in 0..ROUNDS {
        kill_all();
        // An early return only makes the next round come sooner.
        let _ = rustix::thread::nanosleep(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 });
        if !has_children() {
            return found;
        }
    }
    names().map(|name| stuck(name, "cannot be killed".to_string())).collect()
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

fn remove_mounts(before: &[String]) -> Vec<Leftover> {
    let mut found = Vec::new();
    // The last mount first, since mounts can lie inside each other.
    for place in mounts().iter().rev().filter(|place| !before.contains(place)) {
        let name = format!("mount {place}");
        found.push(match unmount(place.as_str(), UnmountFlags::DETACH) {
            Ok(()) => gone(name),
            Err(error) => stuck(name, format!("cannot be removed: {}", harness::check::describe(error))),
        });
    }
    found
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
    fn what_is_still_there_is_named_however_much_was_removed() {
        let mut all: Vec<Leftover> = (0..2 * NAMED).map(|number| gone(format!("process {number}"))).collect();
        all.push(stuck("x".repeat(2 * NAME_MAX), "cannot be killed".to_string()));
        let named = bounded(all);
        assert_eq!(
            (named.len(), named[0].name.len(), named[1].name.as_str()),
            (NAMED, NAME_MAX, "process 0")
        );
        assert_eq!(named[0].stuck.as_deref(), Some("cannot be killed"));
    }

    #[test]
    fn a_mount_point_with_a_blank_is_read() {
        assert_eq!(unescape("/mnt/a\\040b\\134c"), "/mnt/a b\\c");
    }
}
