//! What measuring and comparing share: what is asked, what is shown meanwhile, what is printed.

use std::io::{self, IsTerminal, Stderr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use compare::{Environment, Error, Progress};
use lab::HostBackend;
use lab::request::{FiguresRequest, ProgramRequest, TimedRequest};
use report::Measuring;
use verdict::Comparison;

use crate::cli::Figures;
use crate::failure::WrongUsage;
use crate::input::Input;
use crate::listeners::standard_output;
use crate::{signals, terminal};

impl Figures {
    /// Checks what was said of a program.
    pub(crate) fn check(&self, has_program: bool) -> Result<()> {
        let wrong =
            |what: &str| Err(WrongUsage(format!("{what} are for a program: name it with --exec")).into());
        match has_program {
            false if !self.arguments.is_empty() => wrong("arguments after --"),
            false if !self.need.is_empty() => wrong("needs of --need"),
            _ => Ok(()),
        }
    }

    /// The user's own program, which is at `path`.
    pub(crate) fn program(&self, path: &Path) -> ProgramRequest {
        ProgramRequest { path: path.to_owned(), arguments: self.arguments.clone(), needs: self.need.clone() }
    }

    /// What is measured, and how.
    pub(crate) fn request(&self) -> FiguresRequest {
        FiguresRequest {
            operations: self.metric.clone(),
            boots: self.boots,
            first_seed: self.seed.filter(|_| !self.timed).unwrap_or(FiguresRequest::default().first_seed),
            timed: self.timed.then(|| self.timing()),
        }
    }

    /// How runs of an experiment are sampled.
    pub(crate) fn sampled(&self) -> FiguresRequest {
        FiguresRequest { boots: self.boots, timed: Some(self.timing()), ..FiguresRequest::default() }
    }

    /// How time is measured.
    pub(crate) fn timing(&self) -> TimedRequest {
        TimedRequest {
            budget: self.budget,
            min_effect: self.min_effect,
            seed: self.seed,
            leave_out_disturbed: self.exclude_disturbed,
        }
    }

    /// Where figures are kept.
    pub(crate) fn root(&self) -> PathBuf {
        self.results.clone().unwrap_or_else(ledger::figures_root)
    }

    /// Prints a comparison in the form that was asked for.
    pub(crate) fn print(&self, comparison: &Comparison, color: bool) -> io::Result<()> {
        let options = report::comparison::Options { width: width(), colour: color, verbose: self.verbose };
        standard_output(|out| match (self.json, self.csv) {
            (true, _) => report::comparison::json(comparison, out),
            (_, true) => report::comparison::csv(comparison, out),
            _ => report::comparison::table(comparison, options, out),
        })
    }

    /// Says where the figures are, where people read.
    pub(crate) fn print_place(&self, place: &Path) -> io::Result<()> {
        if self.json || self.csv {
            return Ok(());
        }
        standard_output(|out| writeln!(out, "figures in {}", place.display()))
    }
}

/// Carries something out on this host while the user looks on, perhaps with the user's own program; nothing if the user
/// stopped it.
pub(crate) fn looking_on<T>(
    (measurements, has_program): (PathBuf, bool),
    color: bool,
    work: impl FnOnce(&Environment<'_>, &mut dyn FnMut(Progress)) -> Result<T, Error>,
) -> Result<Option<T>> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let environment = Environment { backend: &HostBackend, interrupt: &interrupt, measurements };
    let mut preparing = Some(terminal::Progress::new());
    let mut measuring: Option<Measuring<Stderr>> = None;
    let done = work(&environment, &mut |progress| match progress {
        Progress::Preparing(text) => preparing.iter_mut().for_each(|line| line.show(&text)),
        Progress::Note(text) => match (&mut preparing, &mut measuring) {
            (Some(line), _) => line.note(&text),
            (None, Some(shown)) => shown.on_event(&measure::Progress::Note(text)),
            // The first figures take the line away and begin another one.
            (None, None) => {}
        },
        Progress::Measuring(progress) => {
            // Its line is taken away first.
            preparing = None;
            measuring.get_or_insert_with(|| begin(has_program, color)).on_event(&progress);
        }
    });
    // Nobody is before a terminal that does not take it.
    let _ = measuring.map_or(Ok(()), Measuring::finish);
    match done {
        Err(Error::Interrupted) => Ok(None),
        done => Ok(Some(done?)),
    }
}

/// Begins to show what is measured.
fn begin(has_program: bool, color: bool) -> Measuring<Stderr> {
    let mut measuring = Measuring::stderr(color);
    let note = has_program.then(Input::ignored_note).flatten();
    note.into_iter().for_each(|text| measuring.on_event(&measure::Progress::Note(text)));
    measuring
}

/// The columns of the terminal, if people read there.
pub(crate) fn width() -> Option<usize> {
    io::stdout().is_terminal().then(|| usize::from(terminal::size().1))
}
