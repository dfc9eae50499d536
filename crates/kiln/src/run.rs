//! `kiln run`: from a kernel to a verdict.

use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use judge::Summary;
use lab::decode::Decoding;
use lab::event::Session;
use lab::runner::Golden;
use lab::{Options, Runner};
use machine::Built;
use protocol::End;

use crate::cli::Run;
use crate::failure::{BROKEN, INTERRUPTED};
use crate::listeners::print;
use crate::machine_options::describe;
use crate::prepare::Prepared;
use crate::{course, session, signals};

/// Runs the cases that were asked for and gives the exit code.
pub(crate) fn run(said: &Run, color: bool) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let mut prepared = Prepared::new(said, &said.kernel, &interrupt)?;
    if said.dry_run {
        return dry_run(&prepared);
    }
    let golden = said.course.golden.as_ref().map(|locator| Prepared::new(said, locator, &interrupt));
    let golden = golden.transpose()?;
    let (kernel, cases) = (&prepared.kernel, prepared.cases());
    let session = session::begin(&said.kernel, kernel, &prepared.specs, prepared.suite(), cases);
    let session = session::again(session, said.again.as_ref())?;
    let folder = session::folder(&session, said.results.as_deref());
    let dump_note = said.dump.then(|| prepared.dump_into(&folder.join("cases"))).flatten();
    // What the host or the user does not allow is told before anything is recorded.
    let sources = prepared.sources(said)?;
    let golden_sources = golden.as_ref().map(|golden| golden.sources(said)).transpose()?;
    let golden = golden.as_ref().zip(golden_sources.as_deref()).map(|(golden, sources)| Golden {
        name: golden.kernel.locator.clone(),
        parts: golden.parts(sources),
    });
    let (mut options, notes) = options(said, &prepared, &session);
    let mut listeners = session::listeners(&session, said.results.as_deref(), said.format, color)?;
    options.durations = listeners.durations_of(&session.cases);
    let notes = prepared.notes(said, &session).into_iter().chain(notes).chain(dump_note);
    notes.for_each(|note| listeners.note(note));
    let mut decoding = Decoding::of(&prepared.kernel, &mut listeners);
    let runner = Runner::new(&mut decoding, &interrupt, options).with_golden(golden);
    let outcome = runner.run(session, &prepared.parts(&sources));
    let last_end = listeners.last_end();
    let recorded = listeners.finish();
    let summary = outcome?;
    recorded?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(INTERRUPTED);
    }
    Ok(exit_code(said, summary, last_end.as_ref()))
}

/// How the cases are run, and what is worth knowing about that.
fn options(said: &Run, prepared: &Prepared, session: &Session) -> (Options, Vec<String>) {
    let (mut options, note) = said.course.options(prepared.engine, &prepared.specs);
    let root = session::root(said.results.as_deref());
    if let Some(again) = &said.again {
        options.seed = Some(again.seed());
    }
    let mut notes: Vec<String> = note.into_iter().collect();
    if said.course.resume {
        let (finished, note) = course::resume(&root, session, options.repeats);
        options.finished = finished;
        notes.push(note);
    }
    (options, notes)
}

/// Shows what would be done.
fn dry_run(prepared: &Prepared) -> Result<u8> {
    let Prepared { kernel, plans, specs, .. } = prepared;
    print(&format!("kernel     {}\n", kernel.provenance))?;
    print(&format!("image      {}\n", kernel.image.display()))?;
    for (plan, spec) in plans.iter().zip(specs) {
        let built = Built::new(spec, kernel)?;
        print(&format!("machine    {}\n", describe(std::slice::from_ref(spec))))?;
        print(&format!("initramfs  {} KiB\n", built.initramfs_size().div_ceil(1024)))?;
        for item in &plan.items {
            let why = item.skip.as_ref().map(|why| format!("  (skip: {why})")).unwrap_or_default();
            print(&format!("case       {}{why}\n", item.name))?;
        }
        print(&format!("command    {}\n", built.command_line()))?;
    }
    Ok(0)
}

/// The exit code; with `--exec` that of the user's own program, which is then named.
#[expect(clippy::print_stderr, reason = "this is the command line")]
fn exit_code(said: &Run, summary: Summary, last_end: Option<&End>) -> u8 {
    if said.exec.is_none() {
        return summary.exit_code();
    }
    match last_end {
        Some(&End::Exited(code @ 1..)) if summary.broken == 0 => {
            eprintln!("kiln: exit status {code} is that of the program");
            u8::try_from(code).unwrap_or(BROKEN)
        }
        _ => summary.exit_code(),
    }
}
