//! What recording an event takes, beside perf, and reading it, beside babeltrace2.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::compiler::compile;
use crate::kiln::{PROGRAM, run};
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// The event, which comes as often as the program calls.
const EVENT: &str = "syscalls:sys_enter_getppid";

/// Calls a million times what does nothing.
const SOURCE: &str = "#include <sys/syscall.h>\n#include <unistd.h>\n\
    int main(void) { for (int i = 0; i < 1000000; i++) syscall(SYS_getppid); return 0; }\n";

/// What the kernel has for the events of a CPU: both get the same.
const BUFFER: &str = "4M";

/// Times and promises, in so many rounds.
pub(crate) fn measure(rounds: usize) -> Result<(String, Vec<Promise>)> {
    let place = Place::new()?;
    place.kiln_records()?;
    let trace = place.path("trace");
    let (perf, ours) = (place.path("perf.data"), place.path("ours"));
    let mut racers = [
        Racer::new("a million calls, not recorded", || run(&mut Command::new(&place.program))),
        Racer::new("perf record, a million events", || {
            let mut command = Command::new("perf");
            command.args([
                "record",
                "--quiet",
                "--count=1",
                "--mmap-pages",
                BUFFER,
                "--event",
                EVENT,
                "--output",
            ]);
            run(command.arg(&perf).arg(&place.program))
        }),
        Racer::new("kiln trace, a million events", || place.record(&ours)).after(|| {
            let _ = std::fs::remove_dir_all(&ours);
            Ok(())
        }),
        Racer::new("babeltrace2, a million events as text", || {
            quiet(Command::new("babeltrace2").arg(&trace))
        }),
        Racer::new("kiln trace view, the same", || {
            quiet(Command::new(PROGRAM).args(["trace", "view"]).arg(&trace))
        }),
        Racer::new("babeltrace2, decoded for nobody", || {
            quiet(Command::new("babeltrace2").args(["--output-format", "dummy"]).arg(&trace))
        }),
        Racer::new("kiln trace view --stats", || {
            quiet(Command::new(PROGRAM).args(["trace", "view", "--stats"]).arg(&trace))
        }),
        Racer::new("kiln trace view --at its end, first", || at_end(&trace)).after(|| {
            // What one round leaves helps no other.
            let _ = std::fs::remove_dir_all(trace.join("index/states-1"));
            Ok(())
        }),
        Racer::new("kiln trace view --at its end, again", || at_end(&trace)),
    ];
    race(&mut racers, rounds)?;
    let [alone, perf, kiln, their_text, our_text, dummy, statistics, at_first, again] = &racers;
    let promises = vec![
        Promise::ratio(kiln, perf, Some(1.0)),
        Promise::ratio(kiln, alone, None),
        Promise::ratio(our_text, their_text, None),
        Promise::ratio(statistics, their_text, Some(0.1)),
        Promise::ratio(statistics, dummy, None),
        Promise::ratio(again, at_first, Some(0.5)),
    ];
    Ok((table(&racers), promises))
}

/// The program, and a recording of it.
struct Place {
    directory: TempDir,
    program: PathBuf,
}

impl Place {
    fn new() -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let program = compile(directory.path(), "calling", SOURCE, &[])?;
        Ok(Self { directory, program })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What is read.
    fn kiln_records(&self) -> Result<()> {
        self.record(&self.path("kept"))?;
        std::fs::rename(self.path("kept/trace"), self.path("trace")).context("the trace")
    }

    fn record(&self, folder: &Path) -> Result<()> {
        let mut command = Command::new(PROGRAM);
        command.args(["trace", "--only", "--events", EVENT, "--buffer", BUFFER, "--output"]).arg(folder);
        run(command.arg("--exec").arg(&self.program))
    }
}

/// What was done at the end of a trace.
fn at_end(trace: &Path) -> Result<()> {
    quiet(Command::new(PROGRAM).args(["trace", "view", "--at", "3600s"]).arg(trace))
}

/// Runs a program whose output nobody reads.
fn quiet(command: &mut Command) -> Result<()> {
    run(command.stdout(Stdio::null()))
}
