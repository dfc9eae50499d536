//! What kiln promises about its own speed and size, measured against the physical floor in one run.
//!
//! The floor is the same QEMU with the same arguments and the same kernel, whose initramfs holds nothing
//! but `floor.c`, which powers off at once: nobody who boots this kernel in this machine can be faster.
//! Floor and kiln take turns, so that both see the same host; the best of each counts.
//!
//! The smoke suite runs with a clone for each case and with one boot for all; no template is kept for it. What a
//! clone takes, in time and in memory, is then measured alone.
//!
//! In the same turns a small kernel, built from Debian's source, goes from boot to verdict in QEMU and as UML.
//!
//! A comparison of two kernels has a boot for its floor, too. Beside it stands what counting and timing take to see the
//! same small difference.
//!
//! * [`mod@floor`]: makes the floor
//! * [`mod@race`]: runs all in turns
//! * [`clones`], [`mod@memory`]: what a clone takes
//! * [`reproducer`]: the loop of who edits a program and runs it
//! * [`roots`]: what a user space costs; [`mod@wires`]: what a segment costs
//! * [`checking`]: what a check of a patch costs, beside make and a boot
//! * [`mails`]: what reading them costs, beside b4; [`ledger`], [`trends`]: what questions about earlier Runs and figures cost
//! * [`pages`]: what pages of the dashboard cost
//! * [`jobs`]: what observing a program with all that it starts takes
//! * [`traces`]: what recording and reading events takes; [`recorders`]: what recording one costs in a machine; [`samples`]: what
//!   sampling takes; [`probes`]: what tools of BPF take
//! * [`comparing`], [`planted`]: what comparisons take; [`compare`]: makes them
//! * [`compiler`]: programs in C
//! * [`promise`]: what is promised, and whether it is kept
//! * [`host`]: what it was measured on

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command line")]

mod checking;
mod clones;
mod compare;
mod comparing;
mod compiler;
mod floor;
mod host;
mod jobs;
mod kiln;
mod ledger;
mod mails;
mod memory;
mod pages;
mod planted;
mod probes;
mod promise;
mod race;
mod recorders;
mod reproducer;
mod roots;
mod samples;
mod traces;
mod trends;
mod wires;

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::compare::Place;
use crate::floor::Floor;
use crate::kiln::{Kiln, Plan};
use crate::memory::Memory;
use crate::promise::Promise;
use crate::race::{Racer, race};
use crate::reproducer::Reproducer;

/// Rounds unless somebody wants more; the best of fewer is luck.
const ROUNDS: usize = 5;

/// The case that does next to nothing.
const TRIVIAL: &[&str] = &["--suite", "full", "--case", "process/no-child"];

/// Asks for nothing but the figures of checks.
const CHECKING: &str = "checking";

/// Rounds of checks, in which kernels are built.
const CHECKS: usize = 3;

/// Asks for nothing but the figures of comparisons.
const COMPARING: &str = "comparing";

/// Asks for nothing but the figures of the ledger.
const LEDGER: &str = "ledger";

/// Rounds of many sessions.
const SESSIONS: usize = 2;

/// Asks for nothing but the figures of mails.
const MAILS: &str = "mails";

/// Asks for nothing but the figures of pages.
const PAGES: &str = "pages";

/// Asks for nothing but what clones take in memory.
const MEMORY: &str = "memory";

/// Asks for nothing but the figures of observed jobs.
const JOBS: &str = "jobs";

/// Asks for nothing but the figures of user spaces.
const ROOTS: &str = "roots";

/// Asks for nothing but the figures of traces.
const TRACES: &str = "traces";

/// Asks for nothing but the figures of segments.
const WIRES: &str = "wires";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("bench: a promise is broken");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measures, prints, and says whether every promise is kept.
fn run() -> Result<bool> {
    let load_before = host::load();
    if host::is_busy(&load_before) {
        eprintln!("bench: the load is {load_before}: measure again on a quiet host");
    }
    let kiln = Kiln::new()?;
    let plan = kiln.plan(TRIVIAL)?;
    let argument = std::env::args().nth(1);
    let running = match argument.as_deref() {
        Some(CHECKING) => return checks(),
        Some(COMPARING) => true,
        Some(JOBS) => return observing(ROUNDS),
        Some(LEDGER) => return asking(&kiln, ROUNDS),
        Some(MAILS) => return reading(ROUNDS),
        Some(MEMORY) => return memory(&kiln),
        Some(PAGES) => return serving(&kiln, ROUNDS),
        Some(TRACES) => return tracing(&kiln, ROUNDS),
        Some(WIRES) => return wires(&kiln, ROUNDS),
        Some(ROOTS) => return user_spaces(&kiln, ROUNDS),
        Some(text) => cases(
            &kiln,
            &plan,
            text.parse().context(
                "usage: bench [ROUNDS|checking|comparing|jobs|ledger|mails|memory|pages|roots|traces|wires]",
            )?,
        )?,
        None => {
            cases(&kiln, &plan, ROUNDS)?
                & memory(&kiln)?
                & reading(ROUNDS)?
                & asking(&kiln, ROUNDS)?
                & serving(&kiln, ROUNDS)?
                & observing(ROUNDS)?
                & tracing(&kiln, ROUNDS)?
                & user_spaces(&kiln, ROUNDS)?
                & wires(&kiln, ROUNDS)?
                & checks()?
        }
    };
    let comparing = comparisons()?;
    println!("{}", host::describe(&plan, &load_before));
    Ok(running && comparing)
}

/// What a check of a patch takes.
fn checks() -> Result<bool> {
    Ok(print(&checking::measure(CHECKS)?))
}

/// Prints times and promises, and says whether every promise is kept.
fn print((times, promises): &(String, Vec<Promise>)) -> bool {
    println!("{times}\n{}", promise::table(promises));
    promises.iter().all(Promise::is_kept)
}

/// What reading mails takes.
fn reading(rounds: usize) -> Result<bool> {
    Ok(print(&mails::measure(rounds)?))
}

/// What sessions of a matrix and questions about earlier Runs take.
fn asking(kiln: &Kiln, rounds: usize) -> Result<bool> {
    let answered = print(&ledger::measure(kiln.locator(), rounds)?);
    Ok(answered & print(&trends::measure(rounds)?) & print(&ledger::sessions(kiln.locator(), SESSIONS)?))
}

/// What pages of the dashboard take.
fn serving(kiln: &Kiln, rounds: usize) -> Result<bool> {
    Ok(print(&pages::measure(kiln.locator(), rounds)?))
}

/// What observing jobs takes.
fn observing(rounds: usize) -> Result<bool> {
    Ok(print(&jobs::measure(rounds)?))
}

/// What recording and reading events takes, sampling, and tools of BPF; recording in a machine, beside others.
fn tracing(kiln: &Kiln, rounds: usize) -> Result<bool> {
    Ok(print(&traces::measure(rounds)?)
        & print(&samples::measure(rounds)?)
        & print(&probes::measure(kiln, rounds)?)
        & print(&recorders::measure(kiln)?))
}

/// What clones take in memory.
fn memory(kiln: &Kiln) -> Result<bool> {
    let promises = Memory::measure(kiln)?.promises();
    println!("{}", promise::table(&promises));
    Ok(promises.iter().all(Promise::is_kept))
}

/// What programs in a user space take.
fn user_spaces(kiln: &Kiln, rounds: usize) -> Result<bool> {
    Ok(print(&roots::measure(kiln, rounds)?))
}

/// What two machines have of a segment between them.
fn wires(kiln: &Kiln, rounds: usize) -> Result<bool> {
    Ok(print(&wires::measure(kiln.locator(), rounds)?))
}

/// What a comparison of two kernels takes.
fn comparisons() -> Result<bool> {
    let place = Place::new()?;
    let (times, promises) = comparing::measure(&place)?;
    let planted = planted::measure(&place)?;
    println!("{times}\n{}\n{planted}", promise::table(&promises));
    Ok(promises.iter().all(Promise::is_kept))
}

/// What running cases takes.
fn cases(kiln: &Kiln, plan: &Plan, rounds: usize) -> Result<bool> {
    ensure!(rounds >= ROUNDS, "the best of fewer than {ROUNDS} rounds is luck");
    let floor = Floor::new(plan)?;
    floor.check()?;
    eprintln!("bench: building the same small kernel for QEMU and as UML, if they are not kept");
    let (small, small_uml) = (Kiln::of_source("x86_64")?, Kiln::of_source("um")?);
    let reproducer = Reproducer::new()?;
    let mut racers = [
        Racer::new("floor: boot and power off", || floor.run()),
        Racer::new("one trivial case, nothing kept", || kiln.run_afresh(TRIVIAL)),
        Racer::new("one trivial case, its machine kept", || kiln.run(TRIVIAL)),
        Racer::new("an edited program under --exec, its machine kept", || reproducer.edit_and_run(kiln)),
        Racer::new("the smoke suite in one boot", || kiln.run(&["--isolation", "suite"])),
        Racer::new("the smoke suite in clones, nothing kept", || kiln.run_afresh(&[])),
        Racer::new("the smoke suite in clones, their machine kept", || kiln.run(&[])),
        Racer::new("the same, whose kernels do not settle", || kiln.run(&["--settle", "0"])),
        Racer::new("QEMU: a small kernel, one trivial case", || small.run(TRIVIAL)),
        Racer::new("UML: the same", || small_uml.run(TRIVIAL)),
        Racer::new("a build that is kept already", || {
            kiln::build(kiln::SOURCE, &["--arch", "x86_64"]).map(drop)
        }),
    ];
    race(&mut racers, rounds)?;
    let [ground, case, case_kept, edited, suite, clones, clones_kept, hasty, in_qemu, as_uml, kept] = &racers;
    let cloned = clones::measure(kiln.locator(), TRIVIAL[3])?;
    let smoke = kiln.plan(&[])?;
    let mib = 1024.0 * 1024.0;
    let promises = [
        Promise::ratio(case, ground, Some(1.3)),
        Promise::ratio(case_kept, ground, None),
        Promise::ratio(edited, ground, Some(0.2)),
        Promise::ratio(suite, ground, Some(3.5)),
        Promise::ratio(clones, suite, Some(2.8)),
        Promise::ratio(clones_kept, suite, None),
        Promise::ratio(clones_kept, hasty, None),
        Promise::plain("a clone, start to first result / cold boot", cloned.ratio(), Some(0.125)),
        Promise::plain("cases a minute, each in a clone", 60.0 * smoke.cases / clones_kept.best(), None),
        Promise::ratio(as_uml, in_qemu, None),
        Promise::seconds(kept, 1.0),
        Promise::size("agent", machine::AGENT.len() as f64 / mib, Some(2.0)),
        Promise::size("initramfs, one trivial case", plan.initramfs_kib / 1024.0, None),
        Promise::size("initramfs, smoke suite", smoke.initramfs_kib / 1024.0, None),
    ];
    println!("{}", race::table(&racers));
    println!("{}", promise::table(&promises));
    println!("Best of {rounds} rounds, in turns.\n");
    Ok(promises.iter().all(Promise::is_kept))
}
