//! Many objects, from one git.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use host::task::Failure;

use crate::Error;
use crate::git::{self, forget_users_variables};

/// Longest line with which git announces an object.
const HEADER_MAX: u64 = 4096;

/// An object of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its hash.
    pub hash: String,
    /// Nothing if it is larger than was asked for.
    pub content: Option<Vec<u8>>,
}

/// Reads objects in the order of their names: `git cat-file --batch`. The programs end with this.
#[derive(Debug)]
pub struct Objects<'a> {
    /// What writes the names, if it is a program.
    log: Option<Child>,
    pub(crate) git: Child,
    output: BufReader<ChildStdout>,
    limit: u64,
    interrupt: &'a AtomicBool,
}

impl<'a> Objects<'a> {
    /// Reads the objects with these names, such as `HASH` or `COMMIT:path`. Those of more than `limit` bytes are passed over.
    ///
    /// # Errors
    ///
    /// When git cannot be started.
    pub fn named<'n>(
        names: impl IntoIterator<Item = &'n str>,
        place: &Path,
        limit: u64,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let list = listed(names).map_err(broken)?;
        Self::of(list.into(), None, place, limit, interrupt)
    }

    /// Reads an object of each commit from HEAD back to the first, without those of merged branches: `name` is that of the
    /// object in the format of git-log(1), such as `%H:path`.
    ///
    /// # Errors
    ///
    /// When git cannot be started.
    pub fn of_log(name: &str, place: &Path, limit: u64, interrupt: &'a AtomicBool) -> Result<Self, Error> {
        let format = format!("--format={name}");
        let mut command = git(place, &["log", "--first-parent", "--no-show-signature", &format, "HEAD"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut log = command.spawn().map_err(|error| refused(place, error))?;
        let names = log.stdout.take().map_or_else(Stdio::null, Stdio::from);
        Self::of(names, Some(log), place, limit, interrupt)
    }

    fn of(
        names: Stdio,
        log: Option<Child>,
        place: &Path,
        limit: u64,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let mut command = git(place, &["cat-file", "--batch", "--buffer"]);
        command.stdin(names).stdout(Stdio::piped());
        let mut git = command.spawn().map_err(|error| refused(place, error))?;
        let output = git.stdout.take().ok_or_else(|| broken(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self { log, git, output: BufReader::with_capacity(1 << 16, output), limit, interrupt })
    }

    /// The next object; the inner nothing stands for a name that no object has, the outer one for the end.
    ///
    /// # Errors
    ///
    /// When git ends early, and when the user wants to stop.
    pub fn read(&mut self) -> Result<Option<Option<Object>>, Error> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted { by_itself: true }.into());
        }
        let mut line = String::new();
        let read = self.output.by_ref().take(HEADER_MAX).read_line(&mut line).map_err(broken)?;
        if read == 0 {
            return self.end();
        }
        let words: Vec<&str> = line.trim_end().rsplitn(3, ' ').collect();
        let [size, _, hash] = words[..] else { return Ok(Some(None)) };
        let Ok(size) = size.parse::<u64>() else { return Ok(Some(None)) };
        let content = self.content(size)?;
        Ok(Some(Some(Object { hash: hash.to_owned(), content })))
    }

    /// There is no more, unless git has ended over something that it says on standard error.
    fn end(&mut self) -> Result<Option<Option<Object>>, Error> {
        for program in self.log.iter_mut().chain([&mut self.git]) {
            let done = program.wait().map_err(broken)?;
            if !done.success() {
                return Err(git::refused(&["log"], "fatal: the repository has no commits, or is damaged"));
            }
        }
        Ok(None)
    }

    fn content(&mut self, size: u64) -> Result<Option<Vec<u8>>, Error> {
        let mut content = Vec::new();
        let is_wanted = size <= self.limit;
        let read = match is_wanted {
            true => self.output.by_ref().take(size).read_to_end(&mut content).map(|read| read as u64),
            false => io::copy(&mut self.output.by_ref().take(size), &mut io::sink()),
        };
        let mut end = [0];
        if read.map_err(broken)? != size || self.output.read(&mut end).map_err(broken)? != 1 {
            return Err(broken(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(is_wanted.then_some(content))
    }
}

impl Drop for Objects<'_> {
    fn drop(&mut self) {
        for program in self.log.iter_mut().chain([&mut self.git]) {
            // It may have ended already.
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

fn git(place: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    host::contain(&mut command);
    forget_users_variables(&mut command);
    command.args(arguments).current_dir(place).env("LC_ALL", "C").stderr(Stdio::null());
    command
}

fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> io::Result<File> {
    let text = names.into_iter().fold(String::new(), |text, name| text + name + "\n");
    let mut list = tempfile::tempfile()?;
    list.write_all(text.as_bytes())?;
    list.rewind()?;
    Ok(list)
}

fn refused(place: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound if place.is_dir() => Failure::Missing("git".to_owned()).into(),
        _ => broken(error),
    }
}

fn broken(source: io::Error) -> Error {
    Failure::Host { program: "git cat-file".to_owned(), source }.into()
}
