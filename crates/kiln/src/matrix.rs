//! `kiln matrix`: kernels beside each other.

use ::matrix::{Environment, Grid, Light, MatrixRequest, Progress, fill, groups};
use anyhow::{Context, Result};
use judge::exit::{BROKEN, INTERRUPTED};
use kernel::Locator;
use kernel::catalogue::Entry;
use lab::HostBackend;
use lab::request::Selection;
use lab::suites::select::Pattern;

use crate::cli::MatrixVerb;
use crate::failure::WrongUsage;
use crate::kernels::offered;
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
    let mut suites = args.suite.clone();
    let mut failed = 0;
    if !args.show {
        let interrupt = signals::interrupt_flag().context("signals")?;
        let environment =
            Environment { backend: &HostBackend, interrupt: &interrupt, sessions: root.clone() };
        let mut line = terminal::Progress::new();
        let filled = fill(&request, &environment, &mut |progress| match progress {
            Progress::Working(text) => line.show(&text),
            Progress::Known(text) | Progress::Note(text) => line.note(&text),
        });
        drop(line);
        match filled {
            Err(error) if error.is_interrupt() => return Ok(INTERRUPTED),
            filled => {
                let filled = filled?;
                failed = filled.failed;
                suites = filled.suites;
            }
        }
    }
    let mut ledger = opened(&root)?;
    let grid = |suite: &String| Grid::read(&mut ledger, suite, &request.kernels, &request.parameters);
    let grids = suites.iter().map(grid).collect::<Result<Vec<Grid>, _>>()?;
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

/// 1 if a case fails anywhere, 3 if something is broken or missing.
fn exit_code(grids: &[Grid], failed: usize) -> u8 {
    let lights = grids.iter().flat_map(groups).map(|group| group.light);
    match lights.max() {
        Some(Light::Red) => 1,
        Some(Light::Amber) => BROKEN,
        _ if failed > 0 => BROKEN,
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
        let is_pattern = |text: &&String| text.contains(['*', '?']);
        let patterns: Vec<&String> = self.kernels.iter().filter(is_pattern).collect();
        let mut kernels: Vec<Locator> = Vec::new();
        let offered = if patterns.is_empty() { Vec::new() } else { offered() };
        for text in &self.kernels {
            if !is_pattern(&text) {
                kernels.push(text.parse()?);
                continue;
            }
            let pattern = Pattern::new(text);
            let wanted =
                offered.iter().filter(|entry| pattern.matches(&entry.locator) && self.is_flavour(entry));
            let found: Vec<Locator> = wanted.map(|entry| entry.locator.parse()).collect::<Result<_, _>>()?;
            if found.is_empty() {
                let text = format!("no kernel matches {text:?}: `kiln kernels` lists all");
                return Err(WrongUsage(text).into());
            }
            kernels.extend(found);
        }
        let mut seen = std::collections::HashSet::new();
        kernels.retain(|kernel| seen.insert(kernel.to_string()));
        Ok(kernels)
    }

    fn is_flavour(&self, entry: &Entry) -> bool {
        self.flavour.is_empty() || self.flavour.contains(&entry.flavour)
    }
}
