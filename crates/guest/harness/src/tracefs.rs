//! A trace of one's own: Documentation/trace/ftrace.rst.
//!
//! An instance does not disturb any other user of tracefs. It ends with its process, also if that is killed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::results::cut;
use rustix::fd::OwnedFd;
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use rustix::thread::UnshareFlags;

use crate::check::Checked;
use crate::child::{Child, child};
use crate::storage::{detached, path_of, private_mounts};
use crate::sys::{block, fetch, unshare};

/// Where tracefs is mounted, if it is.
const TRACEFS: &str = "/sys/kernel/tracing";

/// Bytes of an error at most.
const TEXT_MAX: usize = 300;

/// An instance is busy until the last file of a process that was killed is closed: so often and so long it is tried.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// An instance, which is removed when this is dropped.
#[derive(Debug)]
pub struct Instance {
    directory: PathBuf,
    /// Removes it if this process is killed.
    janitor: Option<Child>,
    /// A mount that nobody else sees.
    _mount: Option<OwnedFd>,
}

impl Instance {
    /// A new instance called `prefix` with the number of this process behind it. It does not trace yet. What processes
    /// that were killed have left with this prefix is removed.
    ///
    /// This process must have one thread.
    ///
    /// # Errors
    ///
    /// Why there can be none, in one line.
    pub fn new(prefix: &str) -> Result<Self, String> {
        let (root, mount) = root()?;
        let instances = root.join("instances");
        remove_stale(&instances, prefix);
        let directory = instances.join(format!("{prefix}{}", std::process::id()));
        fs::create_dir(&directory).map_err(|error| failed("instances", &error))?;
        let mut instance = Self { directory, janitor: None, _mount: mount };
        instance.write("tracing_on", "0")?;
        let (parent, path) = (getpid(), instance.directory.clone());
        instance.janitor =
            Some(child(|| clean_up_after(parent, &path)).map_err(|error| format!("no trace: {error}"))?);
        Ok(instance)
    }

    /// Where a file of the instance is.
    #[must_use]
    pub fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// Whether it has this file.
    #[must_use]
    pub fn has(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    /// Writes to a file of the instance.
    ///
    /// # Errors
    ///
    /// With the name of the file.
    pub fn write(&self, file: &str, text: &str) -> Result<(), String> {
        fs::write(self.path(file), text).map_err(|error| failed(file, &error))
    }

    /// Adds to a file of the instance, which is a list.
    ///
    /// # Errors
    ///
    /// With the name of the file.
    pub fn append(&self, file: &str, text: &str) -> Result<(), String> {
        let opened = File::options().append(true).open(self.path(file));
        opened.and_then(|mut opened| opened.write_all(text.as_bytes())).map_err(|error| failed(file, &error))
    }

    /// Switches an event on, such as `sched/sched_switch`.
    ///
    /// # Errors
    ///
    /// When the kernel does not have it.
    pub fn enable(&self, event: &str) -> Result<(), String> {
        self.write(&format!("events/{event}/enable"), "1")
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // What stays is removed by the next one.
        let _ = remove(&self.directory);
    }
}

/// Says which file of an instance failed, in one line.
#[must_use]
pub fn failed(file: &str, error: &io::Error) -> String {
    cut(&format!("no trace: tracefs: {file}: {error}"), TEXT_MAX).to_owned()
}

/// Mounts tracefs where programs look for it, for this process and those that it starts, unless it is there. Only system calls are made, as
/// between fork(2) and execve(2).
///
/// # Errors
///
/// As unshare(2) and mount(2) say.
pub fn mount_for_programs() -> Result<(), Errno> {
    let is_there = |events: &str| access(events, Access::EXISTS).is_ok();
    if is_there("/sys/kernel/tracing/events") || is_there("/sys/kernel/debug/tracing/events") {
        return Ok(());
    }
    unshare(UnshareFlags::NEWNS)?;
    private_mounts()?;
    mount("tracefs", TRACEFS, "tracefs", MountFlags::empty(), None)
}

/// The number by which perf_event_open(2) knows a tracepoint.
///
/// # Errors
///
/// Why there is none, in one line.
pub fn tracepoint(system: &str, event: &str) -> Result<u64, String> {
    let text = file_of(system, event, "id")?;
    text.trim().parse().map_err(|_| "its id is no number".to_owned())
}

/// Where the record of a tracepoint has a field.
///
/// # Errors
///
/// Why it has none, in one line.
pub fn field(system: &str, event: &str, name: &str) -> Result<u32, String> {
    let format = file_of(system, event, "format")?;
    offset(&format, name).ok_or_else(|| format!("{system}:{event} of this kernel has no field {name}"))
}

/// Of lines such as `field:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;`.
fn offset(format: &str, name: &str) -> Option<u32> {
    let offset = |line: &str| {
        let mut parts = line.trim().split(';').map(str::trim);
        let declared = parts.next()?.strip_prefix("field:")?.split_ascii_whitespace().next_back()?;
        let declared = declared.split('[').next().filter(|declared| *declared == name);
        declared.and(parts.next()?.strip_prefix("offset:")?.parse().ok())
    };
    format.lines().find_map(offset)
}

/// A file that describes a tracepoint.
fn file_of(system: &str, event: &str, file: &str) -> Result<String, String> {
    let (root, _mount) = root()?;
    let path = root.join("events").join(system).join(event).join(file);
    fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "this kernel has no such tracepoint".to_owned(),
        _ => failed("events", &error),
    })
}

/// Where tracefs can be used: where it is mounted, or a mount that only this process has.
fn root() -> Result<(PathBuf, Option<OwnedFd>), String> {
    let mounted = Path::new(TRACEFS);
    if fs::read_dir(mounted.join("instances")).is_ok() {
        return Ok((mounted.to_owned(), None));
    }
    let mount = detached("tracefs").map_err(|error| match error {
        Errno::PERM | Errno::ACCESS => {
            "no trace: it needs root (CAP_SYS_ADMIN), or rights for /sys/kernel/tracing".to_owned()
        }
        Errno::NODEV => "no trace: the kernel has no tracefs (CONFIG_TRACING)".to_owned(),
        error => format!("no trace: tracefs: {}", io::Error::from(error)),
    })?;
    Ok((path_of(&mount), Some(mount)))
}

/// Waits until `parent` dies, and removes what it has left.
fn clean_up_after(parent: Pid, directory: &Path) -> Checked {
    // What is sent to the group of the parent is not meant for this process.
    setsid()?;
    block(&[libc::SIGTERM])?;
    set_parent_process_death_signal(Some(Signal::TERM))?;
    while getppid() == Some(parent) {
        fetch(&[libc::SIGTERM])?;
    }
    for _ in 0..TRIES {
        if remove(directory).is_ok() {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

fn remove(directory: &Path) -> io::Result<()> {
    // An instance that traces is removed, too; but a trace that has ended takes nobody's time.
    let _ = fs::write(directory.join("tracing_on"), "0");
    fs::remove_dir(directory)
}

/// Removes what others have left that were killed.
fn remove_stale(instances: &Path, prefix: &str) {
    let names = fs::read_dir(instances).into_iter().flatten().flatten().map(|entry| entry.file_name());
    for name in
        names.filter(|name| owner(&name.to_string_lossy(), prefix).is_some_and(|owner| !owner.exists()))
    {
        // Somebody else may have done it.
        let _ = remove(&instances.join(name));
    }
}

/// Where the process is that an instance belongs to, if it has this prefix.
fn owner(name: &str, prefix: &str) -> Option<PathBuf> {
    let number: u32 = name.strip_prefix(prefix)?.parse().ok()?;
    Some(Path::new("/proc").join(number.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_instances_of_ours_have_an_owner() {
        let owner = |name| owner(name, "kiln-latency-");
        assert_eq!(owner("kiln-latency-17"), Some(PathBuf::from("/proc/17")));
        for name in ["kiln-latency-", "kiln-latency-x", "rasdaemon", "kiln-latency-../1"] {
            assert_eq!(owner(name), None, "{name}");
        }
    }

    #[test]
    fn a_field_is_where_its_format_says() {
        let format = "name: task_newtask\nID: 116\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
                      \tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n\
                      \tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n\nprint fmt: \"pid=%d\", REC->pid\n";
        let offset = |name| offset(format, name);
        assert_eq!([offset("comm"), offset("clone_flags"), offset("flags")], [Some(12), Some(32), None]);
        assert_eq!(super::offset("field:;offset;\nfield:int x;\noffset:1;", "x"), None);
    }

    #[test]
    fn an_instance_leaves_nothing_behind_or_says_why_there_is_none() {
        match Instance::new("kiln-harness-test-") {
            Ok(instance) => {
                let directory = instance.directory.clone();
                assert!(instance.has("trace") && directory.exists());
                // The mount lives as long as the instance: look through another one.
                let (root, _mount) = root().expect("it worked before");
                let name = directory.file_name().expect("it has a name");
                drop(instance);
                assert!(!root.join("instances").join(name).exists());
            }
            Err(why) => assert!(why.starts_with("no trace: "), "{why}"),
        }
    }
}
