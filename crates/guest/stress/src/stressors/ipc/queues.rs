//! `msg`, `mq`: queues of messages.

use harness::check::{Checked, equal, fails, holds};
use harness::child::last_error;
use harness::sys::{call, call_for_descriptor, succeeded};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;

use crate::Worker;
use crate::kit::helper::helper;
use crate::kit::support::supported_unless;
use crate::stressor::{Class, Need, Setting, Stressor, number};

const TYPES: Setting = number("types", "types of messages", 1..=64, 4);
const SIZE: Setting = number("size", "messages that the queue holds", 1..=10, 10);

pub(super) const MSG: Stressor = Stressor {
    name: "msg",
    classes: &[Class::Ipc, Class::Os],
    about: "System V messages of several types: msgsnd(2), msgrcv(2), msgctl(2)",
    operation: "a message of each type sent, and received by another process by its type",
    verifies: "type and content; the queue counts its messages; an empty queue gives ENOMSG",
    options: &[TYPES],
    needs: &[Need::Config("SYSVIPC")],
    body: sysv,
    ..Stressor::PLAIN
};

pub(super) const MQ: Stressor = Stressor {
    name: "mq",
    classes: &[Class::Ipc, Class::Os],
    about: "POSIX messages with priorities: mq_overview(7)",
    operation: "a queue filled and emptied",
    verifies: "messages come in the order of their priorities; a full and an empty queue give EAGAIN",
    options: &[SIZE],
    needs: &[Need::Config("POSIX_MQUEUE")],
    body: posix,
    ..Stressor::PLAIN
};

/// A queue; it is removed when dropped.
struct Queue(usize);

impl Queue {
    fn new() -> Result<Self, Errno> {
        // SAFETY: takes numbers only.
        unsafe { call(libc::SYS_msgget, [libc::IPC_PRIVATE as usize, 0o600]) }.map(Self)
    }

    fn send(&self, kind: usize, number: u64) -> Result<usize, Errno> {
        let message = [kind as u64, number];
        // SAFETY: a type and eight bytes.
        unsafe { call(libc::SYS_msgsnd, [self.0, (&raw const message).addr(), 8, 0]) }
    }

    fn receive(&self, kind: usize, flags: libc::c_int) -> Result<[u64; 2], Errno> {
        let mut message = [0_u64; 2];
        let place = (&raw mut message).addr();
        // SAFETY: there is room for a type and eight bytes.
        let size = unsafe { call(libc::SYS_msgrcv, [self.0, place, 8, kind, flags as usize])? };
        if size == 8 { Ok(message) } else { Err(Errno::MSGSIZE) }
    }

    /// How many messages are in it.
    fn count(&self) -> Result<u64, Errno> {
        // SAFETY: all zeroes is a valid value.
        let mut status: libc::msqid_ds = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel fills it.
        unsafe { call(libc::SYS_msgctl, [self.0, libc::IPC_STAT as usize, (&raw mut status).addr()])? };
        Ok(status.msg_qnum)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: removing takes no memory.
        let _ = unsafe { call(libc::SYS_msgctl, [self.0, libc::IPC_RMID as usize, 0]) };
    }
}

fn sysv(worker: &Worker) -> Checked {
    let (there, back) = (Queue::new()?, Queue::new()?);
    let types = worker.size(&TYPES);
    /// The number that ends the other process.
    const END: u64 = u64::MAX;
    let other = helper(|| {
        loop {
            // The last type first: the queue gives them by type and not by age.
            for kind in (1..=types).rev() {
                let [found, number] = there.receive(kind, 0)?;
                if number == END {
                    return Ok(());
                }
                equal("the type", found, kind as u64)?;
                back.send(kind, number + 1)?;
            }
        }
    })?;
    let mut number = 0;
    let result = worker.repeat(|| {
        number += 1;
        (1..=types).try_for_each(|kind| there.send(kind, number).map(drop))?;
        for kind in 1..=types {
            equal("the answer", back.receive(kind, 0)?, [kind as u64, number + 1])?;
        }
        equal("messages that are left", (there.count()?, back.count()?), (0, 0))?;
        fails("an empty queue", back.receive(0, libc::IPC_NOWAIT), Errno::NOMSG)
    });
    there.send(types, END)?;
    result.and_then(|()| other.succeeds())
}

/// Bytes of a message.
const BYTES: usize = 8;

/// A queue without a name.
fn queue(messages: usize) -> Result<OwnedFd, Errno> {
    let name = std::ffi::CString::new(format!("kiln-stress-{}", std::process::id())).unwrap_or_default();
    let count = i64::try_from(messages).unwrap_or(1);
    // Flags, messages, size of a message, current messages, and four words that are not used: `struct mq_attr`.
    let attributes = [0, count, BYTES as i64, 0, 0, 0, 0, 0];
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let arguments = [name.as_ptr().addr(), flags as usize, 0o600, (&raw const attributes).addr()];
    // SAFETY: a name that ends in a null byte, and attributes.
    let queue = unsafe { call_for_descriptor(libc::SYS_mq_open, arguments)? };
    // SAFETY: as above.
    unsafe { call(libc::SYS_mq_unlink, [name.as_ptr().addr()])? };
    Ok(queue)
}

fn posix(worker: &Worker) -> Checked {
    let (count, mut random) = (worker.size(&SIZE), worker.random());
    // EMFILE: the user has as many queues as allowed, EINVAL: fewer messages are.
    let queue = supported_unless("message queues", queue(count), &[Errno::MFILE, Errno::INVAL])?;
    let number = queue.as_raw_fd();
    let send = |message: [u8; BYTES], priority| {
        // SAFETY: a message of that size.
        succeeded(unsafe { libc::mq_send(number, message.as_ptr().cast(), BYTES, priority) })
    };
    let receive = || {
        let (mut message, mut priority) = ([0; BYTES], 0);
        // SAFETY: there is room for a message of that size.
        let size = unsafe { libc::mq_receive(number, message.as_mut_ptr().cast(), BYTES, &raw mut priority) };
        if size == -1 { Err(last_error()) } else { Ok((message, priority)) }
    };
    worker.repeat(|| {
        let mut sent: Vec<([u8; BYTES], u32)> = Vec::new();
        for _ in 0..count {
            let (message, priority) = (random.next_u64().to_ne_bytes(), random.below(32) as u32);
            send(message, priority)?;
            sent.push((message, priority));
        }
        fails("a full queue", send([0; BYTES], 0), Errno::AGAIN)?;
        // The highest first, and of equals the oldest.
        sent.sort_by_key(|&(_, priority)| std::cmp::Reverse(priority));
        let received = (0..count).map(|_| receive()).collect::<Result<Vec<_>, _>>()?;
        holds("messages in the order of their priorities", received == sent)?;
        fails("an empty queue", receive(), Errno::AGAIN)
    })
}
