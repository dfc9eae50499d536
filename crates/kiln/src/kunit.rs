//! `kiln kunit`: the kernel's own unit tests, as cases.

use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use judge::Exit;
use lab::HostBackend;
use lab::prepare::Again;
use lab::prepare::kunit::PreparedKunit;
use lab::request::KunitRequest;

use crate::cli::Kunit;
use crate::find::preparing;
use crate::listeners::View;
use crate::output::Output;
use crate::signals;
use crate::terminal::Progress;

/// Boots a kernel with built-in KUnit tests and gives the exit code.
pub(crate) fn kunit(args: &Kunit, color: bool) -> Result<u8> {
    let view = View { format: args.format, color, verbose: false };
    let output = Output { view, results: args.results.as_deref() };
    boot(&args.request(), None, output)
}

/// The same for what is asked, or `again`.
pub(crate) fn boot(request: &KunitRequest, again: Option<&Again>, output: Output<'_>) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let prepared = preparing(&interrupt, |context| PreparedKunit::new(request, context))?;
    let machines = prepared.machines(&HostBackend)?;
    let session = prepared.session(again)?;
    let mut listeners = output.listeners(&session)?;
    let mut progress = Progress::new();
    let mut watch = |line: &str| progress.show(&report::safe(console::message(line)));
    let outcome = prepared.run(machines.as_ref(), session, (&mut listeners, &interrupt), &mut watch);
    drop(progress);
    let recorded = listeners.finish();
    let summary = outcome?;
    recorded?;
    Ok(Exit::of_session(summary, interrupt.load(Ordering::Relaxed)).code)
}
