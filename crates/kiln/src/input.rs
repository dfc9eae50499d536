//! What is piped or redirected into kiln for a command in a machine.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use crate::failure::WrongUsage;

/// Most bytes that are passed on: they are in the machine's memory.
const MAX: u64 = 16 << 20;

/// Standard input, as far as it is known without waiting for anybody.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A terminal, `/dev/null`, or something that has ended.
    Nothing,
    /// A pipe into which nobody has written yet; who started kiln may have left it open by chance.
    Silent,
    /// All of it.
    Bytes(Vec<u8>),
}

impl Input {
    /// Reads standard input to its end, if it has begun.
    pub(crate) fn read() -> Result<Self> {
        Self::of(io::stdin().as_fd())
    }

    /// What is worth knowing where there is something in it, and a program that does not get it.
    pub(crate) fn ignored_note() -> Option<String> {
        let is_there = state(io::stdin().as_fd()).is_ok_and(|state| state == State::Begun);
        is_there
            .then(|| "standard input is not passed to the program: use a script that provides it".to_string())
    }

    fn of(fd: BorrowedFd<'_>) -> Result<Self> {
        match state(fd).context("standard input")? {
            State::None => Ok(Self::Nothing),
            State::Silent => Ok(Self::Silent),
            State::Begun => read(fd),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    None,
    Silent,
    Begun,
}

fn state(fd: BorrowedFd<'_>) -> io::Result<State> {
    match FileType::from_raw_mode(fstat(fd)?.st_mode) {
        FileType::RegularFile => Ok(State::Begun),
        FileType::Fifo | FileType::Socket => {
            let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
            poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
            let events = fds[0].revents();
            Ok(match () {
                () if events.contains(PollFlags::IN) => State::Begun,
                () if events.is_empty() => State::Silent,
                () => State::None,
            })
        }
        _ => Ok(State::None),
    }
}

fn read(fd: BorrowedFd<'_>) -> Result<Input> {
    let mut bytes = Vec::new();
    let file = File::from(fd.try_clone_to_owned().context("standard input")?);
    file.take(MAX + 1).read_to_end(&mut bytes).context("standard input")?;
    if bytes.len() as u64 > MAX {
        let text = format!("standard input: a command gets at most {} MiB", MAX >> 20);
        return Err(WrongUsage(text).into());
    }
    Ok(if bytes.is_empty() { Input::Nothing } else { Input::Bytes(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    #[test]
    fn a_pipe_is_read_when_somebody_has_written_into_it() {
        let (reader, mut writer) = io::pipe().unwrap();
        assert_eq!(Input::of(reader.as_fd()).unwrap(), Input::Silent);
        writer.write_all(b"text").unwrap();
        drop(writer);
        assert_eq!(Input::of(reader.as_fd()).unwrap(), Input::Bytes(b"text".to_vec()));
        assert_eq!(Input::of(reader.as_fd()).unwrap(), Input::Nothing, "it has ended");
    }

    #[test]
    fn a_file_is_read_and_nothing_else_is() {
        let mut file = tempfile::tempfile().unwrap();
        assert_eq!(Input::of(file.as_fd()).unwrap(), Input::Nothing);
        file.write_all(b"text").unwrap();
        file.rewind().unwrap();
        assert_eq!(Input::of(file.as_fd()).unwrap(), Input::Bytes(b"text".to_vec()));
        assert_eq!(Input::of(File::open("/dev/null").unwrap().as_fd()).unwrap(), Input::Nothing);
        let large = tempfile::tempfile().unwrap();
        large.set_len(MAX + 1).unwrap();
        assert!(Input::of(large.as_fd()).is_err_and(|error| error.is::<WrongUsage>()));
    }
}
