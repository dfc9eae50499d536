//! What clones take in memory: ten that do nothing at the same time, beside ten machines that were booted.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};

use anyhow::{Context, Result, ensure};
use tempfile::tempdir;

use crate::compiler::compile;
use crate::kiln::Kiln;
use crate::promise::Promise;

/// Machines at the same time.
const MACHINES: u32 = 10;

/// Says that it runs, and stays. Its limit is an hour.
const SOURCE: &str = "int main(void) { write(1, \"up\\n\", 3); pause(); }\n";
const LIMIT: [&str; 2] = ["--case-timeout", "1h"];

/// Memory in MiB.
pub(crate) struct Memory {
    booted: f64,
    cloned: f64,
    one: f64,
}

impl Memory {
    /// Looks at machines of which each runs a program that sleeps.
    pub(crate) fn measure(kiln: &Kiln) -> Result<Self> {
        let directory = tempdir()?;
        let program = compile(directory.path(), "0", SOURCE, &["-static", "-w"])?;
        for number in 1..MACHINES {
            std::fs::copy(&program, directory.path().join(number.to_string()))?;
        }
        let suite = ["--suite", directory.path().to_str().context("a path that is text")?];
        let run = |more: &[&str]| kiln.events(&[&suite[..], &LIMIT, more].concat());
        let (all, first) = (MACHINES.to_string(), ["--case", "0"]);
        // The machine that all clones are of is kept from here on.
        mib_of(vec![run(&first)], 1)?;
        let boots = (0..MACHINES).map(|_| run(&[&first[..], &["--isolation", "suite"]].concat()));
        let booted = mib_of(boots.collect(), MACHINES)?;
        let cloned = mib_of(vec![run(&["--jobs", &all])], MACHINES)?;
        Ok(Self { booted, cloned, one: mib_of(vec![run(&first)], 1)? })
    }

    /// What is promised of them.
    pub(crate) fn promises(&self) -> [Promise; 2] {
        let one_more = (self.cloned - self.one) / f64::from(MACHINES - 1);
        let ratio = self.cloned / self.booted;
        [
            Promise::plain("memory of ten clones / of ten booted machines", ratio, Some(0.3)),
            Promise::size("memory of one more clone", one_more, None),
        ]
    }
}

/// What the machines of these take together as soon as so many programs run: each page that several share counts once
/// (`Pss` of proc_pid_smaps(5)).
fn mib_of(commands: Vec<Command>, programs: u32) -> Result<f64> {
    let mut kilns = Kilns(Vec::new());
    let (up, ups) = channel();
    for mut command in commands {
        let mut kiln = command.stdout(Stdio::piped()).spawn().context("kiln")?;
        let events = kiln.stdout.take().context("its output is a pipe")?;
        kilns.0.push(kiln);
        let up = up.clone();
        std::thread::spawn(move || tell(BufReader::new(events), &up));
    }
    drop(up);
    for _ in 0..programs {
        ups.recv().context("kiln ended before its programs ran")?;
    }
    let machines: Vec<u64> = kilns.0.iter().flat_map(machines_kib).collect();
    ensure!(machines.len() == programs as usize, "{} machines run {programs} programs", machines.len());
    #[expect(clippy::cast_precision_loss, reason = "less than a TiB")]
    let kib = machines.iter().sum::<u64>() as f64;
    Ok(kib / 1024.0)
}

/// Says so for each event that is a program's output.
fn tell(events: impl BufRead, up: &Sender<()>) {
    for line in events.lines().map_while(Result::ok) {
        if is_output(&line) && up.send(()).is_err() {
            return;
        }
    }
}

fn is_output(line: &str) -> bool {
    let event = serde_json::from_str::<serde_json::Value>(line).unwrap_or_default();
    event["event"] == "output"
}

/// Calls of kiln, which end with this, and their machines with them.
struct Kilns(Vec<Child>);

impl Drop for Kilns {
    fn drop(&mut self) {
        for kiln in &mut self.0 {
            // It may have ended by itself.
            let _ = kiln.kill();
            let _ = kiln.wait();
        }
    }
}

/// What each machine takes: they are children of one of kiln's threads.
fn machines_kib(kiln: &Child) -> Vec<u64> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", kiln.id())).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(pss_kib).collect::<Vec<_>>()).collect()
}

/// One that has ended meanwhile takes nothing.
fn pss_kib(id: &str) -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc").join(id).join("smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
