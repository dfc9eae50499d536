//! Sockets of any family: recvmmsg(2), socket(2).

use std::ptr::null_mut;

use harness::check::Checked;
use harness::child::last_error;
use protocol::Need;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, MemfdFlags, Uid, chownat, memfd_create};
use rustix::io::{Errno, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket, socketpair};
use rustix::process::{getgid, getuid};

use super::Known;
use super::parts::{Shared, or_skip};
use crate::race::{Judgement, Race};
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[
    Known::new(
        "net/recvmmsg-close",
        "recvmmsg(2) sets the error of a socket that close(2) has freed",
        &["34b88a68f26a"],
        recvmmsg_close,
    )
    .cve("2016-7117")
    .needs(&[Need::Config("UNIX")]),
    Known::new(
        "crypto/af-alg-dup2",
        "fchownat(2) changes the owner of a socket of AF_ALG that dup2(2) has freed",
        &["9060cb719e61", "ff7b11aa481f"],
        af_alg_dup2,
    )
    .cve("2019-8912")
    .needs(&[Need::Module("af_alg")]),
];

/// The second message has nowhere to go: its error is kept for the next call.
fn recvmmsg_close(runner: &Runner) -> Checked {
    let (receiver, sender) = (Shared::new(), Shared::new());
    let prepare = || {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::empty(), None)?;
        for _ in 0..2 {
            write(&theirs, b"message")?;
        }
        receiver.set(ours);
        sender.set(theirs);
        Ok(())
    };
    let receive = || receive_two(receiver.number());
    let judge = |received: &Result<i32, Errno>, (): &()| {
        Ok(if *received == Err(Errno::BADF) { Judgement::Early } else { Judgement::Miss })
    };
    runner.run(Race::between(receive, || receiver.close()).setup_a(prepare).judge(judge))
}

/// recvmmsg(2) of two messages; the second one goes to an address that nobody may write to.
fn receive_two(socket: i32) -> Result<i32, Errno> {
    let mut buffer = [0_u8; 16];
    let mut parts = [
        libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() },
        libc::iovec { iov_base: std::ptr::without_provenance_mut(8), iov_len: 8 },
    ];
    let mut messages = parts.each_mut().map(|part| {
        // SAFETY: all zeroes is a valid message without anything.
        let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
        (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (&raw mut *part, 1);
        message
    });
    let wait = libc::MSG_DONTWAIT;
    // SAFETY: both messages and what they point to are valid, but for the address that the kernel refuses.
    match unsafe { libc::recvmmsg(socket, messages.as_mut_ptr(), 2, wait, null_mut()) } {
        -1 => Err(last_error()),
        count => Ok(count),
    }
}

fn af_alg_dup2(runner: &Runner) -> Checked {
    let alg = || socket(AddressFamily::from_raw(libc::AF_ALG as u16), SocketType::SEQPACKET, None);
    drop(or_skip("sockets of AF_ALG", alg())?);
    let other = memfd_create("other", MemfdFlags::CLOEXEC)?;
    let file = Shared::new();
    let (user, group): (Option<Uid>, Option<Gid>) = (Some(getuid()), Some(getgid()));
    let chown = || chownat(file.file(), "", user, group, AtFlags::EMPTY_PATH);
    let replace = || replace(&other, &file);
    let create = || {
        file.set(alg()?);
        Ok(())
    };
    runner.run(Race::between(chown, replace).setup_a(create))
}

/// dup2(2): the number of `file` names `other` now, and the file that it was is closed.
fn replace(other: &OwnedFd, file: &Shared) {
    // SAFETY: the number stays open, and is owned by nobody but `file`.
    unsafe { libc::dup2(other.as_raw_fd(), file.number()) };
}
