//! A program that is traced from its first instruction.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

use super::ptrace;
use crate::error::Error;

/// Starts a program that this thread traces; gives its process.
///
/// Between fork and exec the child waits until it is traced. std waits for exec, so another thread starts it.
pub(super) fn launch(mut command: Command) -> Result<i32, Error> {
    let program = command.get_program().to_string_lossy().into_owned();
    let (mut made, mut tell) = io::pipe()?;
    let (mut traced, mut go) = io::pipe()?;
    let wait = move || {
        tell.write_all(&std::process::id().to_ne_bytes())?;
        traced.read_exact(&mut [0])
    };
    // SAFETY: getpid, write and read may be called between fork and exec.
    unsafe { command.pre_exec(wait) };
    let start = thread::Builder::new().name("launch".to_owned()).spawn(move || command.spawn())?;
    let mut number = [0; 4];
    let seized = made.read_exact(&mut number).and_then(|()| ptrace::seize(i32::from_ne_bytes(number)));
    if seized.is_ok() {
        go.write_all(&[0])?;
    }
    // A child that nobody traces reads the end of the pipe and reports that.
    drop(go);
    let started =
        start.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")));
    match (started, seized) {
        (Ok(_), Ok(())) => Ok(i32::from_ne_bytes(number)),
        (_, Err(error)) if error.kind() != io::ErrorKind::UnexpectedEof => Err(Error::Trace(program, error)),
        (Err(error), _) => Err(Error::Program(program, error)),
        (Ok(_), Err(error)) => Err(Error::Trace(program, error)),
    }
}
