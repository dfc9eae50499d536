//! `kiln results` and `kiln show`: what is known of earlier Runs.

use std::path::Path;

use anyhow::Result;
use kernel::News;
use ledger::{Ledger, RunsQuery};
use report::KeptRun;

use crate::cli::{Results, ShowRun};
use crate::failure::complain;
use crate::figures::width;
use crate::listeners::standard_output;
use crate::terminal::Progress;

/// Lists Runs and gives the exit code.
pub(crate) fn results(args: &Results, color: bool) -> Result<u8> {
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let mut ledger = opened(&root)?;
    let found = ledger.runs(&args.query())?;
    ledger.notes.iter().for_each(|note| complain(note));
    if found.total == 0 {
        complain(&format!("no Run in {} matches", root.display()));
        return Ok(0);
    }
    standard_output(|out| {
        if args.json {
            report::results_json(&found, out)
        } else {
            report::results_table(&found, width(), color, out)
        }
    })?;
    Ok(0)
}

/// The ledger below `root`, after what is new there has been read.
pub(crate) fn opened(root: &Path) -> Result<Ledger> {
    let mut progress = Progress::new();
    let mut read = |done, total| progress.tell(News::Step(&format!("reading sessions: {done} of {total}")));
    Ok(Ledger::open(root, &mut read)?)
}

impl Results {
    /// What is asked.
    fn query(&self) -> RunsQuery {
        RunsQuery {
            kernel: self.kernel.clone(),
            case: self.case.clone(),
            suite: self.suite.clone(),
            outcomes: self.outcome.clone(),
            signature: None,
            sessions: Vec::new(),
            since: self.since,
            limit: (self.limit > 0).then_some(self.limit),
        }
    }
}

/// Shows a Run and gives the exit code.
pub(crate) fn show(args: &ShowRun, color: bool) -> Result<u8> {
    let root = args.kept.results.clone().unwrap_or_else(ledger::default_root);
    let kept = KeptRun::read(ledger::find(&root, &args.kept.run)?)?;
    let shown = kept.shown();
    standard_output(|out| if args.json { shown.json(out) } else { shown.text(color, out) })?;
    Ok(0)
}
