//! `kiln problems`: identical failures, each with its life.
//!
//! * [`searches`]: what tells more of them

mod searches;

use std::path::Path;

use anyhow::{Context, Result};
use bisect::problem::{KnownProblems, request};
use jiff::Timestamp;
use judge::exit::{BROKEN, INTERRUPTED};
use ledger::{Closing, Ledger, Problem, named};
use report::{ShownProblem, closed_note};
use verdict::problem::{Standing, State};

use crate::cli::{Problems, ProblemsVerb};
use crate::failure::complain;
use crate::figures::width;
use crate::find::in_context;
use crate::listeners::standard_output;
use crate::results::opened;
use crate::signals::interrupt_flag;
use searches::Searched;

/// Lists, shows, closes or reopens problems and gives the exit code.
pub(crate) fn problems(args: &Problems, color: bool) -> Result<u8> {
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let mut ledger = opened(&root)?;
    let known = read(&mut ledger)?;
    ledger.notes.iter().for_each(|note| complain(note));
    match &args.verb {
        None if args.bisect => return bisect_and_list(args, &root, &mut ledger, &known, color),
        None => list(args, &root, known, color)?,
        Some(ProblemsVerb::Show { id, json }) => show(&root, &known, id, *json, color)?,
        Some(ProblemsVerb::Close { id }) => close(&ledger, with_id(&known, id)?)?,
        Some(ProblemsVerb::Reopen { id }) => reopen(&ledger, &with_id(&known, id)?.0)?,
    }
    Ok(0)
}

/// Reads them; trees of commits are asked for their order.
fn read(ledger: &mut Ledger) -> Result<KnownProblems> {
    let interrupt = interrupt_flag().context("signals")?;
    let bisections = ledger::bisections_root();
    Ok(in_context(&interrupt, |context| KnownProblems::read(ledger, &bisections, context))?)
}

/// Lists what is known of the problems once they are bisected.
fn bisect_and_list(
    args: &Problems,
    root: &Path,
    ledger: &mut Ledger,
    known: &KnownProblems,
    color: bool,
) -> Result<u8> {
    let wanted: Vec<_> = known.all.iter().filter(|(_, standing)| args.wants(standing.state)).collect();
    let searched = searches::make(&wanted, &known.made, root, args.budget, color)?;
    ledger.refresh()?;
    list(args, root, read(ledger)?, color)?;
    Ok(match searched {
        Searched { is_interrupted: true, .. } => INTERRUPTED,
        Searched { failed: 1.., .. } => BROKEN,
        Searched { .. } => 0,
    })
}

/// The one with an id that begins so.
fn with_id<'k>(known: &'k KnownProblems, id: &str) -> Result<&'k (Problem, Standing)> {
    Ok(named(&known.all, |(problem, _)| problem, id)?)
}

fn show(root: &Path, known: &KnownProblems, id: &str, json: bool, color: bool) -> Result<()> {
    let (problem, standing) = with_id(known, id)?;
    let request = request(root, problem);
    let request = request.as_ref().map(|(request, case)| (request, case.as_str()));
    let shown = ShownProblem { problem, standing, request, made: &known.made };
    standard_output(|out| if json { shown.json(out) } else { shown.text(color, out) })?;
    Ok(())
}

fn close(ledger: &Ledger, (problem, standing): &(Problem, Standing)) -> Result<()> {
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

impl Problems {
    /// Whether problems in this state are listed.
    fn wants(&self, state: State) -> bool {
        if self.state.is_empty() { self.all || state != State::Closed } else { self.state.contains(&state) }
    }
}

fn list(args: &Problems, root: &Path, KnownProblems { all, .. }: KnownProblems, color: bool) -> Result<()> {
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
