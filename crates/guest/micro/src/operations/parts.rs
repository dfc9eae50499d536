//! What operations of several areas are made of.

use std::fmt::Debug;
use std::time::Duration;

use harness::check::{Checked, equal, holds};
use harness::child::{Child, child, pause_forever};
use rustix::fd::OwnedFd;
use rustix::io::{Errno, read, write};

use crate::Meter;

/// For modes of files and directories that nobody but root sees.
pub(super) const PRIVATE: rustix::fs::Mode = rustix::fs::Mode::RWXU;

/// Measures `operation`, over and over; what it gave last must be `expected`.
pub(super) fn gives<T: Debug + PartialEq>(
    meter: &mut Meter,
    what: &str,
    expected: T,
    mut operation: impl FnMut() -> Result<T, Errno>,
) -> Checked {
    let mut last = None;
    meter.each(|| {
        last = Some(operation()?);
        Ok::<_, Errno>(())
    })?;
    equal(what, last, Some(expected))
}

/// Measures an operation that has nothing to give but that it succeeded, or not.
pub(super) fn succeeds(meter: &mut Meter, operation: impl FnMut() -> Result<(), Errno>) -> Checked {
    gives(meter, "the result", (), operation)
}

/// What a `before` gives that has nothing to prepare.
pub(super) fn nothing() -> Checked {
    Ok(())
}

/// Lets others run until they have nothing more to do. It is for what is not measured: an idle CPU lets time pass.
pub(super) fn rest() {
    std::thread::sleep(Duration::from_millis(2));
}

/// Lets the kernel do what it has put off until nobody can be looking: several of RCU's grace periods.
pub(super) fn long_rest() {
    std::thread::sleep(Duration::from_millis(50));
}

/// Waits until `process` sleeps, as proc_pid_stat(5) says.
pub(super) fn wait_for_sleep(process: &Child) -> Checked {
    let path = format!("/proc/{}/stat", process.pid().as_raw_pid());
    loop {
        rest();
        if std::fs::read_to_string(&path)?.contains(") S ") {
            return Ok(());
        }
    }
}

/// A child that has come to rest and does nothing.
pub(super) fn resting_child() -> Checked<Child> {
    let resting = child(|| pause_forever())?;
    wait_for_sleep(&resting)?;
    Ok(resting)
}

/// Measures `size` bytes from one end to the other, by one process.
pub(super) fn write_read(meter: &mut Meter, writer: &OwnedFd, reader: &OwnedFd, size: usize) -> Checked {
    let (data, mut buffer) = (vec![b'k'; size], vec![0; size]);
    gives(meter, "bytes written and read", (size, size), || {
        Ok((write(writer, &data)?, read(reader, &mut *buffer)?))
    })?;
    holds("they are what was written", data == buffer)
}

/// Where one of two processes reads from, and where it writes to.
#[derive(Clone, Copy)]
pub(super) struct Ends<'a> {
    pub(super) reader: &'a OwnedFd,
    pub(super) writer: &'a OwnedFd,
}

impl<'a> Ends<'a> {
    /// A socket is both.
    pub(super) fn of(socket: &'a OwnedFd) -> Self {
        Self { reader: socket, writer: socket }
    }
}

/// Measures one byte to another process, which has the ends `there`, and its answer.
pub(super) fn round_trip(meter: &mut Meter, here: Ends<'_>, there: Ends<'_>) -> Checked {
    let (mut byte, mut trips) = ([0], 0_u8);
    let other = child(|| {
        let mut byte = [0];
        while read(there.reader, &mut byte)? == 1 {
            write(there.writer, &[byte[0].wrapping_add(1)])?;
        }
        Ok(())
    })?;
    meter.each(|| {
        trips = trips.wrapping_add(1);
        write(here.writer, &byte)?;
        read(here.reader, &mut byte)
    })?;
    drop(other);
    equal("trips that the byte counted", byte[0], trips)
}
