//! `unshare`, `setns`, `userns`, `mount`: namespaces of one's own.

use std::fs::{self, File};

use harness::check::{Checked, equal, fails, holds};
use harness::child::pause_forever;
use harness::storage::{mount, private_mounts};
use harness::sys::unshare;
use rustix::fs::statfs;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, unmount};
use rustix::pipe::pipe;
use rustix::process::{geteuid, getgid, getpid, getuid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::support::supported_unless;
use crate::stressor::{Class, Need, Stressor};

/// `CAP_SYS_ADMIN`.
const ADMINISTRATOR: &[Need] = &[Need::Capability(21)];

const NAMESPACES: Stressor = Stressor { classes: &[Class::Security, Class::Os], ..Stressor::PLAIN };

pub(super) const UNSHARE: Stressor = Stressor {
    name: "unshare",
    about: "children with one namespace of their own: unshare(2)",
    operation: "a child for each kind of namespace",
    verifies: "that namespace is another than the parent's, and all others are the same",
    needs: ADMINISTRATOR,
    body: each_kind,
    ..NAMESPACES
};

pub(super) const SETNS: Stressor = Stressor {
    name: "setns",
    about: "a process that enters the namespaces of another: setns(2)",
    operation: "a child that enters two namespaces",
    verifies: "it is in both, and sees what only they have",
    needs: ADMINISTRATOR,
    body: enter,
    ..NAMESPACES
};

pub(super) const USERNS: Stressor = Stressor {
    name: "userns",
    about: "user namespaces, in which an ordinary user is root: user_namespaces(7)",
    operation: "a child that becomes root of its namespace",
    verifies: "its ids inside and outside; it may mount inside, and nothing that belongs to others",
    needs: &[Need::Config("USER_NS")],
    body: root_inside,
    ..NAMESPACES
};

pub(super) const MOUNT: Stressor = Stressor {
    name: "mount",
    classes: &[Class::Filesystem, Class::Os],
    about: "file systems in memory, bind mounts and read-only mounts in a mount namespace: mount(2)",
    operation: "a file system mounted, bound elsewhere, made read-only and unmounted",
    verifies: "files are seen at both places; EROFS and EBUSY where they must be; all is gone afterwards",
    needs: ADMINISTRATOR,
    body: mounts,
    ..NAMESPACES
};

const KINDS: [(&str, UnshareFlags); 5] = [
    ("ipc", UnshareFlags::NEWIPC),
    ("mnt", UnshareFlags::NEWNS),
    ("net", UnshareFlags::NEWNET),
    ("uts", UnshareFlags::NEWUTS),
    ("cgroup", UnshareFlags::NEWCGROUP),
];

fn namespace(kind: &str) -> std::io::Result<String> {
    Ok(fs::read_link(format!("/proc/self/ns/{kind}"))?.to_string_lossy().into_owned())
}

fn all() -> std::io::Result<Vec<String>> {
    KINDS.iter().map(|(kind, _)| namespace(kind)).collect()
}

fn each_kind(worker: &Worker) -> Checked {
    let before = all()?;
    worker.repeat(|| {
        for (at, (kind, flag)) in KINDS.iter().enumerate() {
            helper(|| {
                // ENOSPC: there are as many as allowed. EINVAL: this kernel has no such.
                supported_unless(
                    &format!("a namespace of kind {kind}"),
                    unshare(*flag),
                    &[Errno::NOSPC, Errno::INVAL],
                )?;
                let different: Vec<usize> = all()?
                    .iter()
                    .zip(&before)
                    .enumerate()
                    .filter(|(_, (a, b))| a != b)
                    .map(|(at, _)| at)
                    .collect();
                equal("namespaces that are others", different, vec![at])
            })?
            .succeeds()?;
        }
        holds("the parent's are as before", all()? == before)
    })
}

fn enter(worker: &Worker) -> Checked {
    worker.repeat(|| {
        let (reader, writer) = pipe()?;
        let holder = helper(|| {
            unshare(UnshareFlags::NEWUTS | UnshareFlags::NEWIPC)?;
            rustix::system::sethostname(b"held")?;
            rustix::io::write(&writer, b"x")?;
            pause_forever()
        })?;
        drop(writer);
        equal("the holder is ready", rustix::io::read(&reader, &mut [0])?, 1)?;
        let pid = holder.pid().as_raw_pid();
        let held = |kind: &str| File::open(format!("/proc/{pid}/ns/{kind}"));
        helper(|| {
            for (kind, name) in [
                ("uts", LinkNameSpaceType::HostNameAndNISDomainName),
                ("ipc", LinkNameSpaceType::InterProcessCommunication),
            ] {
                let namespace_of_holder = fs::read_link(format!("/proc/{pid}/ns/{kind}"))?;
                move_into_link_name_space(std::os::fd::AsFd::as_fd(&held(kind)?), Some(name))?;
                equal("the namespace", namespace(kind)?, namespace_of_holder.to_string_lossy().into_owned())?;
            }
            equal("the host name", rustix::system::uname().nodename(), c"held")?;
            let wrong = move_into_link_name_space(
                std::os::fd::AsFd::as_fd(&held("uts")?),
                Some(LinkNameSpaceType::InterProcessCommunication),
            );
            fails("a namespace of another kind", wrong, Errno::INVAL)
        })?
        .succeeds()
    })
}

fn root_inside(worker: &Worker) -> Checked {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    worker.repeat(|| {
        let status = helper(|| {
            let made = unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWUTS);
            supported_unless("user namespaces", made, &[Errno::NOSPC, Errno::USERS, Errno::INVAL])?;
            holds("ids that are not mapped", geteuid().as_raw() != 0 || user == 0)?;
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
            fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
            equal("ids inside", (getuid().as_raw(), getgid().as_raw()), (0, 0))?;
            rustix::system::sethostname(b"inside")?;
            let map = fs::read_to_string("/proc/self/uid_map")?;
            equal("the map", map.split_whitespace().collect::<Vec<_>>(), vec!["0", &user.to_string(), "1"])?;
            let clock = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
            fails(
                "setting a clock that belongs to others",
                rustix::time::clock_settime(rustix::time::ClockId::Realtime, clock),
                Errno::PERM,
            )
        })?
        .wait()?;
        equal("the exit status of the child", status.exit_status(), Some(0))?;
        equal("ids outside", (getuid().as_raw(), getpid() == rustix::thread::gettid()), (user, true))
    })
}

fn mounts(worker: &Worker) -> Checked {
    supported_unless("a mount namespace", unshare(UnshareFlags::NEWNS), &[Errno::NOSPC])?;
    private_mounts()?;
    worker.repeat(|| {
        supported_unless("mount(2)", mount("stress", "first", "tmpfs", MountFlags::NODEV, "size=1m"), &[])?;
        let outcome = use_mount();
        unmount("first", UnmountFlags::empty())?;
        outcome?;
        fails("the file after it was unmounted", rustix::fs::stat("first/file"), Errno::NOENT)?;
        fails("unmounting it again", unmount("first", UnmountFlags::empty()), Errno::INVAL)
    })
}

fn use_mount() -> Checked {
    /// `TMPFS_MAGIC`.
    const TMPFS: i64 = 0x0102_1994;
    equal("the kind of file system", statfs("first")?.f_type, TMPFS)?;
    fs::write("first/file", "content")?;
    fs::create_dir_all("second")?;
    rustix::mount::mount_bind("first", "second")?;
    let seen = fs::read_to_string("second/file");
    let read_only = rustix::mount::mount_remount("second", MountFlags::BIND | MountFlags::RDONLY, "");
    let written = File::create("second/other").map(drop);
    unmount("second", UnmountFlags::empty())?;
    equal("the file at the other place", seen?, "content")?;
    read_only?;
    fails("writing to what is read-only", written, Errno::ROFS)?;
    let open = File::open("first/file")?;
    fails("unmounting what is in use", unmount("first", UnmountFlags::empty()), Errno::BUSY)?;
    drop(open);
    Ok(())
}
