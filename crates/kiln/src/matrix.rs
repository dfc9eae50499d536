//! `kiln matrix`: kernels beside each other.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ::matrix::{Error, Filled, Grid, Light, MatrixRequest, fill, groups, known};
use anyhow::{Context, Result};
use judge::exit::{BROKEN, INTERRUPTED};
use kernel::Locator;
use kernel::catalogue::Entry;
use lab::HostBackend;
use lab::request::Selection;
use lab::suites::select::Pattern;
use ledger::{Place, Progress};

use crate::cli::MatrixVerb;
use crate::failure::complain;
use crate::kernels::{locators, offered};
use crate::listeners::standard_output;
use crate::report_file::{check, write};
use crate::results::opened;
use crate::shell_words::this_call;
use crate::{signals, terminal};

/// Runs what is missing, shows the grid, and gives the exit code.
pub(crate) fn matrix(args: &MatrixVerb, color: bool) -> Result<u8> {
    check([("--html", &args.html)])?;
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let request = args.request()?;
    let (grids, failed) = if args.show {
        let mut ledger = opened(&root)?;
        let grids = known(&request, &mut ledger)?;
        ledger.notes.iter().for_each(|note| complain(note));
        (grids, 0)
    } else {
        let interrupt = signals::interrupt_flag().context("signals")?;
        match filled(&request, &root, &interrupt) {
            Err(error) if error.is_interrupt() => {
                complain(&error.to_string());
                return Ok(INTERRUPTED);
            }
            filled => {
                let Filled { grids, failed } = filled?;
                (grids, failed)
            }
        }
    };
    standard_output(|out| {
        if args.json {
            report::matrix::json(&grids, out)
        } else {
            report::matrix::text(&grids, args.all, color, out)
        }
    })?;
    if let Some(path) = &args.html {
        write(path, |out| report::matrix::html(&grids, &this_call(), out))?;
    }
    Ok(exit_code(&grids, failed))
}

/// Runs what is missing.
fn filled(request: &MatrixRequest, sessions: &Path, interrupt: &AtomicBool) -> Result<Filled, Error> {
    let place = Place { backend: &HostBackend, sessions, interrupt };
    let mut line = terminal::Progress::new();
    fill(request, place, &mut |progress| match progress {
        Progress::Working(text) => line.show(&text),
        Progress::Known(text) | Progress::Note(text) => line.note(&text),
    })
}

/// 1 if a case fails anywhere, 3 if something is uncertain or missing.
fn exit_code(grids: &[Grid], failed: usize) -> u8 {
    let lights = grids.iter().flat_map(groups).map(|group| group.light);
    let is_missing = |grid: &Grid| (0..grid.columns.len()).any(|column| !grid.is_tested(column));
    match lights.max() {
        Some(Light::Red) => 1,
        Some(Light::Amber) => BROKEN,
        _ if failed > 0 || grids.iter().any(is_missing) => BROKEN,
        _ => 0,
    }
}

impl MatrixVerb {
    /// What is asked.
    fn request(&self) -> Result<MatrixRequest> {
        let case = |suite: &String| Selection::Suite { suite: suite.clone(), patterns: self.case.clone() };
        Ok(MatrixRequest {
            kernels: self.kernels()?,
            parameters: self.params.clone(),
            cases: self.suite.iter().map(case).collect(),
            machine: self.machine.request(),
            jobs: self.jobs,
        })
    }

    /// The kernels that are named, and those that match a pattern.
    fn kernels(&self) -> Result<Vec<Locator>> {
        let is_pattern = |text: &String| text.contains(['*', '?']);
        let mut kernels: Vec<Locator> = Vec::new();
        let offered = if self.kernels.iter().any(is_pattern) { offered() } else { Vec::new() };
        for text in &self.kernels {
            if !is_pattern(text) {
                kernels.push(text.parse()?);
                continue;
            }
            let pattern = Pattern::new(text);
            let wanted =
                offered.iter().filter(|entry| pattern.matches(&entry.locator) && self.is_flavour(entry));
            kernels.extend(locators(text, wanted)?);
        }
        let mut seen = std::collections::HashSet::new();
        kernels.retain(|kernel| seen.insert(kernel.to_string()));
        Ok(kernels)
    }

    fn is_flavour(&self, entry: &Entry) -> bool {
        self.flavour.is_empty() || self.flavour.contains(&entry.flavour)
    }
}
