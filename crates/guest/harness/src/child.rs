//! Processes that a case makes.

use std::convert::Infallible;
use std::ffi::CStr;
use std::sync::atomic::AtomicU32;

use protocol::ReportKind;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::process::{Gid, Pid, Signal, Uid, WaitOptions, WaitStatus, kill_process, waitpid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::check::Checked;
use crate::page;

/// A child process. It is killed and reaped when dropped.
#[derive(Debug)]
pub struct Child {
    pid: Pid,
    reaped: bool,
}

/// Forks a child that runs `body` and exits: 0 when all went well, 1 when a check did not hold, which
/// the child has then reported.
///
/// # Errors
///
/// When fork(2) fails.
pub fn child(body: impl FnOnce() -> Checked) -> Result<Child, Errno> {
    match fork()? {
        Some(pid) => Ok(Child { pid, reaped: false }),
        None => exit(conclude(body())),
    }
}

/// Forks a child that runs `body` as [`child`] does, but as [`NOBODY`] and without capabilities.
///
/// # Errors
///
/// When fork(2) fails.
pub fn unprivileged(body: impl FnOnce() -> Checked) -> Result<Child, Errno> {
    child(|| {
        set_thread_groups(&[])?;
        set_thread_res_gid(Gid::from_raw(NOBODY), Gid::from_raw(NOBODY), Gid::from_raw(NOBODY))?;
        set_thread_res_uid(Uid::from_raw(NOBODY), Uid::from_raw(NOBODY), Uid::from_raw(NOBODY))?;
        body()
    })
}

/// User and group without any rights.
pub const NOBODY: u32 = 65534;

/// fork(2): the child's id in the parent, nothing in the child.
///
/// # Errors
///
/// As the manual page says.
pub fn fork() -> Result<Option<Pid>, Errno> {
    // SAFETY: processes of cases have one thread, so the child may go on as it likes.
    match unsafe { libc::fork() } {
        -1 => Err(last_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// execve(2); it returns only when it fails.
///
/// # Errors
///
/// As the manual page says.
pub fn exec(path: &CStr, arguments: &[&CStr], environment: &[&CStr]) -> Result<Infallible, Errno> {
    let pointers = |texts: &[&CStr]| -> Vec<_> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: both lists end with a null pointer, and all texts outlive the call.
    unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    Err(last_error())
}

/// Does nothing until a signal ends the process.
pub fn pause_forever() -> ! {
    loop {
        rustix::event::pause();
    }
}

/// A word, 0 at first, that this process shares with all children it makes from now on.
///
/// # Errors
///
/// When mmap(2) fails.
pub fn shared_word() -> Result<&'static AtomicU32, Errno> {
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: a new mapping at an address that the kernel chooses; it is never unmapped.
    let memory = unsafe { mmap_anonymous(std::ptr::null_mut(), size_of::<AtomicU32>(), access, flags)? };
    // SAFETY: mapped for ever, aligned to a page, and everybody uses it as an atomic.
    Ok(unsafe { AtomicU32::from_ptr(memory.cast()) })
}

/// Leaves this process without running anything of the parent's.
pub fn exit(code: i32) -> ! {
    // SAFETY: never returns and touches no memory.
    unsafe { libc::_exit(code) }
}

/// Reports how a body ended and gives the exit status for it.
pub fn conclude(result: Checked) -> i32 {
    match result {
        Ok(()) => 0,
        Err(stop) => {
            page::report(stop.0.kind, &stop.0.text);
            i32::from(stop.0.kind != ReportKind::Skip)
        }
    }
}

/// `errno` of the last call into libc.
#[must_use]
pub fn last_error() -> Errno {
    Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

impl Child {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends it a signal.
    ///
    /// # Errors
    ///
    /// As kill(2) says.
    pub fn kill(&self, signal: Signal) -> Result<(), Errno> {
        kill_process(self.pid, signal)
    }

    /// Waits for its end.
    ///
    /// # Errors
    ///
    /// As waitpid(2) says.
    pub fn wait(mut self) -> Result<WaitStatus, Errno> {
        let (_, status) = waitpid(Some(self.pid), WaitOptions::empty())?.ok_or(Errno::CHILD)?;
        self.reaped = true;
        Ok(status)
    }

    /// Waits for its end, which must be exit status 0.
    ///
    /// # Errors
    ///
    /// When it ended in another way.
    #[track_caller]
    pub fn succeeds(self) -> Checked {
        crate::check::equal("exit status of the child", self.wait()?.exit_status(), Some(0))
    }

    /// Waits for a change that `options` ask for (stop, continue) without reaping.
    ///
    /// # Errors
    ///
    /// As waitpid(2) says.
    pub fn watch(&self, options: WaitOptions) -> Result<WaitStatus, Errno> {
        waitpid(Some(self.pid), options)?.map(|(_, status)| status).ok_or(Errno::CHILD)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            // It may have ended already; then there is nothing to kill or to reap.
            let _ = kill_process(self.pid, Signal::KILL);
            let _ = waitpid(Some(self.pid), WaitOptions::empty());
        }
    }
}
