//! Groups of processes and their limits: cgroups(7), version 2.

use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use harness::check::{Checked, broken, equal, fail, fails, holds};
use harness::child::{Child, child, exit, pause_forever};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, pread};
use rustix::process::{Signal, getpid};

use crate::case::{Case, Need};

const CGROUPS: &[Need] = &[Need::Config("CGROUPS")];
const PIDS: &[Need] = &[Need::Config("CGROUP_PIDS")];
const MEMORY: &[Need] = &[Need::Config("MEMCG")];

pub(super) const CASES: &[Case] = &[
    Case::new("cgroup/move", "a process moves by its id in cgroup.procs; its children are born there", moves)
        .needs(CGROUPS)
        .cleanup(remove_groups),
    Case::new(
        "cgroup/populated",
        "cgroup.events: populated follows the processes; rmdir(2) needs none left",
        populated,
    )
    .needs(CGROUPS)
    .cleanup(remove_groups),
    Case::new(
        "cgroup/pids-max",
        "pids.max: fork(2) beyond it gives EAGAIN, which pids.events counts",
        pids_max,
    )
    .needs(PIDS)
    .setup(enable_pids)
    .cleanup(remove_groups),
    Case::new(
        "cgroup/memory-max",
        "memory.max: a process that uses more is killed, and memory.events counts it",
        memory_max,
    )
    .needs(MEMORY)
    .setup(enable_memory)
    .cleanup(remove_groups),
    Case::new("cgroup/freeze", "cgroup.freeze stops the processes of a group and lets them go on", freeze)
        .needs(CGROUPS)
        .cleanup(remove_groups),
    Case::new("cgroup/kill", "cgroup.kill kills the processes of a group and of those below it", kill)
        .needs(CGROUPS)
        .cleanup(remove_groups),
    Case::new("cgroup/inner-processes", "controllers and processes in one group give EBUSY", inner)
        .needs(MEMORY)
        .setup(enable_memory)
        .cleanup(remove_groups),
    Case::new(
        "cgroup/refusals",
        "wrong ids, values and names give ESRCH, EINVAL, ERANGE, EEXIST, EPERM",
        refusals,
    )
    .needs(PIDS)
    .setup(enable_pids)
    .cleanup(remove_groups),
];

const ROOT: &str = "/sys/fs/cgroup";
const TOP: &str = "/sys/fs/cgroup/kiln-case";

/// A group below the root; removed by the clean-up.
pub(super) struct Group(String);

impl Group {
    /// The group of this case.
    pub(super) fn new() -> Checked<Self> {
        fs::create_dir(TOP)?;
        Ok(Self(TOP.to_string()))
    }

    fn below(&self, name: &str) -> Checked<Self> {
        let path = self.file(name);
        fs::create_dir(&path)?;
        Ok(Self(path))
    }

    fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.0)
    }

    fn read(&self, file: &str) -> std::io::Result<String> {
        fs::read_to_string(self.file(file))
    }

    fn write(&self, file: &str, value: &str) -> std::io::Result<()> {
        fs::write(self.file(file), value)
    }

    /// Moves this process into the group.
    pub(super) fn enter(&self) -> std::io::Result<()> {
        self.write("cgroup.procs", "0")
    }

    fn put(&self, process: &Child) -> std::io::Result<()> {
        self.write("cgroup.procs", &process.pid().as_raw_pid().to_string())
    }

    fn remove(&self) -> std::io::Result<()> {
        fs::remove_dir(&self.0)
    }

    /// The number behind `key` in a file of the form `key number`.
    fn counter(&self, file: &str, key: &str) -> Checked<u64> {
        let text = self.read(file)?;
        let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.parse().ok());
        value.map_or_else(|| fail(&format!("{file} has no {key}: {text}")), Ok)
    }

    /// Waits until cgroup.events contains `line`.
    fn wait_for(&self, line: &str) -> Checked {
        let events = open(self.file("cgroup.events"), OFlags::RDONLY, Mode::empty())?;
        let mut buffer = [0; 256];
        loop {
            let size = pread(&events, &mut buffer, 0)?;
            if String::from_utf8_lossy(&buffer[..size]).lines().any(|found| found == line) {
                return Ok(());
            }
            poll(&mut [PollFd::new(&events, PollFlags::PRI)], None)?;
        }
    }
}

fn enable(controller: &str) -> Checked {
    match fs::write(format!("{ROOT}/cgroup.subtree_control"), format!("+{controller}")) {
        Ok(()) => Ok(()),
        Err(error) => broken(&format!("controller {controller} of version 2 is not to be had: {error}")),
    }
}

fn enable_pids() -> Checked {
    enable("pids")
}

fn enable_memory() -> Checked {
    enable("memory")
}

/// Kills what runs in the groups of a case and removes them.
pub(super) fn remove_groups() -> Checked {
    match remove_tree(TOP) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        result => result?,
    }
    for controller in ["-pids", "-memory"] {
        // One that is not there cannot be switched off.
        let _ = fs::write(format!("{ROOT}/cgroup.subtree_control"), controller);
    }
    Ok(())
}

fn remove_tree(path: &str) -> std::io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path().to_string_lossy())?;
        }
    }
    let kill = fs::write(format!("{path}/cgroup.kill"), "1");
    let group = Group(path.to_string());
    kill.and_then(|()| group.wait_for("populated 0").map_err(|_| Errno::IO.into()))
        .and_then(|()| group.remove())
}

fn moves() -> Checked {
    let group = Group::new()?;
    let inner = group.below("inner")?;
    equal("processes of a new group", group.read("cgroup.procs")?, "")?;
    child(|| {
        group.enter()?;
        equal("processes", group.read("cgroup.procs")?, format!("{}\n", getpid().as_raw_pid()))?;
        equal("group of this process", own_group()?, "/kiln-case")?;
        inner.enter()?;
        equal("group after a second move", own_group()?, "/kiln-case/inner")?;
        child(|| equal("group of its child", own_group()?, "/kiln-case/inner"))?.succeeds()
    })?
    .succeeds()?;
    holds("the parent stayed where it was", !own_group()?.starts_with("/kiln-case"))
}

/// The path of this process's group, as /proc/self/cgroup gives it.
pub(super) fn own_group() -> Checked<String> {
    let text = fs::read_to_string("/proc/self/cgroup")?;
    let line = text.lines().find_map(|line| line.strip_prefix("0::"));
    line.map_or_else(|| fail(&format!("no group of version 2 in {text}")), |path| Ok(path.to_string()))
}

fn populated() -> Checked {
    let group = Group::new()?;
    let inner = group.below("inner")?;
    equal("populated when new", group.counter("cgroup.events", "populated")?, 0)?;
    let process = child(|| pause_forever())?;
    inner.put(&process)?;
    equal("populated with a process below", group.counter("cgroup.events", "populated")?, 1)?;
    fails("rmdir with a process", inner.remove(), Errno::BUSY)?;
    fails("rmdir with a group below", group.remove(), Errno::BUSY)?;
    process.kill(Signal::KILL)?;
    group.wait_for("populated 0")?;
    process.wait()?;
    inner.remove()?;
    group.remove()?;
    fails("the removed group", group.read("cgroup.procs"), Errno::NOENT)
}

fn pids_max() -> Checked {
    let group = Group::new()?;
    group.write("pids.max", "3")?;
    equal("limit", group.read("pids.max")?, "3\n")?;
    child(|| {
        group.enter()?;
        let _two = [child(|| pause_forever())?, child(|| pause_forever())?];
        equal("processes", group.read("pids.current")?, "3\n")?;
        fails("one too many", child(|| exit(0)), Errno::AGAIN)?;
        group.write("pids.max", "max")?;
        child(|| exit(0))?.succeeds()
    })?
    .succeeds()?;
    equal("refusals counted", group.counter("pids.events", "max")?, 1)
}

fn memory_max() -> Checked {
    const MIB: usize = 1 << 20;
    let group = Group::new()?;
    group.write("memory.max", &(4 * MIB).to_string())?;
    let use_memory = |size: usize| {
        child(|| {
            group.enter()?;
            std::hint::black_box(vec![1_u8; size]);
            exit(0)
        })
    };
    use_memory(MIB)?.succeeds()?;
    equal("kills after little use", group.counter("memory.events", "oom_kill")?, 0)?;
    let signal = use_memory(12 * MIB)?.wait()?.terminating_signal();
    equal("signal after too much use", signal, Some(libc::SIGKILL))?;
    equal("kills", group.counter("memory.events", "oom_kill")?, 1)?;
    holds("the limit was reached", group.counter("memory.events", "max")? >= 1)?;
    let left = group.read("memory.current")?;
    holds(
        &format!("memory in use is below the limit: {left}"),
        left.trim().parse().is_ok_and(|used: usize| used < 4 * MIB),
    )
}

fn freeze() -> Checked {
    let group = Group::new()?;
    let (reader, writer) = rustix::pipe::pipe()?;
    let process = child(|| {
        rustix::io::read(&reader, &mut [0; 1])?;
        exit(4)
    })?;
    group.put(&process)?;
    group.write("cgroup.freeze", "1")?;
    group.wait_for("frozen 1")?;
    rustix::io::write(&writer, b"!")?;
    // A process that is not frozen reads in this time.
    std::thread::sleep(Duration::from_millis(5));
    equal("bytes that a frozen process left unread", rustix::io::ioctl_fionread(&reader)?, 1)?;
    group.write("cgroup.freeze", "0")?;
    group.wait_for("frozen 0")?;
    equal("exit status after the thaw", process.wait()?.exit_status(), Some(4))?;
    group.write("cgroup.freeze", "1")?;
    let late = child(|| pause_forever())?;
    group.put(&late)?;
    group.wait_for("frozen 1")?;
    late.kill(Signal::KILL)?;
    equal("signal that ends a frozen process", late.wait()?.terminating_signal(), Some(libc::SIGKILL))
}

fn kill() -> Checked {
    let group = Group::new()?;
    let inner = group.below("inner")?;
    let processes = [child(|| pause_forever())?, child(|| pause_forever())?];
    group.put(&processes[0])?;
    inner.put(&processes[1])?;
    let outside = child(|| pause_forever())?;
    group.write("cgroup.kill", "1")?;
    for process in processes {
        equal("signal", process.wait()?.terminating_signal(), Some(libc::SIGKILL))?;
    }
    group.wait_for("populated 0")?;
    rustix::process::test_kill_process(outside.pid())?;
    fails("a value other than 1", group.write("cgroup.kill", "2"), Errno::RANGE)
}

fn inner() -> Checked {
    let group = Group::new()?;
    let below = group.below("inner")?;
    let process = child(|| pause_forever())?;
    group.put(&process)?;
    fails("controllers where processes are", group.write("cgroup.subtree_control", "+memory"), Errno::BUSY)?;
    below.put(&process)?;
    group.write("cgroup.subtree_control", "+memory")?;
    equal("controllers below", below.read("cgroup.controllers")?, "memory\n")?;
    fails("processes where controllers are", group.put(&process), Errno::BUSY)?;
    fails("an unknown controller", group.write("cgroup.subtree_control", "+kiln"), Errno::INVAL)
}

fn refusals() -> Checked {
    let group = Group::new()?;
    let gone = child(|| exit(0))?;
    let pid = gone.pid().as_raw_pid().to_string();
    gone.wait()?;
    fails("a process that is gone", group.write("cgroup.procs", &pid), Errno::SRCH)?;
    fails("a process that is no number", group.write("cgroup.procs", "init"), Errno::INVAL)?;
    fails("a negative limit", group.write("pids.max", "-1"), Errno::INVAL)?;
    fails("freeze with another value", group.write("cgroup.freeze", "2"), Errno::RANGE)?;
    fails("a group that is there", fs::create_dir(TOP), Errno::EXIST)?;
    fails("a new file", fs::write(group.file("file"), ""), Errno::ACCESS)?;
    fails("removal of a file", fs::remove_file(group.file("pids.max")), Errno::PERM)
}
