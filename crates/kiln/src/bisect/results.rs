//! What a bisection leaves: what it prints, the report, the draft of a mail, and the bundle.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bisect::{BisectRequest, Bisection, StateReport};
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

/// Where results go.
pub(crate) struct Results<'a> {
    pub(crate) args: &'a Bisect,
    pub(crate) request: &'a BisectRequest,
    /// The folder of the bisection.
    pub(crate) directory: &'a Path,
    pub(crate) color: bool,
}

impl Results<'_> {
    /// Writes all of them.
    pub(crate) fn write(&self, bisection: &Bisection) -> Result<()> {
        let Self { args, request, directory, .. } = *self;
        // Whoever looks for a Run goes to the folder where it was made.
        let beside = |name: &str| std::path::absolute(directory.join(name)).context("--results");
        let named = |path: &Option<PathBuf>| path.as_deref().map(std::path::absolute).transpose();
        let (html, mail) = (named(&args.html).context("--html")?, named(&args.mail).context("--mail")?);
        let [document, page, draft] = ["bisection.json", "report.html", "mail.txt"].map(beside);
        let (bundle, note) = bundle(bisection, &beside(BUNDLE)?);
        let notes = bisection.notes.iter().cloned().chain(note).collect();
        let bisection = &Bisection { notes, ..bisection.clone() };
        let typed = this_call();
        let to_page = |path: &Path| write(path, |out| report::bisection::html(bisection, &typed, out));
        let (bundle, private) = (bundle.as_deref(), private(request, directory));
        let to_mail =
            |path: &Path| write(path, |out| report::bisection::mail(bisection, bundle, &private, out));
        write(&document?, |out| report::bisection::json(bisection, out))?;
        to_page(&page?)?;
        to_mail(&draft?)?;
        self.print(bisection, bundle.is_some())?;
        // Last, so that the answer is out already where one cannot be written.
        html.as_deref().map_or(Ok(()), to_page)?;
        mail.as_deref().map_or(Ok(()), to_mail)
    }

    fn print(&self, bisection: &Bisection, has_bundle: bool) -> Result<()> {
        let width = crate::figures::width();
        if self.args.json {
            return Ok(standard_output(|out| report::bisection::json(bisection, out))?);
        }
        standard_output(|out| report::bisection::text(bisection, width, self.color, out))?;
        let also = if has_bundle {
            format!("; {BUNDLE} reproduces the failure with only QEMU")
        } else {
            String::new()
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
