//! Processes that end with their worker.

use harness::check::{Checked, broken};
use harness::child::{Child, NOBODY, child};
use rustix::io::Errno;
use rustix::process::{Gid, Signal, Uid, geteuid, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// Forks a process that runs `body` and exits, as [`child`] does; it is killed when its worker ends.
///
/// # Errors
///
/// When fork(2) fails.
pub(crate) fn helper(body: impl FnOnce() -> Checked) -> Checked<Child> {
    let parent = getpid();
    let made = child(|| {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() == Some(parent) { body() } else { Ok(()) }
    });
    match made {
        Err(Errno::AGAIN) => broken("no more processes: RLIMIT_NPROC, or pids.max of the cgroup"),
        made => Ok(made?),
    }
}

/// The same as [`NOBODY`] if this is root, and so without capabilities.
///
/// # Errors
///
/// When fork(2) fails.
pub(crate) fn without_rights(body: impl FnOnce() -> Checked) -> Checked<Child> {
    helper(|| {
        if geteuid().is_root() {
            let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            set_thread_groups(&[])?;
            set_thread_res_gid(group, group, group)?;
            set_thread_res_uid(user, user, user)?;
            // A change of the user takes it away.
            set_parent_process_death_signal(Some(Signal::KILL))?;
        }
        body()
    })
}
