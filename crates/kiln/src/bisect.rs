//! `kiln bisect`: which change made it bad.
//!
//! * [`range`]: the two ends; [`axes`]: what is walked between them
//! * [`words`]: the command that makes a test
//! * [`results`]: what it leaves
//! * [`laboratory`]: answers with real kernels; [`runs`] of cases, counted by [`tally`] with the [`boot_log`], and
//!   [`figures`]

mod axes;
mod boot_log;
mod figures;
mod laboratory;
mod range;
mod results;
mod runs;
mod tally;
mod words;

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bisect::{Axis, Bisection, Conclusion, Kept, Parts, Progress, Question, Settings};
use kernel::PartsHash;
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

/// Digits of the name of a bisection's folder.
const NAME: usize = 16;

/// Finds the change and gives the exit code.
pub(crate) fn bisect(said: &Bisect, color: bool) -> Result<u8> {
    said.check()?;
    let question = said.question();
    let interrupt = signals::interrupt_flag().context("signals")?;
    let Said { mut axis, kernel, notes } = axes::axis(said, &interrupt)?;
    let directory = said.root().join(said.name(axis.as_ref(), kernel.as_deref(), &question)?);
    let (mut journal, mut kept) = Journal::open::<Kept>(&directory)?;
    if said.fresh {
        journal.clear()?;
        kept.clear();
    }
    let counted: HashSet<String> = kept.iter().flat_map(|kept| kept.sessions().to_vec()).collect();
    let (directory, way) = (journal.directory().to_owned(), None);
    let mut laboratory =
        Laboratory { said, question: &question, interrupt: &interrupt, directory, way, counted };
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
            if path.is_dir() || !folder.is_some_and(|folder| folder.is_dir()) {
                return Err(WrongUsage(format!("{option} {}: no file can be there", path.display())).into());
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
        let count = match Suite::open(&self.suite, std::slice::from_ref(case))? {
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

    /// The name of its folder: what is equal here is the same search, and goes on where it stopped.
    fn name(&self, axis: &dyn Axis, kernel: Option<&str>, question: &Question) -> Result<String> {
        let mut hash = PartsHash::default();
        hash.part(env!("CARGO_PKG_VERSION"));
        hash.part(axis.identity());
        hash.part(kernel.unwrap_or_default());
        let recipe = self.build.recipe();
        hash.part(format!("{recipe:?}"));
        for path in recipe.configurations.iter().map(Path::new).filter(|path| path.is_file()) {
            hash.part(std::fs::read(path).with_context(|| path.display().to_string())?);
        }
        hash.part(format!("{question:?} {:?} {} {}", self.case, self.fixed, self.any_failure));
        hash.part(format!("{:?} {:?} {:?}", self.machine, self.case_timeout, self.arguments));
        hash.part(format!("{:?} {}", self.need, self.suite));
        if let Some(path) = &self.exec {
            hash.part(std::fs::read(path).with_context(|| path.display().to_string())?);
        }
        Ok(hash.finish()[..NAME].to_string())
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
    match error.downcast::<kernel::Error>() {
        Ok(error) => error.into(),
        Err(error) if crate::failure::is_usage(&error) => bisect::Error::Usage(format!("{error:#}")),
        Err(error) => bisect::Error::Broken(format!("{error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use bisect::axis::Parameters;
    use clap::Parser;
    use kernel::{Arch, Recipe};

    use super::*;
    use crate::cli::{Cli, Verb};

    /// The folder of a search among commits, or what looks like one.
    fn name(kernel: Option<&str>, more: &[&str]) -> String {
        let words = [&["kiln", "bisect", "git:x@a..b"], more].concat();
        let Verb::Bisect(said) = Cli::parse_from(words).verb else { panic!("not a bisection") };
        let recipe =
            Recipe { configurations: vec![], arch: Arch::X86_64, allow_unmet: false, variables: vec![] };
        let axis = Parameters::between(&"host".parse().unwrap(), &recipe, "", "quiet").unwrap();
        said.name(&axis, kernel, &said.question()).unwrap()
    }

    #[test]
    fn what_asks_something_else_is_another_search() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let configured = || name(None, &["--build", "--config", path]);
        let empty = configured();
        std::fs::write(path, "CONFIG_X=y").unwrap();
        let names = [
            name(None, &["--build"]),
            name(None, &["--build", "--make", "W=1"]),
            name(None, &["--build", "--config", "tiny"]),
            name(None, &["--build", "--arch", "um"]),
            name(None, &["--log", "WARNING"]),
            name(None, &["--log", "WARNING", "--case", "pipe/full"]),
            name(None, &["--log", "WARNING", "--case", "pipe/broken"]),
            name(Some("old"), &["--boot"]),
            name(Some("new"), &["--boot"]),
            empty,
            configured(),
        ];
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        assert_eq!(name(None, &["--build", "--confidence", "90%", "--json"]), names[0]);
    }
}
