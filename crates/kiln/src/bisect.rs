//! `kiln bisect`: which change made it bad.
//!
//! * [`range`]: the two ends; [`mod@request`]: what is asked
//! * [`results`]: what it leaves; [`mod@private`]: what of it others do not see

mod private;
mod range;
mod request;
mod results;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bisect::{Conclusion, Environment, Opened, Progress};
use lab::HostBackend;
use report::Bisecting;

use crate::cli::Bisect;
use crate::failure::WrongUsage;
use crate::input::Input;
use crate::{signals, terminal};
use judge::exit::BROKEN;
use results::Results;

/// Finds the change and gives the exit code.
pub(crate) fn bisect(args: &Bisect, color: bool) -> Result<u8> {
    args.check()?;
    let request = args.request()?;
    let interrupt = signals::interrupt_flag().context("signals")?;
    let environment = Environment {
        backend: &HostBackend,
        interrupt: &interrupt,
        sessions: ledger::default_root(),
        bisections: args.results.clone().unwrap_or_else(ledger::bisections_root),
    };
    let mut progress = terminal::Progress::new();
    let opened = Opened::new(&request, &environment, &mut |news| progress.tell(news))?;
    drop(progress);
    let shown = RefCell::new(Bisecting::stderr(color));
    let note = args.exec.as_ref().and_then(|_| Input::ignored_note());
    note.into_iter().for_each(|text| shown.borrow_mut().on_event(&Progress::Note(text)));
    let done = opened.search(&mut |progress| {
        if !matches!(&progress, Progress::Note(text) if !terminal::is_new(text)) {
            shown.borrow_mut().on_event(&progress);
        }
    });
    // Nobody is before a terminal that does not take it.
    let _ = shown.into_inner().finish();
    let done = done?;
    Results { args, request: &request, directory: done.directory(), color }.write(&done.bisection)?;
    Ok(match done.bisection.conclusion {
        Conclusion::Culprits { .. } if !done.bisection.is_in_doubt() => 0,
        Conclusion::Culprits { .. } | Conclusion::Suspects { .. } | Conclusion::Contradiction { .. } => {
            BROKEN
        }
    })
}

impl Bisect {
    /// Checks where reports go, before anything is fetched or built.
    fn check(&self) -> Result<()> {
        let files = [("--html", &self.html), ("--mail", &self.mail)];
        let wrong = files.iter().find_map(|(option, path)| {
            let path: &PathBuf = path.as_ref().filter(|path| !can_be_written(path))?;
            Some(format!("{option} {}: name a file that can be written", path.display()))
        });
        wrong.map_or(Ok(()), |text| Err(WrongUsage(text).into()))
    }
}

/// Whether a report can go to this file.
pub(crate) fn can_be_written(path: &Path) -> bool {
    // The parent of a bare name is "".
    let folder = path.parent().map(|folder| Path::new(".").join(folder));
    path.as_os_str() != "-" && !path.is_dir() && folder.is_some_and(|folder| folder.is_dir())
}
