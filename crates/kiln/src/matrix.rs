//! `kiln matrix`: kernels beside each other.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ::matrix::{Error, Filled, Grid, Light, MatrixRequest, fill, fill_on_slurm, groups, known};
use anyhow::{Context, Result};
use judge::exit::{BROKEN, INTERRUPTED};
use kernel::Locator;
use kernel::catalogue::Entry;
use kernel::files::{self, Limit};
use lab::HostBackend;
use lab::request::{BuildOptions, MachineRequest, Selection};
use lab::suites::select::{DEFAULT, Pattern};
use ledger::{Ledger, Place};
use script::matrix_plan::plans;
use script::source::Source;

use crate::cli::{Cluster, MatrixVerb, OnEach};
use crate::failure::{WrongUsage, complain};
use crate::kernels::{locators, offered};
use crate::listeners::standard_output;
use crate::report_file::{check, write};
use crate::results::opened;
use crate::shell_words::this_call;
use crate::{signals, terminal};

/// How the name of a plan ends.
const PLAN: &str = ".star";

/// Largest plan.
const LIMIT: Limit = Limit { what: "a plan", bytes: 1 << 20 };

/// Runs what is missing, shows the grid, and gives the exit code.
pub(crate) fn matrix(args: &MatrixVerb, color: bool) -> Result<u8> {
    check([("--html", &args.html)])?;
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let requests = args.requests()?;
    let Filled { grids, failed, .. } = if args.show {
        let mut ledger = opened(&root)?;
        let grids = all_known(&requests, &mut ledger)?;
        ledger.notes.iter().for_each(|note| complain(note));
        Filled { grids, failed: 0, incomplete: 0 }
    } else {
        let interrupt = signals::interrupt_flag().context("signals")?;
        match filled(&requests, args.on, &root, &interrupt) {
            Err(error) if error.is_interrupt() => {
                complain(&error.to_string());
                return Ok(INTERRUPTED);
            }
            filled => filled?,
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
fn filled(
    requests: &[MatrixRequest],
    on: Option<Cluster>,
    sessions: &Path,
    interrupt: &AtomicBool,
) -> Result<Filled, Error> {
    let place = Place { backend: &HostBackend, sessions, interrupt };
    let mut line = terminal::Progress::new();
    let mut emit = |progress| line.follow(&progress);
    match on {
        Some(Cluster::Slurm) => fill_on_slurm(requests, place, &mut emit),
        None => fill(requests, place, &mut emit),
    }
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
    /// What is asked: by a plan, or by options.
    fn requests(&self) -> Result<Vec<MatrixRequest>> {
        match &self.kernels[..] {
            [path] if is_plan(path) && self.each.flavour.is_empty() => {
                self.each.planned(Path::new(path), None)
            }
            kernels => match kernels.iter().find(|text| is_plan(text)) {
                Some(path) => {
                    Err(WrongUsage(format!("{path}: a plan names its kernels and flavours itself")).into())
                }
                None => Ok(vec![self.each.request(kernels_of(kernels, &self.each.flavour)?)]),
            },
        }
    }
}

/// The kernels that are named, and those of these flavours that match a pattern; each once.
fn kernels_of(names: &[String], flavours: &[String]) -> Result<Vec<Locator>> {
    let is_pattern = |text: &String| text.contains(['*', '?']);
    let is_flavour = |entry: &Entry| flavours.is_empty() || flavours.contains(&entry.flavour);
    let mut kernels: Vec<Locator> = Vec::new();
    let offered = if names.iter().any(is_pattern) { offered() } else { Vec::new() };
    for text in names {
        if !is_pattern(text) {
            kernels.push(text.parse()?);
            continue;
        }
        let pattern = Pattern::new(text);
        let wanted = offered.iter().filter(|entry| pattern.matches(&entry.locator) && is_flavour(entry));
        kernels.extend(locators(text, wanted)?);
    }
    let mut seen = std::collections::HashSet::new();
    kernels.retain(|kernel| seen.insert(kernel.to_string()));
    Ok(kernels)
}

/// What a plan asks; of the kernels that it names, or of others.
fn of_plan(path: &Path, others: Option<&[Locator]>, jobs: Option<u16>) -> Result<Vec<MatrixRequest>> {
    let text = files::read(path, LIMIT)?;
    let source = Source::new(path.display().to_string(), String::from_utf8_lossy(&text));
    let plans = plans(source).map_err(|problem| WrongUsage(problem.to_string()))?;
    let mut requests = Vec::new();
    for plan in &plans {
        let kernels = match others {
            Some(others) => others.to_vec(),
            None if plan.kernels.is_empty() => {
                return Err(WrongUsage(format!("{}: a plan names no kernels", path.display())).into());
            }
            None => kernels_of(&plan.kernels, &plan.flavours)?,
        };
        requests.extend(::matrix::plan::requests(plan, &kernels, jobs)?);
    }
    Ok(requests)
}

/// Whether this names a plan.
pub(crate) fn is_plan(name: &str) -> bool {
    name.ends_with(PLAN)
}

/// The grids of a plan, of what is known.
pub(crate) fn of_known(plan: &Path, ledger: &mut Ledger) -> Result<Vec<Grid>> {
    all_known(&of_plan(plan, None, None)?, ledger)
}

fn all_known(requests: &[MatrixRequest], ledger: &mut Ledger) -> Result<Vec<Grid>> {
    let grids = requests.iter().map(|request| known(request, ledger)).collect::<Result<Vec<_>, _>>()?;
    Ok(grids.concat())
}

impl OnEach {
    /// The same on these kernels.
    pub(crate) fn request(&self, kernels: Vec<Locator>) -> MatrixRequest {
        let case = |suite: &String| Selection::Suite { suite: suite.clone(), patterns: self.case.clone() };
        MatrixRequest {
            setting: String::new(),
            kernels,
            build: self.build.request(),
            parameters: self.params.clone(),
            cases: self.suite.iter().map(case).collect(),
            machine: self.machine.request(),
            jobs: self.jobs,
        }
    }

    /// What a plan asks; of the kernels that it names, or of others.
    pub(crate) fn planned(&self, path: &Path, others: Option<&[Locator]>) -> Result<Vec<MatrixRequest>> {
        if !self.says_nothing() {
            let text =
                format!("{}: the plan says what is tested; leave out the options for that", path.display());
            return Err(WrongUsage(text).into());
        }
        of_plan(path, others, self.jobs)
    }

    /// Whether no option says what is tested and on which machine.
    fn says_nothing(&self) -> bool {
        let MatrixRequest { build, parameters, cases, machine, .. } = self.request(Vec::new());
        let usual = Selection::Suite { suite: DEFAULT.to_owned(), patterns: Vec::new() };
        build == BuildOptions::default()
            && parameters == [""]
            && cases == [usual]
            && machine == MachineRequest::default()
    }
}
