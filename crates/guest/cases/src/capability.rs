//! Rights of processes: capabilities(7), setuid(2), prctl(2).

use harness::check::{Checked, equal, fails, holds};
use harness::child::{NOBODY, unprivileged};
use rustix::fs::{Gid, Mode, OFlags, Uid, chmod, chown, open};
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::process::{Signal, getgroups, getuid, kill_process};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_ambient_set, capability_is_in_bounding_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
    set_keep_capabilities, set_thread_groups, set_thread_res_uid,
};

use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new("capability/setuid-drops", "setresuid(2) from root to a user clears the capabilities", drops),
    Case::new(
        "capability/keep",
        "PR_SET_KEEPCAPS keeps permitted capabilities; capset(2) restores them",
        keep,
    ),
    Case::new("capability/needed", "without a capability its calls give EPERM", needed),
    Case::new(
        "capability/one-suffices",
        "a process with one capability may do just what that one allows",
        one,
    ),
    Case::new(
        "capability/bounding-set",
        "PR_CAPBSET_DROP is permanent; PR_CAP_AMBIENT needs permitted and inheritable",
        bounding,
    ),
    Case::new("capability/saved-user", "seteuid(2) may go back to the saved user, not to others", saved_user),
    Case::new("capability/groups", "supplementary groups of setgroups(2) open files", groups),
];

fn become_user(real: u32, effective: u32, saved: u32) -> Result<(), Errno> {
    set_thread_res_uid(Uid::from_raw(real), Uid::from_raw(effective), Uid::from_raw(saved))
}

fn hold_only(permitted: CapabilitySet, effective: CapabilitySet) -> Result<(), Errno> {
    set_capabilities(None, CapabilitySets { effective, permitted, inheritable: CapabilitySet::empty() })
}

fn drops() -> Checked {
    let all = capabilities(None)?;
    holds("root may do everything", all.effective.contains(CapabilitySet::SYS_ADMIN | CapabilitySet::CHOWN))?;
    become_user(NOBODY, NOBODY, NOBODY)?;
    let none = capabilities(None)?;
    equal("effective set", none.effective, CapabilitySet::empty())?;
    equal("permitted set", none.permitted, CapabilitySet::empty())?;
    fails("back to root", become_user(0, 0, 0), Errno::PERM)?;
    let more = hold_only(CapabilitySet::CHOWN, CapabilitySet::empty());
    fails("a capability out of nothing", more, Errno::PERM)
}

fn keep() -> Checked {
    set_keep_capabilities(true)?;
    become_user(NOBODY, NOBODY, NOBODY)?;
    let kept = capabilities(None)?;
    holds("the permitted set is kept", kept.permitted.contains(CapabilitySet::SYS_ADMIN))?;
    equal("effective set", kept.effective, CapabilitySet::empty())?;
    fails("change of the host's name", rustix::system::sethostname(b"kiln"), Errno::PERM)?;
    hold_only(CapabilitySet::SETUID, CapabilitySet::SETUID)?;
    become_user(0, 0, 0)?;
    equal("user", getuid().as_raw(), 0)?;
    fails(
        "a capability that was given up",
        hold_only(CapabilitySet::CHOWN, CapabilitySet::empty()),
        Errno::PERM,
    )
}

fn needed() -> Checked {
    std::fs::create_dir("mounted")?;
    std::fs::write("file", "")?;
    hold_only(CapabilitySet::empty(), CapabilitySet::empty())?;
    let user = Some(Uid::from_raw(NOBODY));
    fails("chown", chown("file", user, None), Errno::PERM)?;
    fails("mount", rustix::mount::mount("none", "mounted", "tmpfs", MountFlags::empty(), None), Errno::PERM)?;
    fails("sethostname", rustix::system::sethostname(b"kiln"), Errno::PERM)?;
    fails("chroot", rustix::process::chroot("mounted"), Errno::PERM)?;
    fails("setgroups", set_thread_groups(&[]), Errno::PERM)?;
    fails("setresuid", become_user(1, 1, 1), Errno::PERM)?;
    let device = rustix::fs::mknodat(
        rustix::fs::CWD,
        "null",
        rustix::fs::FileType::CharacterDevice,
        Mode::RUSR,
        rustix::fs::makedev(1, 3),
    );
    fails("mknod", device, Errno::PERM)
}

fn one() -> Checked {
    std::fs::write("file", "secret")?;
    chmod("file", Mode::empty())?;
    unprivileged(|| {
        fails("open without capabilities", open("file", OFlags::RDONLY, Mode::empty()), Errno::ACCESS)
    })?
    .succeeds()?;
    set_keep_capabilities(true)?;
    become_user(NOBODY, NOBODY, NOBODY)?;
    let read = CapabilitySet::DAC_READ_SEARCH;
    hold_only(read, read)?;
    equal("read with CAP_DAC_READ_SEARCH", std::fs::read_to_string("file")?, "secret")?;
    fails("write with it", open("file", OFlags::WRONLY, Mode::empty()), Errno::ACCESS)?;
    fails("chmod with it", chmod("file", Mode::RUSR), Errno::PERM)
}

fn bounding() -> Checked {
    let chown = CapabilitySet::CHOWN;
    holds("CAP_CHOWN is in the bounding set", capability_is_in_bounding_set(chown)?)?;
    let ambient = configure_capability_in_ambient_set(chown, true);
    fails("ambient, but not inheritable", ambient, Errno::PERM)?;
    set_capabilities(None, CapabilitySets { inheritable: chown, ..capabilities(None)? })?;
    configure_capability_in_ambient_set(chown, true)?;
    holds("it is ambient", capability_is_in_ambient_set(chown)?)?;
    set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::empty(), ..capabilities(None)? })?;
    holds("no longer when it is not inheritable", !capability_is_in_ambient_set(chown)?)?;
    remove_capability_from_bounding_set(chown)?;
    holds("it is not in the bounding set", !capability_is_in_bounding_set(chown)?)?;
    hold_only(CapabilitySet::empty(), CapabilitySet::empty())?;
    fails("drop without CAP_SETPCAP", remove_capability_from_bounding_set(CapabilitySet::KILL), Errno::PERM)
}

fn saved_user() -> Checked {
    become_user(1000, 1001, 1002)?;
    let ids = std::fs::read_to_string("/proc/self/status")?;
    let line = ids.lines().find(|line| line.starts_with("Uid:")).unwrap_or_default();
    equal("users", line, "Uid:\t1000\t1001\t1002\t1001")?;
    become_user(1000, 1002, 1002)?;
    fails("a user that it never was", become_user(1000, 1003, 1002), Errno::PERM)?;
    become_user(1000, 1000, 1000)?;
    fails("a user that it has given up", become_user(1002, 1002, 1002), Errno::PERM)?;
    fails("a signal to root's process", kill_process(rustix::process::Pid::INIT, Signal::TERM), Errno::PERM)
}

fn groups() -> Checked {
    std::fs::write("file", "for the group")?;
    chown("file", None, Some(Gid::from_raw(4321)))?;
    chmod("file", Mode::RGRP)?;
    set_thread_groups(&[Gid::from_raw(4321), Gid::from_raw(1234)])?;
    let mut numbers: Vec<_> = getgroups()?.into_iter().map(Gid::as_raw).collect();
    numbers.sort_unstable();
    equal("groups", numbers, [1234, 4321])?;
    rustix::thread::set_thread_res_gid(Gid::from_raw(NOBODY), Gid::from_raw(NOBODY), Gid::from_raw(NOBODY))?;
    become_user(NOBODY, NOBODY, NOBODY)?;
    equal("contents", std::fs::read_to_string("file")?, "for the group")?;
    fails("write", open("file", OFlags::WRONLY, Mode::empty()), Errno::ACCESS)?;
    fails("change of groups", set_thread_groups(&[]), Errno::PERM)
}
