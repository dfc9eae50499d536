//! Builds selftests of a kernel tree, outside of the tree.
//!
//! What was built is kept, so that a later call builds only what has changed since.

use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use host::Task;
use host::task::Failure;
use kbuild::diagnostics::Diagnostics;
use kernel::Caller;
use sha2::{Digest, Sha256};

use super::place::Tree;
use super::{LIST, not_built};
use crate::suites::Error;

/// Programs without which nothing is built, each in the package of its name.
const PROGRAMS: &[&str] = &["make", "gcc", "rsync"];

/// What selftests are compiled by; clang makes those of BPF.
const COMPILERS: [&str; 2] = ["gcc", "clang"];

/// What a call of kiln from a makefile would pass on, and what would send the output elsewhere.
const VARIABLES: &[&str] =
    &["MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "O", "KBUILD_OUTPUT", "OUTPUT", "BUILD"];

/// How often the end of make, and the user's wish to stop, are looked at.
const INTERVAL: Duration = Duration::from_millis(50);

/// Longer than any build of selftests that somebody waits for.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Most of make's output in which an error is looked for, in bytes.
const LOG_MAX: u64 = 64 << 20;

/// Something to be built.
#[derive(Debug)]
struct Work<'a> {
    tree: &'a Tree,
    directory: PathBuf,
    installed: PathBuf,
}

/// Builds the selftests of `tree` in a folder below `store`, and gives the one in which they are installed: `place`, or one
/// beside what was built, which the next build replaces.
///
/// # Errors
///
/// When a program is missing, make fails, or the user wants to stop.
pub fn build(
    tree: &Tree,
    store: &Path,
    place: Option<&Path>,
    caller: &mut Caller<'_>,
) -> Result<PathBuf, Error> {
    // make finds its programs in nothing else.
    if let Some(program) = PROGRAMS.iter().find(|program| host::find_program(program).is_none()) {
        return Err(Error::NoProgram { program });
    }
    let directory = store.join("kselftest").join(key(tree)?);
    kbuild::note_missing_sandbox(caller);
    let installed = place.map_or_else(|| directory.join("installed"), Path::to_owned);
    let plain = |c: char| c.is_alphanumeric() || "/._-+@,=~:".contains(c);
    if !installed.to_str().is_some_and(|path| path.chars().all(plain)) {
        return Err(Error::OddPath { path: installed });
    }
    let work = Work { tree, directory, installed };
    fs::create_dir_all(work.out()).map_err(Error::host("make", &work.directory))?;
    let _lock = work.lock(caller)?;
    work.make(caller)
}

/// Names a tree at its place and a group: another tree at the same place is another one.
fn key(tree: &Tree) -> Result<String, Error> {
    let found = tree.root.metadata().map_err(Error::host("look at", &tree.root))?;
    let text = format!("{}\0{}\0{}", tree.root.display(), found.dev(), found.ino());
    let hash = Sha256::digest(text.as_bytes());
    let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{hash}-{}", tree.group.as_deref().unwrap_or("all").replace('/', "-")))
}

impl Work<'_> {
    /// Where make works.
    fn out(&self) -> PathBuf {
        self.directory.join("build")
    }

    /// Waits until no other kiln builds the same.
    fn lock(&self, caller: &mut Caller<'_>) -> Result<File, Error> {
        let path = self.directory.join("lock");
        let file = File::create(&path).map_err(Error::host("make", &path))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(source)) => return Err(Error::host("lock", &path)(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            caller.progress("waiting for another kiln that builds the same selftests");
            pause(caller)?;
        }
    }

    /// Headers first: the tests are compiled against those of their own kernel.
    fn make(&self, caller: &mut Caller<'_>) -> Result<PathBuf, Error> {
        let log = self.directory.join("make.log");
        let output = File::create(&log).map_err(Error::host("make", &log))?;
        let installed = self.installed.clone();
        // A test that is no more would still be there.
        let _ = fs::remove_dir_all(&installed);
        fs::create_dir_all(&installed).map_err(Error::host("make", &installed))?;
        let group = self.tree.group.as_deref();
        caller.progress("building the headers of the kernel for its selftests");
        self.run(&self.tree.root, &["headers"], (&output, &log), caller)?;
        caller.progress(&format!("building the selftests {}", group.unwrap_or("of all groups")));
        let install = format!("KSFT_INSTALL_PATH={}", installed.display());
        let targets = group.map(|group| format!("TARGETS={group}"));
        let arguments: Vec<&str> = ["install", &install].into_iter().chain(targets.as_deref()).collect();
        match self.run(&self.tree.selftests(), &arguments, (&output, &log), caller) {
            Err(Error::Build { error, log: path }) => {
                // What cannot be built must not keep back the rest of the group.
                let anyway = [&arguments[..], &["--ignore-errors"]].concat();
                self.run(&self.tree.selftests(), &anyway, (&output, &log), caller)?;
                if !installed.join(LIST).is_file() {
                    return Err(Error::Build { error, log: path });
                }
                let errors = not_built::text(&self.diagnostics(&log)?);
                let file = installed.join(not_built::FILE);
                fs::write(&file, errors).map_err(Error::host("write", &file))?;
                Ok(installed)
            }
            other => other.map(|()| installed),
        }
    }

    /// Runs make in `place`, which leaves the tree as it is. Makefiles that try the compiler out make a
    /// directory for that where they are, unless told otherwise: `try-run` of Kbuild.
    fn run(
        &self,
        place: &Path,
        targets: &[&str],
        (output, log): (&File, &Path),
        caller: &Caller<'_>,
    ) -> Result<(), Error> {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let (place, out) = (format!("--directory={}", place.display()), self.out());
        let (out, attempts) = (format!("O={}", out.display()), format!("TMPOUT={}/try_$$$$", out.display()));
        let jobs = format!("--jobs={jobs}");
        let arguments = [&[place.as_str(), &jobs, &out, &attempts], targets].concat();
        let forget = |command: &mut Command| {
            VARIABLES.iter().for_each(|name| {
                command.env_remove(name);
            });
        };
        let output = output.try_clone().map_err(Error::host("write", log))?;
        let make = Task::new("make", &arguments, caller.interrupt).limit(LIMIT).with(forget).log(output);
        let compilers = kbuild::directories_of(COMPILERS);
        let read = [self.tree.root.as_path()].into_iter().chain(compilers.iter().map(PathBuf::as_path));
        let read: Vec<&Path> = read.collect();
        let make = make.sandboxed(&[&self.directory, &self.installed], &read);
        let make = make.map_err(Error::host("work in", &self.directory))?;
        if make.run(&mut || {}).map_err(|failure| self.failed(failure))?.success {
            return Ok(());
        }
        let diagnostics = self.diagnostics(log)?;
        let error =
            diagnostics.first_error().map_or_else(|| "make gave no reason".to_string(), ToString::to_string);
        Err(Error::Build { error, log: log.to_owned() })
    }

    /// What compilers complained about so far.
    fn diagnostics(&self, log: &Path) -> Result<Diagnostics, Error> {
        let mut text = Vec::new();
        let read = File::open(log).and_then(|file| file.take(LOG_MAX).read_to_end(&mut text));
        read.map_err(Error::host("read", log))?;
        Ok(Diagnostics::of(&String::from_utf8_lossy(&text), &self.tree.root, &self.out()))
    }

    fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Interrupted { .. } => Error::Interrupted,
            Failure::Missing(_) => Error::NoProgram { program: "make" },
            failure => Error::host("run make in", &self.tree.root)(std::io::Error::other(failure)),
        }
    }
}

fn pause(caller: &Caller<'_>) -> Result<(), Error> {
    if caller.is_interrupted() {
        return Err(Error::Interrupted);
    }
    sleep(INTERVAL);
    Ok(())
}
