//! What measuring and comparing share: how it is done, where figures are kept, what is printed.

use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use kernel::Store;
use lab::request::{FiguresRequest, ProgramRequest, TimedRequest};
use lab::suites::select::operations;
use ledger::Figures as Kept;
use machine::Watch;
use measure::count::BOOTS;
use measure::{Candidate, Counting, Measurement, count};
use report::Measuring;
use verdict::{Comparison, Design, Noise};

use crate::cli::Figures;
use crate::failure::WrongUsage;
use crate::listeners::standard_output;
use crate::terminal;

/// The document of what comparisons of a kernel with itself gave on this host.
const NOISE: &str = "noise";

impl Figures {
    /// Checks what can be told to be wrong before anything is fetched.
    pub(crate) fn check(&self, has_program: bool) -> Result<()> {
        operations(&self.metric).map_err(lab::suites::Error::from)?;
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
        let timed = TimedRequest {
            budget: self.budget,
            min_effect: self.min_effect,
            seed: self.seed,
            leave_out_disturbed: self.exclude_disturbed,
        };
        FiguresRequest {
            operations: self.metric.clone(),
            boots: self.boots,
            timed: self.timed.then_some(timed),
        }
    }

    /// How timed figures are sampled and judged.
    pub(crate) fn design(&self) -> Design {
        let seed = self.seed.unwrap_or_else(|| u64::from(std::process::id()));
        let usual = Design::new(seed);
        let looks = self.boots.map_or(usual.looks.clone(), |boots| vec![boots]);
        Design { min_effect: self.min_effect, leave_out_disturbed: self.exclude_disturbed, looks, ..usual }
    }

    /// Where figures are kept.
    pub(crate) fn root(&self) -> PathBuf {
        self.results.clone().unwrap_or_else(ledger::figures_root)
    }

    /// Checks that figures can be kept: minutes later it would be a pity.
    pub(crate) fn check_place(&self) -> Result<()> {
        Ok(Kept::check(&self.root())?)
    }

    /// A folder for figures of this call.
    pub(crate) fn keep(&self) -> Result<Kept> {
        let started = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        Ok(Kept::create(&self.root(), &started)?)
    }

    /// What comparisons of a kernel with itself gave on this host, if that was tried.
    pub(crate) fn noise(&self) -> Option<Noise> {
        Kept::at(self.root()).read(NOISE).ok()
    }

    /// Keeps that.
    pub(crate) fn keep_noise(&self, noise: &Noise) -> Result<()> {
        Ok(Kept::at(self.root()).keep(NOISE, noise)?)
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

/// How far it is, on standard error.
pub(crate) struct Told(RefCell<Measuring<io::Stderr>>);

impl Told {
    /// Nothing yet.
    pub(crate) fn new(color: bool) -> Self {
        Self(RefCell::new(Measuring::stderr(color)))
    }

    /// Something happened.
    pub(crate) fn hear(&self, progress: &measure::Progress) {
        self.0.borrow_mut().hear(progress);
    }

    /// Takes its line away.
    pub(crate) fn finish(self) {
        // Nobody is before a terminal that does not take it.
        let _ = self.0.into_inner().finish();
    }
}

/// Counts instructions, with QEMU's plugin as `watch` says.
pub(crate) fn count_all(
    candidates: &[Candidate<'_>],
    said: &Figures,
    color: bool,
    (watch, interrupt): (Watch, &AtomicBool),
) -> Result<Vec<Measurement>> {
    let told = Told::new(color);
    let how = Counting { boots: said.boots.unwrap_or(BOOTS), watch };
    let store = Store::new(Store::default_dir());
    let measured = count(candidates, &store, how, interrupt, &mut |progress| told.hear(&progress));
    told.finish();
    Ok(measured?)
}

/// The columns of the terminal, if people read there.
pub(crate) fn width() -> Option<usize> {
    io::stdout().is_terminal().then(|| usize::from(terminal::size().1))
}
