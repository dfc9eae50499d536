//! The root's own init, which runs services: systemd as process 1 of a PID namespace, pid_namespaces(7).
//!
//! The agent stays outside as process 1 of the machine. systemd takes its machine for a container and says when it has
//! started all that it should: <https://systemd.io/CONTAINER_INTERFACE>, sd_notify(3).

use std::fs::File;
use std::io::Read;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use harness::check::{Checked, broken, describe};
use harness::child::{exit, fork};
use harness::plain::plain;
use harness::storage::enter_root;
use protocol::root::VIEW;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use crate::processes::{NOT_EXECUTABLE, NOT_FOUND, end_of, status_of, unblock_signals};

/// The init of a root.
const INIT: &str = "/sbin/init";

/// systemd in a container takes what a kernel's command line would say from its arguments: kernel-command-line(7). The
/// console belongs to the agent's shell.
const ARGUMENTS: [&str; 2] = ["systemd.getty_auto=no", "systemd.mask=console-getty.service"];

/// Where it says that it has started.
const NOTIFY: &str = "/run/kiln/notify";

/// How often the agent looks whether it still runs.
const PERIOD: Duration = Duration::from_millis(200);

/// The flag of a process that is on its way to its end: include/linux/sched.h.
const PF_EXITING: u32 = 0x4;

/// An init that has started its services.
#[derive(Debug)]
pub(crate) struct Services {
    /// The directory of the init in /proc, which is nobody else's after its end.
    init: OwnedFd,
    /// The mount namespace that its services see.
    mounts: OwnedFd,
    /// The agent's own PID namespace, for the time after its end.
    outside: OwnedFd,
}

impl Services {
    /// Starts the init of the root, and waits until it has started its services. Processes that this process forks from then on
    /// are in its PID namespace.
    pub(crate) fn start(limit: Duration) -> Result<Self, String> {
        let outside = named("/proc/self/ns/pid").map_err(|error| format!("/proc/self/ns/pid: {error}"))?;
        let notify = UnixDatagram::bind(NOTIFY).map_err(|error| format!("{NOTIFY}: {error}"))?;
        // SAFETY: a PID namespace is for children; the memory and the files of this process stay as they are.
        let moved = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWPID) };
        moved.map_err(|error| format!("a PID namespace: {}", describe(error)))?;
        let started = begin().and_then(|init| {
            wait_for(init, &notify, limit)?;
            let place = format!("/proc/{}", init.as_raw_nonzero());
            let opened = named(&place).and_then(|init| Ok((init, named(&format!("{place}/ns/mnt"))?)));
            opened.map_err(|error| format!("{place}: {error}"))
        });
        match started {
            Ok((init, mounts)) => Ok(Self { init, mounts, outside }),
            Err(why) => {
                leave(&outside);
                Err(why)
            }
        }
    }

    /// Puts what services see at `/` of this process.
    pub(crate) fn enter(&self) -> Checked {
        move_into_link_name_space(self.mounts.as_fd(), Some(LinkNameSpaceType::Mount))
            .or_else(|error| broken(&format!("entering the root: {}", describe(error))))
    }

    /// Whether the init has ended, and with it all processes of its namespace; later ones are then in the agent's own.
    pub(crate) fn have_ended(&self) -> bool {
        let have_ended = is_exiting(&self.init);
        if have_ended {
            leave(&self.outside);
        }
        have_ended
    }
}

/// Whether a process has ended or is about to. A pidfd would tell only once the last process of its namespace has been waited
/// for, and the namespace takes no other one long before: pid_namespaces(7).
fn is_exiting(process: &OwnedFd) -> bool {
    let stat = openat(process, "stat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let mut text = String::new();
    let read = stat.is_ok_and(|stat| File::from(stat).read_to_string(&mut text).is_ok());
    !read || flags(&text).is_none_or(|flags| flags & PF_EXITING != 0)
}

/// The flags of a process in its `stat`, behind a name that may hold anything: proc_pid_stat(5).
fn flags(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(6)?.parse().ok()
}

fn leave(outside: &OwnedFd) {
    // If it fails, the next fork does.
    let _ = move_into_link_name_space(outside.as_fd(), Some(LinkNameSpaceType::ProcessID));
}

fn named(path: &str) -> Result<OwnedFd, Errno> {
    open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

fn begin() -> Result<Pid, String> {
    match fork() {
        Ok(Some(init)) => Ok(init),
        Ok(None) => exit(become_init()),
        Err(error) => Err(format!("fork: {}", describe(error))),
    }
}

/// Gives an exit status, if it returns.
fn become_init() -> i32 {
    unblock_signals();
    // That of the agent shows other numbers for processes.
    let mount_proc = || mount("proc", "/proc", "proc", MountFlags::empty(), c"");
    if enter_root(VIEW, "").is_err() || mount_proc().is_err() {
        return NOT_EXECUTABLE;
    }
    let variables = [("container", "kiln"), ("NOTIFY_SOCKET", NOTIFY), ("TERM", "linux")];
    let error = Command::new(INIT).args(ARGUMENTS).env_clear().envs(variables).exec();
    status_of(&error)
}

/// Waits until the init says that it is ready.
fn wait_for(init: Pid, notify: &UnixDatagram, limit: Duration) -> Result<(), String> {
    let end = Instant::now() + limit;
    notify.set_read_timeout(Some(PERIOD)).map_err(|error| format!("{NOTIFY}: {error}"))?;
    let mut buffer = [0; 4096];
    while Instant::now() < end {
        let length = notify.recv(&mut buffer).unwrap_or(0);
        if is_ready(&buffer[..length]) {
            return Ok(());
        }
        if let Ok(Some((_, status))) = waitpid(Some(init), WaitOptions::NOHANG) {
            return Err(match status.exit_status() {
                Some(NOT_FOUND) => format!("it has no {INIT}, which Debian's package systemd-sysv brings"),
                _ => format!("its {INIT} ended with {}", plain(&end_of(status))),
            });
        }
    }
    // It ends, or the machine does.
    let _ = kill_process(init, Signal::KILL);
    Err(format!("its {INIT} did not say within {} s that its services are started", limit.as_secs()))
}

/// Whether a message of sd_notify(3) says so.
fn is_ready(message: &[u8]) -> bool {
    message.split(|&byte| byte == b'\n').any(|line| line == b"READY=1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_exiting_from_its_end_on() {
        let place = |id: u32| named(&format!("/proc/{id}")).unwrap();
        assert!(!is_exiting(&place(std::process::id())));
        let mut child = Command::new("true").spawn().unwrap();
        let directory = place(child.id());
        child.wait().unwrap();
        assert!(is_exiting(&directory));
    }

    #[test]
    fn flags_are_found_behind_any_name() {
        assert_eq!(flags("7 (a) R 1 (x) S 1 7 7 0 -1 4194572 9"), Some(4_194_572));
        assert_eq!((flags(""), flags("7 (a) R 1")), (None, None));
    }

    #[test]
    fn only_a_line_of_its_own_says_ready() {
        assert!(is_ready(b"READY=1") && is_ready(b"STATUS=up\nREADY=1\nMAINPID=1"));
        assert!(!is_ready(b"") && !is_ready(b"STATUS=READY=1") && !is_ready(b"READY=10\nREADY=0"));
    }
}
