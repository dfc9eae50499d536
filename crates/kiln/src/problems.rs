//! `kiln problems`: identical failures, each with its life.
//!
//! * [`searches`]: what tells more of them

mod searches;

use std::path::Path;

use anyhow::{Context, Result};
use bisect::problem::{Made, made, request, standing};
use jiff::Timestamp;
use judge::exit::{BROKEN, INTERRUPTED};
use ledger::{Closing, Ledger, Problem, named};
use report::{ShownProblem, closed_note};
use verdict::problem::{Standing, State, Succession};

use crate::cli::{Problems, ProblemsVerb};
use crate::failure::complain;
use crate::figures::width;
use crate::find::in_context;
use crate::listeners::standard_output;
use crate::results::opened;
use crate::signals::interrupt_flag;
use searches::Searched;

/// All problems, and how the kernels follow each other that they met.
struct Known {
    problems: Vec<Problem>,
    succession: Succession,
}

/// Lists, shows, closes or reopens problems and gives the exit code.
pub(crate) fn problems(args: &Problems, color: bool) -> Result<u8> {
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let mut ledger = opened(&root)?;
    let known = Known::read(&mut ledger)?;
    ledger.notes.iter().for_each(|note| complain(note));
    match &args.verb {
        None if args.bisect => return bisect_and_list(args, &root, &mut ledger, known, color),
        None => list(args, &root, known, color)?,
        Some(ProblemsVerb::Show { id, json }) => known.show(&root, id, *json, color)?,
        Some(ProblemsVerb::Close { id }) => known.close(&ledger, id)?,
        Some(ProblemsVerb::Reopen { id }) => reopen(&ledger, named(&known.problems, id)?)?,
    }
    Ok(0)
}

/// Lists what is known of the problems once they are bisected.
fn bisect_and_list(
    args: &Problems,
    root: &Path,
    ledger: &mut Ledger,
    known: Known,
    color: bool,
) -> Result<u8> {
    let made = made(&ledger::bisections_root());
    let all = known.with_standing(&made);
    let wanted: Vec<_> = all.iter().filter(|(_, standing)| args.wants(standing.state)).collect();
    let searched = searches::make(&wanted, &made, root, args.budget, color)?;
    ledger.refresh()?;
    list(args, root, Known::read(ledger)?, color)?;
    Ok(match searched {
        Searched { is_interrupted: true, .. } => INTERRUPTED,
        Searched { failed: 1.., .. } => BROKEN,
        Searched { .. } => 0,
    })
}

impl Known {
    /// Reads them; trees of commits are asked for their order.
    fn read(ledger: &mut Ledger) -> Result<Self> {
        let mut problems = ledger.problems()?;
        let interrupt = interrupt_flag().context("signals")?;
        let succession = in_context(&interrupt, |context| Succession::of(&problems, context));
        problems.iter_mut().for_each(|problem| succession.arrange(problem));
        Ok(Self { problems, succession })
    }

    fn with_standing(self, made: &[Made]) -> Vec<(Problem, Standing)> {
        let with_standing = |problem| {
            let standing = standing(&problem, &self.succession, made);
            (problem, standing)
        };
        self.problems.into_iter().map(with_standing).collect()
    }

    fn show(&self, root: &Path, id: &str, json: bool, color: bool) -> Result<()> {
        let problem = named(&self.problems, id)?;
        let made = made(&ledger::bisections_root());
        let standing = standing(problem, &self.succession, &made);
        let request = request(root, problem);
        let request = request.as_ref().map(|(request, case)| (request, case.as_str()));
        let shown = ShownProblem { problem, standing: &standing, request, made: &made };
        standard_output(|out| if json { shown.json(out) } else { shown.text(color, out) })?;
        Ok(())
    }

    fn close(&self, ledger: &Ledger, id: &str) -> Result<()> {
        let problem = named(&self.problems, id)?;
        let standing = Standing::of(problem, &self.succession);
        if standing.state == State::Closed {
            complain(&format!("{} is closed already", problem.id));
            return Ok(());
        }
        let was_gone = matches!(standing.state, State::FixCandidate | State::Verified);
        ledger.close(problem, Closing { closed: Timestamp::now(), was_gone })?;
        if !was_gone {
            complain(&format!(
                "{} is still there in the latest kernels: it reopens when it is seen again",
                problem.id
            ));
        }
        Ok(())
    }
}

impl Problems {
    /// Whether problems in this state are listed.
    fn wants(&self, state: State) -> bool {
        if self.state.is_empty() { self.all || state != State::Closed } else { self.state.contains(&state) }
    }
}

fn list(args: &Problems, root: &Path, known: Known, color: bool) -> Result<()> {
    let all = known.with_standing(&made(&ledger::bisections_root()));
    let closed = all.iter().filter(|(_, standing)| standing.state == State::Closed).count();
    let hides_closed = !args.all && args.state.is_empty();
    let shown: Vec<_> = all.into_iter().filter(|(_, standing)| args.wants(standing.state)).collect();
    if shown.is_empty() {
        complain(&format!("no problem in {} matches", root.display()));
    } else {
        standard_output(|out| {
            if args.json {
                report::problems_json(&shown, out)
            } else {
                report::problems_table(&shown, width(), color, out)
            }
        })?;
    }
    if hides_closed && closed > 0 {
        complain(&closed_note(closed));
    }
    Ok(())
}

fn reopen(ledger: &Ledger, problem: &Problem) -> Result<()> {
    if problem.closing.is_none() {
        complain(&format!("{} is not closed", problem.id));
    }
    Ok(ledger.reopen(problem)?)
}
