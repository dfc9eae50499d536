//! `pty`: pseudo terminals.

use std::fs::File;

use harness::check::{Checked, equal, fails, holds};
use rustix::fd::OwnedFd;
use rustix::io::{Errno, read, write};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Winsize, isatty, tcgetattr, tcgetwinsize, tcsetattr,
    tcsetwinsize,
};

use crate::Worker;
use crate::kit::support::supported_unless;
use crate::stressor::{Class, Setting, Stressor, number};

const PTYS: Setting = number("ptys", "pseudo terminals at a time", 1..=256, 16);

pub(super) const PTY: Stressor = Stressor {
    name: "pty",
    classes: &[Class::Device, Class::Os],
    about: "many pseudo terminals: pty(7), ioctl_tty(2)",
    operation: "a pseudo terminal opened, used in both directions and closed",
    verifies: "what is written at one end comes out at the other; size and modes are what was set",
    options: &[PTYS],
    body,
    ..Stressor::PLAIN
};

/// Both ends: what controls the terminal, and the terminal.
fn open() -> Result<(OwnedFd, File), Errno> {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&controller)?;
    unlockpt(&controller)?;
    let name = ptsname(&controller, Vec::new())?;
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    let terminal = rustix::fs::open(name.as_c_str(), flags, rustix::fs::Mode::empty())?;
    Ok((controller, terminal.into()))
}

fn body(worker: &Worker) -> Checked {
    let count = worker.size(&PTYS);
    while worker.goes_on() {
        let mut all = Vec::new();
        for _ in 0..count {
            // ENOSPC: there are as many as allowed. ENOENT: there is no /dev/pts.
            match open() {
                Err(Errno::NOSPC | Errno::IO) if !all.is_empty() => break,
                opened => all.push(supported_unless(
                    "pseudo terminals",
                    opened,
                    &[Errno::NOSPC, Errno::NOENT, Errno::IO],
                )?),
            }
        }
        for (number, (controller, terminal)) in all.iter().enumerate() {
            exchange(controller, terminal, number)?;
            worker.count();
        }
        // The terminal sees that nobody controls it any more.
        for (controller, terminal) in all {
            drop(controller);
            fails("writing to nobody", write(&terminal, b"x"), Errno::IO)?;
        }
    }
    Ok(())
}

fn exchange(controller: &OwnedFd, terminal: &File, number: usize) -> Checked {
    holds("it is a terminal", isatty(terminal))?;
    let size = Winsize { ws_row: 24, ws_col: number as u16 + 1, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(controller, size)?;
    let now = tcgetwinsize(terminal)?;
    equal("rows and columns", (now.ws_row, now.ws_col), (size.ws_row, size.ws_col))?;
    let mut modes = tcgetattr(terminal)?;
    modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(terminal, OptionalActions::Now, &modes)?;
    holds("no echo", !tcgetattr(controller)?.local_modes.contains(LocalModes::ECHO))?;
    let mut bytes = [0; 64];
    equal("bytes typed", write(controller, b"typed")?, 5)?;
    let length = read(terminal, &mut bytes)?;
    equal("what the terminal gets", &bytes[..length], b"typed")?;
    equal("bytes shown", write(terminal, b"shown\n")?, 6)?;
    let length = read(controller, &mut bytes)?;
    equal("what its controller gets", &bytes[..length], b"shown\n")
}
