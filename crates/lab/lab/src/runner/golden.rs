//! Whether a kernel that is known to be good fails in the same way.

use std::collections::HashMap;

use super::news::Emitter;
use super::pool::Order;
use super::work::Context;
use super::{GivenUp, Part, pool};
use crate::options::Repeats;
use crate::plan::Item;
use crate::source::Source;
use judge::outcome::{Blame, Outcome};
use judge::run::Run;
use judge::signature::Way;

/// How often a case is run on it: one that fails now and then needs its chance.
const RUNS: u32 = 4;

/// A kernel that is known to be good, with the same cases.
#[derive(Debug, Clone)]
pub struct Golden<'a> {
    /// Its name.
    pub name: String,
    /// Its machines and the cases.
    pub parts: Vec<Part<'a>>,
}

/// Runs what is ordered; those that accuse the kernel are then run on the golden one, and only then told.
pub(super) fn run<'a>(
    golden: &'a Golden<'_>,
    source: &'a dyn Source,
    order: Order<'_>,
    context: &Context<'a>,
    emitter: &mut Emitter<'_>,
) -> Result<(), GivenUp> {
    let mut accused = Vec::new();
    let ran = pool::run(source, order, context, emitter, &mut |emitter, run| {
        if run.outcome.is_failure() { accused.push(run) } else { emitter.finish(run) }
    });
    if ran.is_ok() {
        judge(golden, &mut accused, context, emitter);
    }
    // What could not be compared is told as it is.
    accused.into_iter().for_each(|run| emitter.finish(run));
    ran
}

/// Runs the accused cases on the golden kernel and changes what is reported about those that fail there too.
fn judge<'a>(golden: &'a Golden<'_>, accused: &mut [Run], context: &Context<'a>, emitter: &mut Emitter<'_>) {
    let mut there = HashMap::new();
    for part in &golden.parts {
        let wanted = |item: &&Item| item.skip.is_none() && accused.iter().any(|run| run.case == item.name);
        let items: Vec<&Item> = part.plan.items.iter().filter(wanted).collect();
        if items.is_empty() {
            continue;
        }
        emitter.note(format!("running {} on the golden kernel {}", cases(items.len()), golden.name));
        let order = Order { items, repeats: Repeats::UntilFailure(Some(RUNS)), is_golden: true };
        let ran = pool::run(part.source, order, context, emitter, &mut |_, run| {
            there.insert(run.case.clone(), run);
        });
        if let Err(GivenUp::Impossible(error)) = ran {
            emitter.note(format!("the golden kernel {}: {error}", golden.name));
        }
    }
    for run in accused {
        match there.get(&run.case) {
            Some(other) if way(run) == way(other) => exonerate(run, &golden.name),
            Some(other) => {
                run.notes.push(format!("on the golden kernel {}: {}", golden.name, outcome_of(other)));
            }
            None => run.notes.push(format!("it was not run on the golden kernel {}", golden.name)),
        }
    }
}

/// The kernel is not at fault: a good one does the same.
fn exonerate(run: &mut Run, golden: &str) {
    let seen = outcome_of(run);
    run.outcome = Outcome::Broken;
    run.blame = Some(Blame::Case);
    run.reason = format!("the golden kernel {golden} fails in the same way: {seen}");
}

fn way(run: &Run) -> Way {
    Way::of(run.outcome, &run.reason)
}

fn outcome_of(run: &Run) -> String {
    let separator = if run.reason.is_empty() { "" } else { ": " };
    format!("{}{separator}{}", run.outcome.name(), run.reason)
}

fn cases(count: usize) -> String {
    if count == 1 { "1 case".to_string() } else { format!("{count} cases") }
}
