//! Ends, search, reduction, proof: a bisection from its beginning to its end.

use judge::parameters::note;
use ledger::Journal;

use verdict::bisection::{Belief, Standing};
use verdict::{BootRuns, Estimate, Nested};

use crate::asking::{Asking, Kept, Others};
use crate::axis::Axis;
use crate::bisection::{Bisection, Conclusion, End, Rate, Steps};
use crate::candidate::Candidate;
use crate::error::Error;
use crate::event::Progress;
use crate::find::{Found, find, is_always, start};
use crate::point::Point;
use crate::question::Question;
use crate::reduce::{Culprit, Set};
use crate::settings::Settings;
use crate::tester::Tester;
use crate::track::Track;
use crate::underway::Underway;
use crate::{ends, proof, reduce};

/// What answers the question, what is kept, and where progress goes.
pub struct Parts<'a> {
    /// Answers the question.
    pub tester: &'a mut dyn Tester,
    /// Keeps the answers.
    pub journal: &'a mut Journal,
    /// Answers of an earlier call.
    pub kept: Vec<Kept>,
    /// Gets what happens.
    pub emit: &'a mut dyn FnMut(Progress),
}

impl std::fmt::Debug for Parts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}

/// Finds what made the difference between both ends of an axis, and makes sure of it.
///
/// # Errors
///
/// When the ends are not what they should be, when kiln or the host fails, and when the user wants to stop. What was
/// learnt is in the journal.
pub fn bisect(
    axis: &mut dyn Axis,
    question: &Question,
    settings: &Settings,
    parts: Parts<'_>,
) -> Result<Bisection, Error> {
    let Parts { tester, journal, kept, emit } = parts;
    let track = Track::of(axis);
    start(&track, axis, settings, question.alarms())?;
    let (first, last) = (name(axis, &Point::First)?, name(axis, &Point::Last)?);
    let underway = Underway::new(axis, question, settings.fixed, [first.clone(), last.clone()]);
    let candidates = underway.candidates.clone();
    emit(Progress::Begun {
        kind: underway.kind,
        ends: (first.clone(), last.clone()),
        candidates: candidates.clone(),
        question: question.to_string(),
        resumed: kept.len(),
    });
    let others = Others { tester, journal, emit, underway };
    let mut asking = Asking::new(axis, question, others, kept);
    ends::verify(&mut asking, settings)?;
    let found = find(&mut asking, &track, settings)?;
    let probabilities = track.spread(&found.search.probabilities(Belief::Working), candidates.len());
    let (conclusion, more) = conclude(&mut asking, &track, &found, settings)?;
    let checks = match &conclusion {
        Conclusion::Culprits { numbers, .. } => proof::checks(&mut asking, numbers, settings)?,
        Conclusion::Suspects { .. } | Conclusion::Contradiction { .. } => Vec::new(),
    };
    let bad_boots = found.search.bad_boots(Belief::Sceptical);
    let end = |point: &Point, name: String| -> Result<End, Error> {
        let gone = || Error::End { end: name.clone(), why: "it was never tested".to_string() };
        Ok(End { state: asking.state(point).ok_or_else(gone)?, name })
    };
    Ok(Bisection {
        kind: asking.axis.kind(),
        question: question.clone(),
        fixed: settings.fixed,
        first: end(&Point::First, first)?,
        last: end(&Point::Last, last)?,
        threshold: asking.threshold,
        candidates,
        probabilities,
        states: asking.states(),
        conclusion,
        proof: checks,
        steps: Steps {
            taken: found.steps + more,
            rounds: found.rounds + more,
            runs: asking.runs,
            reused: asking.reused,
            expected: found.halving.0,
            worst: found.halving.1,
        },
        rate: rate_of(&bad_boots, question),
        notes: note(&asking.unknown).into_iter().collect(),
        reproduce: Vec::new(),
    })
}

fn rate_of(boots: &[BootRuns], question: &Question) -> Rate {
    let nested = Nested::of(boots);
    let Estimate { mean, low, high } = nested.estimate();
    Rate {
        mean,
        interval: (low, high),
        always: is_always(boots),
        decided_at_boot: question.nests_runs().then(|| nested.correlation()),
    }
}

fn name(axis: &mut dyn Axis, end: &Point) -> Result<String, Error> {
    let subject = axis.subject(end)?;
    Ok(subject.map(|subject| subject.name).unwrap_or_default())
}

/// What the search comes to, and states that were tested to know it.
fn conclude(
    asking: &mut Asking<'_>,
    track: &Track,
    found: &Found,
    settings: &Settings,
) -> Result<(Conclusion, u32), Error> {
    Ok(match &found.standing {
        Standing::Found { candidate, confidence } => {
            let first = track.candidate(*candidate);
            let Set { numbers, confidence, steps } = match asking.axis.is_separable() {
                true => {
                    let last = Culprit { number: first, confidence: *confidence };
                    reduce::minimal(asking, last, settings)?
                }
                false => Set { numbers: vec![first], confidence: *confidence, steps: 0 },
            };
            let candidates = describe(asking, &numbers)?;
            (Conclusion::Culprits { numbers, candidates, confidence }, steps)
        }
        Standing::Suspects { candidates, confidence } => {
            let numbers: Vec<usize> = candidates.iter().map(|number| track.candidate(*number)).collect();
            let candidates = describe(asking, &numbers)?;
            (Conclusion::Suspects { numbers, candidates, confidence: *confidence }, 0)
        }
        Standing::Open => {
            let why = match asking.is_exhausted() {
                true => format!("{} runs do not determine the change", asking.runs),
                false => "the states that can be tested do not determine the change".to_string(),
            };
            (Conclusion::Contradiction { why }, 0)
        }
        Standing::Contradiction => {
            let why = "no single change explains the results: it comes and goes between the ends".to_string();
            (Conclusion::Contradiction { why }, 0)
        }
    })
}

fn describe(asking: &mut Asking<'_>, numbers: &[usize]) -> Result<Vec<Candidate>, Error> {
    numbers.iter().map(|number| asking.axis.describe(*number)).collect()
}
