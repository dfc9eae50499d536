//! `kiln kunit`: the kernel's own unit tests, as cases.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use lab::backend::store;
use lab::decode::Decoding;
use lab::kunit;
use lab::prepare::Again;
use lab::prepare::kunit::PreparedKunit;
use lab::request::KunitRequest;
use lab::source::{Heard, Source, Up, VmmSource};
use machine::BootFailure;

use crate::cli::Kunit;
use crate::failure::INTERRUPTED;
use crate::find::preparing;
use crate::output::Output;
use crate::signals;
use crate::terminal::Progress;

/// Boots a kernel with built-in KUnit tests and gives the exit code.
pub(crate) fn kunit(args: &Kunit, color: bool) -> Result<u8> {
    let output = Output { format: args.format, results: args.results.as_deref(), color };
    boot(&args.request(), None, output)
}

/// The same for what is asked, or `again`.
pub(crate) fn boot(request: &KunitRequest, again: Option<&Again>, output: Output<'_>) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let prepared = preparing(&interrupt, |context| PreparedKunit::new(request, context))?;
    let PreparedKunit { kernel, spec, .. } = &prepared;
    let source = Watched { source: VmmSource::new(spec, kernel, store(), false)? };
    let session = prepared.session(again)?;
    let mut listeners = output.listeners(&session)?;
    let mut decoding = Decoding::of(kernel, &mut listeners);
    let outcome = kunit::run(&source, &mut decoding, &interrupt, (session, &request.suites));
    let recorded = listeners.finish();
    let summary = outcome?;
    recorded?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(INTERRUPTED);
    }
    Ok(summary.exit_code())
}

/// Shows the console while the tests run: their results are reported when all have ended.
struct Watched<'a> {
    source: VmmSource<'a>,
}

impl Source for Watched<'_> {
    fn boot(
        &self,
        interrupt: &AtomicBool,
        heard: &mut dyn FnMut(Heard<'_>),
    ) -> Result<Result<Up, BootFailure>, machine::Error> {
        let mut progress = Progress::new();
        self.source.boot(interrupt, &mut |what| {
            if let Heard::Console(line) = what {
                progress.show(&report::safe(console::message(line)));
            }
            heard(what);
        })
    }
}
