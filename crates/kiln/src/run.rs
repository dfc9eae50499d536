//! `kiln run`: from a kernel to a verdict.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use judge::Exit;
use judge::exit::Speaker;
use lab::event::Session;
use lab::prepare::dry::{DryMachine, DryRun};
use lab::prepare::{Again, Execution};
use lab::{HostBackend, Options, Prepared, RunRequest};
use protocol::End;

use crate::cli::{Cluster, Run};
use crate::failure::WrongUsage;
use crate::find::preparing;
use crate::input::Input;
use crate::listeners::{Report, View, print};
use crate::output::Output;
use crate::run_on_slurm::run_on_slurm;
use crate::signals;

/// Runs the cases that were asked for and gives the exit code.
pub(crate) fn run(args: &Run, color: bool) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let prepared = preparing(&interrupt, |context| Prepared::new(&args.request(), context))?;
    if args.dry_run {
        return print_dry(&prepared.dry_run()?, ignored_input(&prepared).as_deref());
    }
    let view = View { format: args.format, color, verbose: args.verbose };
    if let Some(Cluster::Slurm) = args.on {
        let root = args.results.clone().unwrap_or_else(ledger::default_root);
        return run_on_slurm(&prepared, view, &root, &interrupt);
    }
    let output = Output { view, results: args.results.as_deref() };
    run_with(prepared, output, None, &interrupt)
}

/// Runs a case once more and gives the exit code.
pub(crate) fn run_again(request: &RunRequest, again: &Again, output: Output<'_>) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let prepared = preparing(&interrupt, |context| Prepared::again(request, again, context))?;
    run_with(prepared, output, None, &interrupt)
}

/// Runs what was prepared, is shown by `report` if there is one, and gives the exit code.
pub(crate) fn run_with(
    mut prepared: Prepared,
    output: Output<'_>,
    report: Option<Box<dyn Report>>,
    interrupt: &AtomicBool,
) -> Result<u8> {
    let has_report = report.is_some();
    let good = preparing(interrupt, |context| prepared.golden(context))?;
    let session = prepared.session()?;
    let cases = output.folder(&session).join("cases");
    let dump_note = prepared.dump_into(&cases);
    let tracing = prepared.tracing(&cases).map_err(WrongUsage)?;
    // What the host or the user does not allow is reported before anything is recorded.
    let machines = prepared.machines(&HostBackend)?;
    let good_machines = good.as_ref().map(|good| good.machines(&HostBackend)).transpose()?;
    let golden = good.as_ref().zip(good_machines.as_ref());
    let golden = golden.map(|(good, machines)| good.as_golden(machines));
    let (mut options, notes) = options(&prepared, &session, output);
    let mut listeners = match report {
        Some(report) => output.shown_by(&session, report)?,
        None => output.listeners(&session)?,
    };
    prepared.program().map_or(Ok(()), |program| listeners.keep_program(program))?;
    options.tracing = tracing;
    options.durations = listeners.durations_of(&session.cases);
    let ignored = ignored_input(&prepared);
    let notes = prepared.notes(&session).into_iter().chain(notes).chain(dump_note).chain(ignored);
    notes.for_each(|note| listeners.note(note));
    let execution = Execution { machines: &machines, options, golden, interrupt };
    let outcome = prepared.run(session, execution, &mut listeners);
    let (exit, last_end) = (listeners.exit(), listeners.last_end());
    let recorded = listeners.finish();
    let summary = outcome?;
    recorded?;
    let exit = exit.unwrap_or_else(|| Exit::of_session(summary, interrupt.load(Ordering::Relaxed)));
    if !has_report {
        name_speaker(exit, last_end.as_ref());
    }
    Ok(exit.code)
}

/// A note where the user's program does not get what is piped into kiln.
fn ignored_input(prepared: &Prepared) -> Option<String> {
    prepared.request.cases.program().and_then(|_| Input::ignored_note())
}

/// How the cases are run, and what is worth knowing about that.
fn options(prepared: &Prepared, session: &Session, output: Output<'_>) -> (Options, Vec<String>) {
    let chosen = prepared.options();
    let mut options = chosen.options;
    let mut notes: Vec<String> = chosen.note.into_iter().collect();
    if prepared.request.policy.resume {
        let resumed = ledger::resume(&output.root(), session, options.repeats);
        options.finished = resumed.finished;
        notes.push(resumed.note);
    }
    (options, notes)
}

/// Shows what would be done.
fn print_dry(DryRun { provenance, image, machines }: &DryRun, note: Option<&str>) -> Result<u8> {
    print(&format!("kernel     {provenance}\n"))?;
    print(&format!("image      {}\n", image.display()))?;
    for DryMachine { machine, initramfs, cases, command_line } in machines {
        print(&format!("machine    {machine}\n"))?;
        print(&format!("initramfs  {} KiB\n", initramfs.div_ceil(1024)))?;
        for (name, skip) in cases {
            let why = skip.as_ref().map(|why| format!("  (skip: {why})")).unwrap_or_default();
            print(&format!("case       {name}{why}\n"))?;
        }
        print(&format!("command    {command_line}\n"))?;
    }
    note.map_or(Ok(()), |note| print(&format!("note       {note}\n")))?;
    Ok(0)
}

/// Says which exit code is the program's own: it may be one of kiln's.
#[expect(clippy::print_stderr, reason = "this is the command line")]
fn name_speaker(exit: Exit, end: Option<&End>) {
    let code = exit.code;
    match end.filter(|_| exit.of == Speaker::Program) {
        Some(End::Signalled(signal)) => {
            eprintln!("kiln: exit status {code} is the program's: signal {signal} ended it");
        }
        Some(_) => eprintln!("kiln: exit status {code} is the program's"),
        None => {}
    }
}
