//! The TPM of a machine: swtpm(8), a program beside QEMU.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};

use ::host::find_program;

use super::{in_memory, socket_pair};
use crate::error::Error;
use crate::vmm::process::end_with_kiln;

/// Finds the program in the user's PATH.
pub(in crate::vmm) fn locate() -> Result<PathBuf, Error> {
    find_program("swtpm").ok_or(Error::NoSwtpm)
}

/// Starts a new one; gives QEMU's end of the connection with which it ends.
pub(in crate::vmm) fn start() -> Result<OwnedFd, Error> {
    let (qemu, its) = socket_pair()?;
    let command = command(&locate()?, its.into(), in_memory("tpm", &[])?);
    let (sender, receiver) = channel();
    std::thread::spawn(move || keep(command, &sender));
    let gone = |_| std::io::Error::other("the thread that starts it died");
    let started = receiver.recv().map_err(gone).flatten();
    started.map(|()| qemu.into()).map_err(|source| Error::host("starting swtpm", source))
}

/// QEMU controls it through its standard input. Its state is in memory, and so gone with it.
fn command(program: &Path, control: OwnedFd, state: OwnedFd) -> Command {
    let mut command = Command::new(program);
    let words = ["socket", "--tpm2", "--terminate", "--ctrl", "type=unixio,clientfd=0", "--tpmstate"];
    command.args(words).arg("backend-uri=file:///proc/self/fd/1");
    command.stdin(control).stdout(state).stderr(Stdio::null());
    end_with_kiln(&mut command);
    command
}

/// The life of the thread that owns the program.
fn keep(mut command: Command, started: &Sender<std::io::Result<()>>) {
    let child = command.spawn();
    // The program has its own copies now; ours would keep the connection from closing with it.
    drop(command);
    match child {
        Ok(mut child) => {
            // Whoever asked is waiting for the answer.
            let _ = started.send(Ok(()));
            // How it ended QEMU says, whose connection it was.
            let _ = child.wait();
        }
        Err(error) => {
            let _ = started.send(Err(error));
        }
    }
}
