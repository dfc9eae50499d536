//! What outlives processes: counted before and after.

use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};
use std::os::unix::fs::MetadataExt;

use protocol::Leftover;
use protocol::stress::report::LEFTOVERS_MAX;
use rustix::process::geteuid;

/// Names of what is there now: System V ids and files in memory of this user, message queues, mounts, swap areas,
/// interfaces, attached loop devices.
pub(crate) fn present() -> BTreeSet<String> {
    let label = |what: &'static str| move |name: String| format!("{what} {name}");
    let mut all: BTreeSet<String> = sysv().collect();
    all.extend(mounts().into_iter().map(label("mount")));
    all.extend(swaps().into_iter().map(label("swap area")));
    all.extend(own_entries("/dev/shm").map(label("shared memory")));
    all.extend(own_entries("/dev/mqueue").map(label("message queue")));
    all.extend(entries("/sys/class/net").map(label("interface")));
    let is_attached = |name: &String| {
        name.starts_with("loop") && std::path::Path::new("/sys/block").join(name).join("loop").exists()
    };
    all.extend(entries("/sys/block").filter(is_attached).map(label("loop device")));
    all
}

/// What is there now and was not before.
pub(crate) fn since(before: &BTreeSet<String>) -> Vec<Leftover> {
    let new = present().into_iter().filter(|name| !before.contains(name));
    new.take(LEFTOVERS_MAX).map(|name| Leftover { name, stuck: Some("is still there".to_string()) }).collect()
}

/// Mount points that this process sees: proc_pid_mountinfo(5).
pub(crate) fn mounts() -> Vec<String> {
    let text = read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(|line| line.split(' ').nth(4)).map(str::to_string).collect()
}

/// Swap areas that are in use: proc_swaps(5).
pub(crate) fn swaps() -> Vec<String> {
    let text = read_to_string("/proc/swaps").unwrap_or_default();
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(str::to_string).collect()
}

/// Message queues, semaphore sets and shared memory of this user: sysvipc(7).
fn sysv() -> impl Iterator<Item = String> {
    let kinds = [("msg", "message queue"), ("sem", "semaphore set"), ("shm", "shared memory")];
    kinds.into_iter().flat_map(|(file, name)| {
        let text = read_to_string(format!("/proc/sysvipc/{file}")).unwrap_or_default();
        own_ids(&text).into_iter().map(move |id| format!("System V {name} {id}"))
    })
}

/// The second column is the id; the one called `uid` names the owner.
fn own_ids(table: &str) -> Vec<String> {
    let own = geteuid().as_raw().to_string();
    let mut lines = table.lines();
    let owner = lines.next().and_then(|head| head.split_whitespace().position(|name| name == "uid"));
    let is_own = |fields: &Vec<&str>| owner.is_some_and(|at| fields.get(at) == Some(&own.as_str()));
    let fields = lines.map(|line| line.split_whitespace().collect::<Vec<_>>()).filter(is_own);
    fields.filter_map(|fields| fields.get(1).map(ToString::to_string)).collect()
}

fn entries(directory: &str) -> impl Iterator<Item = String> + use<> {
    let entries = read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

fn own_entries(directory: &str) -> impl Iterator<Item = String> + use<> {
    let own = geteuid().as_raw();
    let is_own =
        move |entry: &std::fs::DirEntry| entry.metadata().is_ok_and(|metadata| metadata.uid() == own);
    let entries = read_dir(directory).into_iter().flatten().flatten();
    entries.filter(is_own).map(|entry| entry.file_name().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_this_user_are_read_from_the_table() {
        let own = geteuid().as_raw();
        let other = own.wrapping_add(1);
        let table = format!(
            "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid\n\
             0          3   600           0          0     0     0  {own}     0     0\n\
             0          4   600           0          0     0     0  {other}     0     0\n\nodd"
        );
        assert_eq!(own_ids(&table), ["3"]);
        assert!(own_ids("").is_empty());
    }

    #[test]
    fn what_was_there_before_is_no_leftover() {
        let mut before = present();
        assert!(before.iter().any(|name| name == "mount /"), "{before:?}");
        before.remove("mount /");
        let names: Vec<String> = since(&before).into_iter().map(|leftover| leftover.name).collect();
        assert!(names.contains(&"mount /".to_string()), "{names:?}");
    }
}
