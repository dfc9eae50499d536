//! Signals: signal(7).

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::SeqCst};

use harness::check::{Checked, equal, holds};
use harness::memory::Area;
use harness::sys::{block, call, call_for_descriptor, fetch, handle, ignore, signal_set, unblock};
use protocol::Need;
use rustix::io::{Errno, read};
use rustix::mm::{MapFlags, MprotectFlags, mprotect};
use rustix::param::page_size;
use rustix::process::{Signal, getpid, kill_process, test_kill_process};

use super::parts::{gives, succeeds};
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("signal/install", "sigaction(2) of a handler", install),
    Operation::new("signal/mask", "sigprocmask(2): a signal blocked and unblocked", mask),
    Operation::new("signal/pending", "sigpending(2) with one that is pending", pending),
    Operation::new("signal/kill-check", "kill(2) with signal 0 to this process", check),
    Operation::new("signal/kill-ignored", "kill(2) to this process, which ignores the signal", ignored),
    Operation::new("signal/handle", "kill(2) to this process, its handler and the return from it", handled),
    Operation::new(
        "signal/handle-queued",
        "sigqueue(3) of a real-time signal, its handler and the return",
        queued,
    ),
    Operation::new(
        "signal/kill-fetch",
        "kill(2) to this process, which fetches it by sigwaitinfo(2)",
        fetched,
    ),
    Operation::new(
        "signal/kill-signalfd",
        "kill(2) to this process, which reads it from a signalfd",
        by_descriptor,
    )
    .needs(&[Need::Config("SIGNALFD")]),
    Operation::new(
        "signal/protection-fault",
        "a write to a read-only page, SIGSEGV, a handler with mprotect(2)",
        fault,
    ),
];

const SIGNAL: c_int = libc::SIGUSR1;

static CALLS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    CALLS.fetch_add(1, SeqCst);
}

fn send() -> Result<(), Errno> {
    kill_process(getpid(), Signal::USR1)
}

/// There must be no signal left, which would end this process now.
fn none_is_left() -> Checked {
    Ok(unblock(&[SIGNAL])?)
}

fn install(meter: &mut Meter) -> Checked {
    meter.each(|| handle(SIGNAL, count, 0))?;
    send()?;
    equal("calls of the handler", CALLS.load(SeqCst), 1)
}

fn mask(meter: &mut Meter) -> Checked {
    handle(SIGNAL, count, 0)?;
    meter.each(|| {
        block(&[SIGNAL])?;
        unblock(&[SIGNAL])
    })?;
    block(&[SIGNAL])?;
    send()?;
    equal("calls of the handler while blocked", CALLS.load(SeqCst), 0)?;
    unblock(&[SIGNAL])?;
    equal("calls of the handler", CALLS.load(SeqCst), 1)
}

fn pending(meter: &mut Meter) -> Checked {
    block(&[SIGNAL])?;
    send()?;
    let mut set = signal_set(&[]);
    let address = (&raw mut set).addr();
    // SAFETY: the kernel fills a set of its own size, 8 bytes, which is smaller.
    gives(meter, "the result", 0, || unsafe { call(libc::SYS_rt_sigpending, [address, 8]) })?;
    // SAFETY: a valid set.
    equal("it is pending", unsafe { libc::sigismember(&raw const set, SIGNAL) }, 1)
}

fn check(meter: &mut Meter) -> Checked {
    let own = getpid();
    succeeds(meter, || test_kill_process(own))
}

fn ignored(meter: &mut Meter) -> Checked {
    ignore(SIGNAL)?;
    meter.each(send)?;
    none_is_left()
}

fn handled(meter: &mut Meter) -> Checked {
    handle(SIGNAL, count, 0)?;
    let mut sent = 0;
    meter.each(|| {
        sent += 1;
        send()
    })?;
    equal("calls of the handler", CALLS.load(SeqCst), sent)
}

fn queued(meter: &mut Meter) -> Checked {
    let (signal, own) = (libc::SIGRTMIN(), getpid().as_raw_pid());
    handle(signal, count, 0)?;
    let mut sent = 0;
    meter.each(|| {
        sent += 1;
        let value = libc::sigval { sival_ptr: std::ptr::null_mut() };
        // SAFETY: the value is only carried, never followed.
        harness::sys::succeeded(unsafe { libc::sigqueue(own, signal, value) })
    })?;
    equal("calls of the handler", CALLS.load(SeqCst), sent)
}

fn fetched(meter: &mut Meter) -> Checked {
    block(&[SIGNAL])?;
    gives(meter, "the signal", SIGNAL, || {
        send()?;
        fetch(&[SIGNAL]).map(|info| info.si_signo)
    })?;
    none_is_left()
}

fn by_descriptor(meter: &mut Meter) -> Checked {
    block(&[SIGNAL])?;
    let set = signal_set(&[SIGNAL]);
    let arguments = [usize::MAX, (&raw const set).addr(), 8, 0];
    // SAFETY: a set with the size that the kernel's has; the result is a new descriptor.
    let descriptor = unsafe { call_for_descriptor(libc::SYS_signalfd4, arguments)? };
    let mut info = [0; size_of::<libc::signalfd_siginfo>()];
    gives(meter, "bytes read", info.len(), || {
        send()?;
        read(&descriptor, &mut info)
    })?;
    equal("the signal", info[..4].iter().position(|&byte| i32::from(byte) == SIGNAL), Some(0))?;
    none_is_left()
}

/// The page whose protection the handler lifts.
static PAGE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

extern "C" fn lift(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    let writable = MprotectFlags::READ | MprotectFlags::WRITE;
    // SAFETY: only the operation uses the page. When this fails the write fails again, and the alarm ends it.
    let _ = unsafe { mprotect(PAGE.load(SeqCst), page_size(), writable) };
    CALLS.fetch_add(1, SeqCst);
}

fn fault(meter: &mut Meter) -> Checked {
    let area = Area::new(page_size(), MapFlags::PRIVATE)?;
    PAGE.store(area.start.cast(), SeqCst);
    handle(libc::SIGSEGV, lift, 0)?;
    let mut writes = 0_u8;
    meter.around(
        || Ok(area.protect(MprotectFlags::READ)?),
        |()| {
            writes += 1;
            area.set(0, writes);
            Ok::<_, Errno>(writes)
        },
        |(), written| {
            equal("what is in the page", area.get(0), written)?;
            holds("the handler ran each time", CALLS.load(SeqCst) == u32::from(written))
        },
    )
}
