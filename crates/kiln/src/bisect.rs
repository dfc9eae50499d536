//! `kiln bisect`: which change made it bad.
//!
//! * [`range`]: the two ends; [`mod@request`]: what is asked; [`instrument`]: of an instrument
//! * [`results`]: what it leaves; [`mod@private`]: what of it others do not see

mod instrument;
mod private;
mod range;
mod request;
mod results;

use std::cell::RefCell;

use anyhow::{Context, Result};
use bisect::{BisectRequest, Conclusion, Done, Environment, Opened, Progress};
use lab::HostBackend;
use report::Bisecting;

use crate::cli::{Bisect, Cluster};
use crate::input::Input;
use crate::{report_file, signals, terminal};
use judge::exit::BROKEN;

pub(crate) use range::Range;
pub(crate) use results::Kept;

/// Finds the change and gives the exit code.
pub(crate) fn bisect(args: &Bisect, color: bool) -> Result<u8> {
    report_file::check([("--html", &args.html), ("--mail", &args.mail)])?;
    let request = args.request()?;
    let interrupt = signals::interrupt_flag().context("signals")?;
    let environment = Environment {
        backend: &HostBackend,
        interrupt: &interrupt,
        on_slurm: matches!(args.on, Some(Cluster::Slurm)),
        sessions: ledger::default_root(),
        bisections: args.results.clone().unwrap_or_else(ledger::bisections_root),
    };
    let note = args.exec.as_ref().and_then(|_| Input::ignored_note());
    let done = search(&request, &environment, note, color)?;
    Kept::new(&request, &done)?.write(args, color)?;
    Ok(match done.bisection.conclusion {
        Conclusion::Culprits { .. } if !done.bisection.is_in_doubt() => 0,
        Conclusion::Culprits { .. } | Conclusion::Suspects { .. } | Conclusion::Contradiction { .. } => {
            BROKEN
        }
    })
}

/// Searches, while the user looks on.
pub(crate) fn search(
    request: &BisectRequest,
    environment: &Environment<'_>,
    note: Option<String>,
    color: bool,
) -> Result<Done, bisect::Error> {
    let mut progress = terminal::Progress::new();
    let opened = Opened::new(request, environment, &mut |news| progress.tell(news))?;
    drop(progress);
    let shown = RefCell::new(Bisecting::stderr(color));
    note.into_iter().for_each(|text| shown.borrow_mut().on_event(&Progress::Note(text)));
    let done = opened.search(&mut |progress| {
        if !matches!(&progress, Progress::Note(text) if !terminal::is_new(text)) {
            shown.borrow_mut().on_event(&progress);
        }
    });
    // Nobody is before a terminal that does not take it.
    let _ = shown.into_inner().finish();
    done
}
