//! Between processes without files: sysvipc(7), mq_overview(7).

use harness::check::{Checked, equal};
use harness::child::last_error;
use harness::sys::{call, succeeded};
use protocol::Need;
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::io::Errno;

use super::parts::{gives, succeeds};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("ipc/sysv-message", "msgsnd(2) and msgrcv(2) of 8 bytes, by one process", message)
        .needs(SYSV),
    Operation::new("ipc/sysv-semaphore", "semop(2) up and down again", semaphore).needs(SYSV),
    Operation::new("ipc/sysv-shared-memory", "shmat(2) of 64 KiB and shmdt(2)", shared_memory).needs(SYSV),
    Operation::new(
        "ipc/posix-message",
        "mq_send(3) and mq_receive(3) of 8 bytes, by one process",
        posix_message,
    )
    .needs(&[Need::Config("POSIX_MQUEUE")]),
];

const SYSV: &[Need] = &[Need::Config("SYSVIPC")];

const MODE: usize = 0o600;

/// The system calls of a kind of objects.
#[derive(Clone, Copy)]
struct Calls {
    make: libc::c_long,
    remove: libc::c_long,
}

/// Makes an object, runs `body` with its number, and removes it.
fn with<const N: usize>(calls: Calls, arguments: [usize; N], body: impl FnOnce(usize) -> Checked) -> Checked {
    // SAFETY: the calls that come here take numbers.
    let number = unsafe { call(calls.make, arguments)? };
    let result = body(number);
    let rmid = libc::IPC_RMID as usize;
    // Semaphores have the command in another place.
    let place = if calls.remove == libc::SYS_semctl { [number, 0, rmid] } else { [number, rmid, 0] };
    // SAFETY: removing takes no memory.
    unsafe { call(calls.remove, place)? };
    result
}

const PRIVATE_KEY: usize = libc::IPC_PRIVATE as usize;

#[repr(C)]
struct Message {
    kind: libc::c_long,
    text: [u8; 8],
}

fn message(meter: &mut Meter) -> Checked {
    with(Calls { make: libc::SYS_msgget, remove: libc::SYS_msgctl }, [PRIVATE_KEY, MODE], |queue| {
        let sent = Message { kind: 1, text: *b"measured" };
        let mut received = Message { kind: 0, text: [0; 8] };
        let (from, to) = ((&raw const sent).addr(), (&raw mut received).addr());
        // SAFETY: both messages have room for 8 bytes.
        gives(meter, "bytes", 8, || unsafe {
            call(libc::SYS_msgsnd, [queue, from, 8, 0])?;
            call(libc::SYS_msgrcv, [queue, to, 8, 0, 0])
        })?;
        equal("the message", received.text, sent.text)
    })
}

fn semaphore(meter: &mut Meter) -> Checked {
    with(Calls { make: libc::SYS_semget, remove: libc::SYS_semctl }, [PRIVATE_KEY, 1, MODE], |set| {
        let [up, down] = [1, -1].map(|sem_op| libc::sembuf { sem_num: 0, sem_op, sem_flg: 0 });
        // SAFETY: one operation each.
        let change =
            |change: &libc::sembuf| unsafe { call(libc::SYS_semop, [set, (&raw const *change).addr(), 1]) };
        meter.each(|| {
            change(&up)?;
            change(&down)
        })?;
        // SAFETY: reading a value takes no memory.
        equal("its value", unsafe { call(libc::SYS_semctl, [set, 0, libc::GETVAL as usize])? }, 0)
    })
}

fn shared_memory(meter: &mut Meter) -> Checked {
    with(
        Calls { make: libc::SYS_shmget, remove: libc::SYS_shmctl },
        [PRIVATE_KEY, 64 << 10, MODE],
        |memory| {
            // SAFETY: attached at an address that the kernel chooses, and not used.
            let attach = || unsafe { call(libc::SYS_shmat, [memory, 0, 0]) };
            // SAFETY: attached just now.
            let detach = |address| unsafe { call(libc::SYS_shmdt, [address]) };
            gives(meter, "the result", 0, || detach(attach()?))?;
            let address = attach()?;
            let word = std::ptr::with_exposed_provenance_mut::<u32>(address);
            // SAFETY: attached just now, and nobody else has it.
            let value = unsafe {
                word.write_volatile(7);
                word.read_volatile()
            };
            detach(address)?;
            equal("what was written", value, 7)
        },
    )
}

/// A queue for ten messages of 8 bytes, which has no name any more.
fn queue() -> Result<OwnedFd, Errno> {
    // SAFETY: all zeroes is a valid structure.
    let mut size: libc::mq_attr = unsafe { std::mem::zeroed() };
    (size.mq_maxmsg, size.mq_msgsize) = (10, 8);
    let (name, flags) = (c"/kiln-operation".as_ptr(), libc::O_RDWR | libc::O_CREAT | libc::O_EXCL);
    // SAFETY: a name, a mode, and what the queue shall hold.
    let number = unsafe { libc::mq_open(name, flags, 0o600, &raw const size) };
    if number == -1 {
        return Err(last_error());
    }
    // SAFETY: a new descriptor that nobody else has.
    let queue = unsafe { OwnedFd::from_raw_fd(number) };
    // SAFETY: the name of above.
    succeeded(unsafe { libc::mq_unlink(name) })?;
    Ok(queue)
}

fn posix_message(meter: &mut Meter) -> Checked {
    let (queue, sent, mut received) = (queue()?, *b"measured", [0_u8; 8]);
    let number = queue.as_raw_fd();
    let buffer = received.as_mut_ptr().cast();
    succeeds(meter, || {
        // SAFETY: both have 8 bytes.
        let received = unsafe {
            succeeded(libc::mq_send(number, sent.as_ptr().cast(), 8, 0))?;
            libc::mq_receive(number, buffer, 8, std::ptr::null_mut())
        };
        if received == 8 { Ok(()) } else { Err(last_error()) }
    })?;
    equal("the message", received, sent)
}
