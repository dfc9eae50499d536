//! Worlds of their own for processes: namespaces(7), unshare(2), setns(2).

use std::fs::{self, File};

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::child::{child, exit, pause_forever, unprivileged};
use harness::storage::{mount, own_mounts, private_mounts};
use harness::sys::{call, unshare};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Gid, Uid};
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect};
use rustix::process::{Pid, Signal, getgid, getpid, getppid, getuid};
use rustix::thread::{
    CapabilitySet, LinkNameSpaceType, UnshareFlags, capabilities, move_into_link_name_space,
};
use rustix::time::{ClockId, clock_gettime};

use super::cgroup::{Group, own_group, remove_groups};
use crate::case::{Case, Need};

pub(super) const CASES: &[Case] = &[
    Case::new("namespace/mount", "CLONE_NEWNS: mounts made inside are not seen outside", mounts)
        .needs(&[Need::Config("NAMESPACES")]),
    Case::new("namespace/uts", "CLONE_NEWUTS: sethostname(2) inside changes nothing outside", uts)
        .needs(&[Need::Config("UTS_NS")]),
    Case::new("namespace/ipc", "CLONE_NEWIPC: message queues are visible only where they were made", ipc)
        .needs(&[Need::Config("IPC_NS"), Need::Config("SYSVIPC")]),
    Case::new("namespace/net", "CLONE_NEWNET: its own abstract socket names and interfaces", network)
        .needs(&[Need::Config("NET_NS")]),
    Case::new("namespace/pid", "CLONE_NEWPID: the first child is process 1; with it end all others", pid)
        .needs(&[Need::Config("PID_NS")]),
    Case::new(
        "namespace/user",
        "CLONE_NEWUSER: ids by uid_map and gid_map, written once; full rights inside",
        user,
    )
    .needs(&[Need::Config("USER_NS")]),
    Case::new(
        "namespace/user-rights",
        "rights in a user namespace do not reach what is outside",
        user_rights,
    )
    .needs(&[Need::Config("USER_NS"), Need::Config("UTS_NS")]),
    Case::new("namespace/cgroup", "CLONE_NEWCGROUP: the own cgroup becomes the root of all paths", cgroup)
        .needs(&[Need::Config("CGROUPS")])
        .cleanup(remove_groups),
    Case::new("namespace/time", "CLONE_NEWTIME: clocks of children are shifted by timens_offsets", time)
        .needs(&[Need::Config("TIME_NS")]),
    Case::new("namespace/refusals", "setns(2) and unshare(2) give EINVAL and EPERM", refusals)
        .needs(&[Need::Config("UTS_NS"), Need::Config("USER_NS")]),
];

/// A namespace of this process, by its name in /proc/self/ns.
fn own(kind: &str) -> Checked<OwnedFd> {
    Ok(File::open(format!("/proc/self/ns/{kind}"))?.into())
}

fn identity(kind: &str) -> Checked<String> {
    Ok(fs::read_link(format!("/proc/self/ns/{kind}"))?.to_string_lossy().into_owned())
}

fn enter(namespace: impl AsFd) -> Result<(), Errno> {
    move_into_link_name_space(namespace.as_fd(), None)
}

/// Makes a new namespace and runs `inside` in it, then `outside` in the old one.
fn there_and_back<T>(
    kind: &str,
    flag: UnshareFlags,
    inside: impl FnOnce() -> Checked<T>,
    outside: impl FnOnce(T) -> Checked,
) -> Checked {
    let (old, old_identity) = (own(kind)?, identity(kind)?);
    unshare(flag)?;
    let (new, new_identity) = (own(kind)?, identity(kind)?);
    holds(
        &format!("{new_identity} inside differs from {old_identity} outside"),
        new_identity != old_identity,
    )?;
    let made = inside()?;
    enter(&old)?;
    equal("identity outside", identity(kind)?, old_identity)?;
    outside(made)?;
    enter(&new)?;
    equal("identity inside, entered again", identity(kind)?, new_identity)
}

fn mounts() -> Checked {
    let inside = || {
        private_mounts()?;
        mount("none", "/tmp/mounted", "tmpfs", MountFlags::empty(), "")?;
        fs::write("/tmp/mounted/file", "")?;
        Ok(())
    };
    there_and_back("mnt", UnshareFlags::NEWNS, inside, |()| {
        holds("the directory is seen outside", fs::exists("/tmp/mounted")?)?;
        fails("the file in the mount", fs::metadata("/tmp/mounted/file"), Errno::NOENT)
    })?;
    holds("the file is seen inside", fs::exists("/tmp/mounted/file")?)
}

fn uts() -> Checked {
    let name = || rustix::system::uname().nodename().to_owned();
    let before = name();
    let inside = || {
        equal("name when new", name(), before.clone())?;
        rustix::system::sethostname(b"kiln-inside")?;
        equal("name inside", fs::read_to_string("/proc/sys/kernel/hostname")?, "kiln-inside\n")
    };
    there_and_back("uts", UnshareFlags::NEWUTS, inside, |()| equal("name outside", name(), before.clone()))
}

fn ipc() -> Checked {
    const KEY: usize = 0x6b69_6c6e;
    // SAFETY: the call takes numbers only.
    let queue = |flags: i32| unsafe { call(libc::SYS_msgget, [KEY, flags.unsigned_abs() as usize]) };
    let inside = || {
        queue(libc::IPC_CREAT | libc::IPC_EXCL | 0o600)?;
        fails("make it again", queue(libc::IPC_CREAT | libc::IPC_EXCL), Errno::EXIST)
    };
    there_and_back("ipc", UnshareFlags::NEWIPC, inside, |()| fails("find it outside", queue(0), Errno::NOENT))
}

fn network() -> Checked {
    let address = SocketAddrUnix::new_abstract_name(b"kiln-namespace")?;
    let socket = || rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None);
    let inside = || {
        let listener = socket()?;
        bind(&listener, &address)?;
        rustix::net::listen(&listener, 1)?;
        connect(socket()?, &address)?;
        fails("a second socket of that name", bind(socket()?, &address), Errno::ADDRINUSE)?;
        own_mounts()?;
        mount("none", "/tmp/sys", "sysfs", MountFlags::empty(), "")?;
        equal("interfaces inside", fs::read_dir("/tmp/sys/class/net")?.count(), 1)?;
        Ok(listener)
    };
    there_and_back("net", UnshareFlags::NEWNET, inside, |_listener| {
        fails("connect from outside", connect(socket()?, &address), Errno::CONNREFUSED)?;
        Ok(bind(socket()?, &address)?)
    })
}

fn pid() -> Checked {
    let before = identity("pid_for_children")?;
    unshare(UnshareFlags::NEWPID)?;
    holds("this process stays", identity("pid")? == before)?;
    let first = child(|| {
        equal("own id of the first child", getpid(), Pid::INIT)?;
        equal("id of its parent, who is outside", getppid(), None)?;
        pause_forever()
    })?;
    child(|| equal("own id of the second child", getpid().as_raw_pid(), 2))?.succeeds()?;
    let doomed = child(|| pause_forever())?;
    holds("its id outside is another", first.pid() != Pid::INIT)?;
    let inside = fs::read_link(format!("/proc/{}/ns/pid", doomed.pid().as_raw_pid()))?;
    equal("its namespace", inside.to_string_lossy().into_owned(), identity("pid_for_children")?)?;
    first.kill(Signal::KILL)?;
    // Process 1 cannot be reaped before all others of its namespace are.
    equal("signal that ended the other", doomed.wait()?.terminating_signal(), Some(libc::SIGKILL))?;
    equal("signal that ended process 1", first.wait()?.terminating_signal(), Some(libc::SIGKILL))?;
    fails("fork without process 1", child(|| exit(0)), Errno::NOMEM)
}

/// A child in a user namespace of its own, in which root outside is user 1000 and group 2000.
fn in_user_namespace(body: impl FnOnce() -> Checked) -> Checked {
    child(|| {
        unshare(UnshareFlags::NEWUSER)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", "1000 0 1")?;
        fs::write("/proc/self/gid_map", "2000 0 1")?;
        body()
    })?
    .succeeds()
}

fn user() -> Checked {
    fs::write("file", "")?;
    let overflow = fs::read_to_string("/proc/sys/kernel/overflowuid")?;
    child(|| {
        unshare(UnshareFlags::NEWUSER)?;
        equal("user without a map", getuid().as_raw().to_string(), overflow.trim_end())?;
        fails("a map that is no numbers", fs::write("/proc/self/uid_map", "0 5 5 x"), Errno::INVAL)
    })?
    .succeeds()?;
    in_user_namespace(|| {
        equal("user and group", (getuid(), getgid()), (Uid::from_raw(1000), Gid::from_raw(2000)))?;
        equal("owner of a file of root", rustix::fs::stat("file")?.st_uid, 1000)?;
        fails("a second map", fs::write("/proc/self/uid_map", "0 0 1"), Errno::PERM)?;
        fails("setgroups when denied", rustix::thread::set_thread_groups(&[]), Errno::PERM)?;
        let unmapped = rustix::fs::chown("file", Some(Uid::from_raw(1)), None);
        fails("chown to a user without a map", unmapped, Errno::INVAL)?;
        holds("all rights inside", capabilities(None)?.effective.contains(CapabilitySet::SYS_ADMIN))
    })
}

fn user_rights() -> Checked {
    in_user_namespace(|| {
        fails("name of the host outside", rustix::system::sethostname(b"kiln"), Errno::PERM)?;
        let tmpfs = || mount("none", "mounted", "tmpfs", MountFlags::empty(), "");
        fails("mount in the mount namespace outside", tmpfs(), Errno::PERM)?;
        unshare(UnshareFlags::NEWUTS | UnshareFlags::NEWNS)?;
        rustix::system::sethostname(b"kiln-inside")?;
        equal("name of the own host", rustix::system::uname().nodename(), c"kiln-inside")?;
        tmpfs()?;
        fs::write("mounted/file", "")?;
        let root = rustix::fs::stat("mounted/file")?;
        equal("owner of a file on the own mount", root.st_uid, 1000)?;
        let devices = mount("none", "devices", "devtmpfs", MountFlags::empty(), "");
        fails("mount of what only root may mount", devices, Errno::PERM)
    })
}

fn cgroup() -> Checked {
    let group = Group::new()?;
    child(|| {
        group.enter()?;
        equal("path outside", own_group()?, "/kiln-case")?;
        there_and_back(
            "cgroup",
            UnshareFlags::NEWCGROUP,
            || equal("path inside", own_group()?, "/"),
            |()| equal("path outside again", own_group()?, "/kiln-case"),
        )
    })?
    .succeeds()
}

fn time() -> Checked {
    const SHIFT: i64 = 100_000;
    let now = || clock_gettime(ClockId::Monotonic).tv_sec;
    unshare(UnshareFlags::NEWTIME)?;
    holds("only children move", identity("time")? != identity("time_for_children")?)?;
    let offsets = |text: &str| fs::write("/proc/self/timens_offsets", text);
    fails("an unknown clock", offsets("realtime 1 0"), Errno::INVAL)?;
    fails("a clock before its start", offsets("monotonic -1000000 0"), Errno::RANGE)?;
    offsets(&format!("monotonic {SHIFT} 0"))?;
    let before = now();
    child(|| at_least("monotonic clock of the child", now(), before + SHIFT))?.succeeds()?;
    holds("the clock of this process is not shifted", now() < SHIFT)?;
    fails("a shift after the first child", offsets("monotonic 1 0"), Errno::ACCESS)
}

fn refusals() -> Checked {
    let uts = own("uts")?;
    let wrong_kind = move_into_link_name_space(uts.as_fd(), Some(LinkNameSpaceType::Network));
    fails("another kind than asked for", wrong_kind, Errno::INVAL)?;
    fails("a pipe as namespace", enter(rustix::pipe::pipe()?.0), Errno::INVAL)?;
    fails("the own user namespace", enter(own("user")?), Errno::INVAL)?;
    fails("a file of /proc that is none", enter(File::open("/proc/self/status")?), Errno::INVAL)?;
    fails("unshare with unknown flags", unshare(UnshareFlags::from_bits_retain(1)), Errno::INVAL)?;
    unprivileged(|| {
        fails("unshare without CAP_SYS_ADMIN", unshare(UnshareFlags::NEWUTS), Errno::PERM)?;
        fails("setns without it", enter(&uts), Errno::PERM)
    })?
    .succeeds()
}
