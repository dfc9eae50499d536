//! What a bisection leaves: what it prints, the report, the draft of a mail, and the bundle.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bisect::{BisectRequest, Bisection, Done, StateReport};
use lab::request::KeptRequest;

use super::private::private;
use crate::bundle::pack;
use crate::cli::Bisect;
use crate::listeners::standard_output;
use crate::replay::recalled;
use crate::report_file::write;
use crate::shell_words::this_call;
use crate::terminal::Progress;

/// The file that reproduces the failure where there is only QEMU. The kernel in it is compressed already: to do so once
/// more takes longer than all else and saves next to nothing.
const BUNDLE: &str = "bug.tar";

/// What is in the folder of a bisection.
pub(crate) struct Kept<'a> {
    pub(crate) request: &'a BisectRequest,
    pub(crate) bisection: Bisection,
    directory: &'a Path,
    bundle: Option<PathBuf>,
}

impl<'a> Kept<'a> {
    /// Writes the document, the report, the draft of a mail and the bundle.
    pub(crate) fn new(request: &'a BisectRequest, done: &'a Done) -> Result<Self> {
        let directory = done.directory();
        // Whoever looks for a Run goes to the folder where it was made.
        let beside = |name: &str| std::path::absolute(directory.join(name)).context("--results");
        let (bundle, note) = bundle(&done.bisection, &beside(BUNDLE)?);
        let notes = done.bisection.notes.iter().cloned().chain(note).collect();
        let bisection = Bisection { notes, ..done.bisection.clone() };
        let kept = Self { request, bisection, directory, bundle };
        write(&beside("bisection.json")?, |out| report::bisection::json(&kept.bisection, out))?;
        kept.page(&beside(ledger::PAGE)?)?;
        kept.mail(&beside("mail.txt")?)?;
        Ok(kept)
    }

    /// Prints what `args` ask for, and writes the files that they name.
    pub(super) fn write(&self, args: &Bisect, color: bool) -> Result<()> {
        let named = |path: &Option<PathBuf>| path.as_deref().map(std::path::absolute).transpose();
        let (html, mail) = (named(&args.html).context("--html")?, named(&args.mail).context("--mail")?);
        self.print(args.json, color)?;
        // Last, so that the answer is out already where one cannot be written.
        html.as_deref().map_or(Ok(()), |path| self.page(path))?;
        mail.as_deref().map_or(Ok(()), |path| self.mail(path))
    }

    fn page(&self, path: &Path) -> Result<()> {
        write(path, |out| report::bisection::html(&self.bisection, &this_call(), out))
    }

    fn mail(&self, path: &Path) -> Result<()> {
        let private = private(self.request, self.directory);
        write(path, |out| report::bisection::mail(&self.bisection, self.bundle.as_deref(), &private, out))
    }

    fn print(&self, json: bool, color: bool) -> Result<()> {
        let bisection = &self.bisection;
        if json {
            return Ok(standard_output(|out| report::bisection::json(bisection, out))?);
        }
        let width = crate::figures::width();
        standard_output(|out| report::bisection::text(bisection, width, color, out))?;
        let also = match self.bundle {
            Some(_) => format!("; {BUNDLE} reproduces the failure with only QEMU"),
            None => String::new(),
        };
        standard_output(|out| {
            writeln!(out, "report and draft of a mail in {}{also}", self.directory.display())
        })?;
        Ok(())
    }
}

/// Why there is no bundle of an experiment.
const NO_BUNDLE: &str =
    "there is no bundle of an experiment: repeat the run, and `kiln bundle` packs its session";

/// Packs a Run in which the failure shows, if the ledger has one; where that cannot be done, why not.
fn bundle(bisection: &Bisection, output: &Path) -> (Option<PathBuf>, Option<String>) {
    if bisection.question.experiment().is_some() {
        return (None, Some(NO_BUNDLE.to_string()));
    }
    let states = bisection.proof.iter().filter_map(|check| check.state.as_ref());
    let ends = [&bisection.first.state, &bisection.last.state];
    let Some(run) = states.chain(ends).find_map(run_of) else { return (None, None) };
    let mut progress = Progress::new();
    let packed = recalled(&KeptRequest { run, sessions: None })
        .and_then(|recalled| pack(&recalled, output, &mut |text| progress.show(text)));
    match packed {
        Ok(_) => (Some(output.to_owned()), None),
        Err(error) => (None, Some(format!("there is no bundle: {error:#}"))),
    }
}

/// The name of a Run in which the failure shows.
fn run_of(state: &StateReport) -> Option<String> {
    let case = &state.evidence.run.as_ref().filter(|run| run.outcome.is_failure())?.case;
    let root = ledger::default_root();
    let session = state.evidence.sessions.iter().find(|name| ledger::shows(&root, name, case))?;
    Some(format!("{session}/{case}"))
}
