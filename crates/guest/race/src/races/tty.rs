//! Terminals: pty(7), n_hdlc.

use harness::check::Checked;
use protocol::Need;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, ioctl_fionbio, write};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::Known;
use super::parts::{Shared, or_skip};
use crate::race::Race;
use crate::runner::Runner;

pub(super) const RACES: &[Known] = &[
    Known::new(
        "tty/echo-write",
        "the echo of a raw terminal and write(2) fill one buffer",
        &["4291086b1f08"],
        echo_write,
    )
    .cve("2014-0196")
    .needs(&[Need::Config("UNIX98_PTYS")]),
    Known::new(
        "tty/n-hdlc-flush",
        "TCFLSH takes the frame of n_hdlc that TCXONC is about to send",
        &["82f2341c94d2"],
        n_hdlc_flush,
    )
    .cve("2017-2636")
    .needs(&[Need::Module("n_hdlc")]),
];

/// The number of the line discipline in <linux/tty.h>.
const N_HDLC: i32 = 13;

/// Both ends of a new terminal; neither read(2) nor write(2) waits at them.
fn terminal() -> Result<(OwnedFd, OwnedFd), Errno> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    ioctl_fionbio(&master, true)?;
    unlockpt(&master)?;
    let slave =
        open(ptsname(&master, Vec::new())?, OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK, Mode::empty())?;
    Ok((master, slave))
}

fn echo_write(runner: &Runner) -> Checked {
    let (master, slave) = (Shared::new(), Shared::new());
    let create = || {
        let (ours, theirs) = terminal()?;
        let mut modes = tcgetattr(&theirs)?;
        modes.make_raw();
        modes.local_modes |= LocalModes::ECHO;
        tcsetattr(&theirs, OptionalActions::Now, &modes)?;
        master.set(ours);
        slave.set(theirs);
        Ok(())
    };
    let type_in = || write(master.file(), &[b'a'; 256]);
    let print = || write(slave.file(), &[b'b'; 256]);
    runner.run(Race::between(type_in, print).setup_a(create))
}

fn n_hdlc_flush(runner: &Runner) -> Checked {
    let (master, slave) = (Shared::new(), Shared::new());
    let create = || {
        let (ours, theirs) = terminal()?;
        or_skip("the line discipline N_HDLC", set_discipline(&ours))?;
        master.set(ours);
        slave.set(theirs);
        // Stops the output, so that the frame waits.
        request(master.number(), libc::TCXONC, libc::TCOOFF);
        let _ = write(master.file(), &[b'a'; 64]);
        Ok(())
    };
    let flush = || request(master.number(), libc::TCFLSH, libc::TCIOFLUSH);
    let send = || request(master.number(), libc::TCXONC, libc::TCOON);
    runner.run(Race::between(flush, send).setup_a(create))
}

fn set_discipline(terminal: &OwnedFd) -> Result<(), Errno> {
    let number = N_HDLC;
    // SAFETY: the request reads an integer.
    unsafe { harness::sys::ioctl(terminal, libc::TIOCSETD as u32, (&raw const number).addr()) }.map(drop)
}

/// ioctl(2) with a number; it may fail, for the race is about what else it does.
fn request(terminal: i32, request: libc::Ioctl, argument: i32) {
    // SAFETY: these requests take a number.
    unsafe { libc::ioctl(terminal, request, argument) };
}
