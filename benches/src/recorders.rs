//! What recording an event costs, beside trace-cmd and perf, in instructions of a machine whose clock goes by them.
//!
//! The machine has one CPU, on which recorders also take what the kernel has recorded: the time between begin and end of the load has
//! all that they do meanwhile, whatever this host does.

use std::fmt::Write;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use hardware::part::INSTRUCTION_NS;
use serde_json::Value;
use tempfile::TempDir;

use crate::kiln::{Kiln, PROGRAM};
use crate::promise::Promise;

/// The event, which comes as often as the load calls.
const EVENT: &str = "syscalls:sys_enter_getppid";

/// So many that it matters little what a recorder takes only at the end.
const CALLS: u32 = 1_000_000;

/// Before what the load says: nanoseconds.
const TOOK: &str = "took ";

/// The machine: its user space has the others.
const MACHINE: [&str; 6] = ["--root", "debian:trace-cmd,linux-perf", "--memory", "2G", "--device", "icount"];

/// Instructions of an event, and promises.
pub(crate) fn measure(kiln: &Kiln) -> Result<(String, Vec<Promise>)> {
    let place = Place::new()?;
    let [alone, trace_cmd, perf] = place.times(["run", kiln.locator()], &place.others()?)?;
    let [recorded] = place.times(["trace", "--in", kiln.locator(), "--events", EVENT], &place.load()?)?;
    let event = |time: f64| (time - alone) / f64::from(CALLS) / f64::from(INSTRUCTION_NS.get());
    let [ours, trace_cmd, perf] = [recorded, trace_cmd, perf].map(event);
    let mut table = String::from("| an event recorded | instructions |\n|---|---|\n");
    for (name, instructions) in [("trace-cmd record", trace_cmd), ("perf record", perf), ("kiln trace", ours)]
    {
        // Writing to a String does not fail.
        let _ = writeln!(table, "| {name} | {instructions:.0} |");
    }
    let promise = |what: &str, value| Promise::plain(what, value, Some(1.05));
    let promises = vec![
        promise("kiln trace / trace-cmd record, instructions", ours / trace_cmd),
        promise("kiln trace / perf record, instructions", ours / perf),
    ];
    Ok((table, promises))
}

/// The programs, and what kiln keeps.
struct Place(TempDir);

impl Place {
    fn new() -> Result<Self> {
        Ok(Self(tempfile::tempdir()?))
    }

    /// Calls what does nothing, and says how long that took.
    fn load(&self) -> Result<PathBuf> {
        self.script("load", &load())
    }

    /// The load alone, and recorded by the others.
    fn others(&self) -> Result<PathBuf> {
        self.script(
            "others",
            &format!(
                "cat > /tmp/load <<'END'\n#!/bin/sh\n{}END\nchmod +x /tmp/load && /tmp/load &&\n\
                 trace-cmd record -q -C mono -b 4096 -e {EVENT} -o /tmp/trace.dat /tmp/load &&\n\
                 perf record --quiet --count=1 --mmap-pages 4M --event {EVENT} --output /tmp/perf.data /tmp/load\n",
                load()
            ),
        )
    }

    fn script(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.0.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}"))?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// Runs a program in the machine, and gives what it says of its times, in nanoseconds.
    fn times<const N: usize, const M: usize>(&self, call: [&str; M], program: &Path) -> Result<[f64; N]> {
        let state = tempfile::tempdir_in(self.0.path())?;
        let mut command = Command::new(PROGRAM);
        command.args(call).args(MACHINE).arg("--exec").arg(program).env("XDG_STATE_HOME", state.path());
        let output = command.stdin(Stdio::null()).output().context(PROGRAM)?;
        ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let said = said(&state.path().join("kiln/runs"))?;
        let times = said.lines().filter_map(|line| line.strip_prefix(TOOK)?.parse().ok());
        times.collect::<Vec<f64>>().try_into().map_err(|_| anyhow::anyhow!("{command:?} says {said:?}"))
    }
}

fn load() -> String {
    format!("begin=$(date +%s%N)\nperl -e 'getppid for 1..{CALLS}'\necho {TOOK}$(($(date +%s%N) - begin))\n")
}

/// What the only case of the only session has written.
fn said(sessions: &Path) -> Result<String> {
    let only = |folder: &Path, is: fn(&Path) -> bool| -> Result<PathBuf> {
        let mut entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?.flatten();
        let found = entries.find(|entry| is(&entry.path()));
        Ok(found.with_context(|| format!("{} is empty", folder.display()))?.path())
    };
    let session = only(sessions, Path::is_dir)?;
    let case = only(&session.join("cases"), |path| path.extension().is_some_and(|end| end == "json"))?;
    let run: Value = serde_json::from_slice(&std::fs::read(case)?)?;
    Ok(run["output"].as_str().context("no output")?.to_owned())
}
