//! What observing a job takes, beside strace and forkstat.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::kiln::{PROGRAM, run};
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// Files that make compiles: each takes four processes.
const FILES: usize = 400;

/// Times and promises, in so many rounds.
pub(crate) fn measure(rounds: usize) -> Result<(String, Vec<Promise>)> {
    let job = Job::new()?;
    let mut racers = [
        job.racer("make, not observed", &[]),
        job.racer("kiln observe", &[PROGRAM, "observe", "--"]),
        job.racer("kiln observe forks", &[PROGRAM, "observe", "forks", "--stats", "--"]),
        job.racer(
            "strace, processes and signals",
            &["strace", "-f", "-o", "/dev/null", "-e", "trace=process"],
        ),
        job.racer("perf trace", &["perf", "trace", "-o", "/dev/null", "-e", "clone*,fork,vfork,exec*,exit*"]),
        Racer::new("forkstat beside it", || job.beside_forkstat()).after(|| job.clean()),
    ];
    race(&mut racers, rounds)?;
    let [alone, traced, heard, strace, perf, forkstat] = &racers;
    let promises = vec![
        Promise::ratio(traced, alone, None),
        Promise::ratio(heard, alone, None),
        Promise::ratio(strace, alone, None),
        Promise::ratio(perf, alone, None),
        Promise::ratio(forkstat, alone, None),
    ];
    Ok((table(&racers), promises))
}

/// A folder in which make has something to do.
struct Job {
    directory: TempDir,
}

impl Job {
    fn new() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let job = Self { directory };
        let objects: Vec<String> = (0..FILES).map(|number| format!("f{number}.o")).collect();
        for number in 0..FILES {
            let source = format!(
                "#include <stdio.h>\n#include <stdlib.h>\nint f{number}(int a) {{ return printf(\"%d\", a); }}\n"
            );
            std::fs::write(job.path(&format!("f{number}.c")), source)?;
        }
        std::fs::write(job.path("Makefile"), format!("all: {}\n", objects.join(" ")))?;
        Ok(job)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn racer<'a>(&'a self, name: &'static str, before: &'a [&'a str]) -> Racer<'a> {
        Racer::new(name, move || run(&mut self.make(before))).after(|| self.clean())
    }

    /// make, as an argument of another program.
    fn make(&self, before: &[&str]) -> Command {
        let words: Vec<&str> = before.iter().copied().chain(["make", "-s", "-j2", "-C"]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(self.directory.path()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn beside_forkstat(&self) -> Result<()> {
        let mut other = Command::new("forkstat").stdout(Stdio::null()).spawn().context("forkstat")?;
        let done = run(&mut self.make(&[]));
        other.kill()?;
        other.wait()?;
        done
    }

    fn clean(&self) -> Result<()> {
        let objects = std::fs::read_dir(self.directory.path())?.flatten().map(|entry| entry.path());
        let is_object = |path: &PathBuf| path.extension() == Some(Path::new("o").as_os_str());
        for object in objects.filter(is_object) {
            std::fs::remove_file(object)?;
        }
        Ok(())
    }
}
