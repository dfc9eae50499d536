//! `kiln bisect`: which change made it bad.
//!
//! * [`range`]: the two ends; [`axes`]: what is walked between them
//! * [`identity`]: what makes two calls one search; [`words`]: the command that makes a test
//! * [`results`]: what it leaves
//! * [`laboratory`]: answers with real kernels, in [`shares`] side by side; [`runs`] of cases, counted by [`tally`] with
//!   the [`boot_log`], and [`figures`]

mod axes;
mod boot_log;
mod figures;
mod identity;
mod laboratory;
mod range;
mod results;
mod runs;
mod shares;
mod tally;
mod words;

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bisect::{Bisection, Conclusion, Kept, Parts, Progress, Question, Settings};
use lab::Suite;
use lab::suites::select::operations;
use ledger::Journal;
use report::Bisecting;

use crate::cli::Bisect;
use crate::failure::{BROKEN, WrongUsage};
use crate::signals;
use axes::Said;
use laboratory::Laboratory;
use results::Results;

/// Finds the change and gives the exit code.
pub(crate) fn bisect(said: &Bisect, color: bool) -> Result<u8> {
    said.check()?;
    let question = said.question();
    let interrupt = signals::interrupt_flag().context("signals")?;
    let Said { mut axis, kernel, notes } = axes::axis(said, &interrupt)?;
    let directory = said.root().join(identity::name(said, axis.as_ref(), kernel.as_deref(), &question)?);
    let (mut journal, mut kept) = Journal::open::<Kept>(&directory)?;
    if said.fresh {
        journal.clear()?;
        kept.clear();
    }
    let counted: HashSet<String> = kept.iter().flat_map(|kept| kept.sessions().to_vec()).collect();
    let mut laboratory =
        Laboratory::new((said, &question), &interrupt, journal.directory().to_owned(), counted);
    let told = RefCell::new(Bisecting::stderr(color));
    notes.iter().for_each(|note| told.borrow_mut().hear(&Progress::Note(note.clone())));
    let settings = Settings { confidence: said.confidence, mended: said.fixed, tries: said.tries };
    let done = {
        let mut heard = |progress| told.borrow_mut().hear(&progress);
        let parts = Parts { tester: &mut laboratory, journal: &mut journal, kept, heard: &mut heard };
        bisect::bisect(axis.as_mut(), &question, &settings, parts)
    };
    // Nobody is before a terminal that does not take it.
    let _ = told.into_inner().finish();
    let bisection = done?;
    let reproduce = results::reproduce(axis.as_mut(), &laboratory, &bisection)?;
    let bisection = Bisection { notes, reproduce, ..bisection };
    Results { said, directory: journal.directory(), color }.write(&bisection)?;
    Ok(match bisection.conclusion {
        Conclusion::Culprits { .. } => 0,
        Conclusion::Suspects { .. } | Conclusion::Contradiction { .. } => BROKEN,
    })
}

impl Bisect {
    /// Checks what can be told to be wrong before anything is fetched or built.
    fn check(&self) -> Result<()> {
        for (option, path) in [("--html", &self.html), ("--mail", &self.mail)] {
            let Some(path) = path else { continue };
            // The parent of a bare name is "".
            let folder = path.parent().map(|folder| Path::new(".").join(folder));
            let is_dash = path.as_os_str() == "-";
            if is_dash || path.is_dir() || !folder.is_some_and(|folder| folder.is_dir()) {
                return Err(WrongUsage(format!(
                    "{option} {}: name a file that can be written",
                    path.display()
                ))
                .into());
            }
        }
        if let Some(metric) = &self.metric {
            let named = operations(std::slice::from_ref(metric)).map_err(lab::suites::Error::from)?;
            return is_one("--metric", metric, named.len());
        }
        if let Some(path) = self.exec.as_ref().filter(|path| !path.is_file()) {
            return Err(WrongUsage(format!("--exec {}: no such file", path.display())).into());
        }
        let Some(case) = &self.case else { return Ok(()) };
        let count = match identity::opened(self)? {
            Suite::Own { cases, .. } => cases.len(),
            Suite::External(suite) => suite.cases.len(),
        };
        is_one("--case", case, count)
    }

    /// What is asked.
    fn question(&self) -> Question {
        if let Some(name) = &self.metric {
            return Question::Metric { name: name.clone(), worse_by: self.worse_by, timed: self.timed };
        }
        if let Some(text) = &self.log {
            return Question::Log(text.clone());
        }
        if self.builds {
            return Question::Build;
        }
        if self.boot {
            return Question::Boot;
        }
        let program = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match (&self.exec, &self.case) {
            (Some(path), _) => Question::Program(program(path)),
            (None, case) => Question::Case(case.clone().unwrap_or_default()),
        }
    }

    fn root(&self) -> PathBuf {
        self.results.clone().unwrap_or_else(ledger::bisections_root)
    }
}

/// A bisection asks about one thing, and a pattern may name several.
fn is_one(option: &str, pattern: &str, count: usize) -> Result<()> {
    if count == 1 {
        return Ok(());
    }
    let what = option.trim_start_matches('-');
    let text = format!("{option} {pattern}: names {count} {what}s, and a bisection asks about one");
    Err(WrongUsage(text).into())
}

/// What kiln or the host has against a test.
fn error_of(error: anyhow::Error) -> bisect::Error {
    let error = match error.downcast::<kbuild::Error>() {
        Ok(error) => return error.into(),
        Err(error) => error,
    };
    match error.downcast::<kernel::Error>() {
        Ok(error) => error.into(),
        Err(error) if crate::failure::is_usage(&error) => bisect::Error::Usage(format!("{error:#}")),
        Err(error) => bisect::Error::Broken(format!("{error:#}")),
    }
}
