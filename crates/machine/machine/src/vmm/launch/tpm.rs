//! The TPM of a machine: swtpm(8), a program beside QEMU.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ::host::find_program;

use super::{in_memory, socket_pair};
use crate::error::Error;
use crate::vmm::process::{end_with_kiln, start_in_thread};

/// Finds the program in the user's PATH.
pub(in crate::vmm) fn locate() -> Result<PathBuf, Error> {
    find_program("swtpm").ok_or(Error::NoSwtpm)
}

/// Starts a new one; gives QEMU's end of the connection with which it ends.
pub(in crate::vmm) fn start() -> Result<OwnedFd, Error> {
    let (qemu, its) = socket_pair()?;
    let mut command = command(&locate()?, its.into(), in_memory("tpm", &[])?);
    let action = "starting swtpm";
    // The command goes with the closure: our copies would keep the connection from closing with the program.
    let spawn = move || Ok((command.spawn().map_err(|source| Error::host(action, source))?, ()));
    // How it ended QEMU says, whose connection it was.
    start_in_thread(action, spawn, |mut child| drop(child.wait()))?;
    Ok(qemu.into())
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
