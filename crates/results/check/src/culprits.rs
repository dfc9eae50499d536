//! The patches that made something worse: each is searched for with a proof.

use std::collections::HashMap;

use bisect::{BisectRequest, Bisection, Conclusion, Opened, Question};
use judge::signature::Way;
use lab::request::Selection;
use ledger::Progress;

use crate::Error;
use crate::document::{CaseChange, Change, CostChange, Culprit, Seen};
use crate::environment::{Emit, Environment};
use crate::request::CheckRequest;

/// Most failures whose patch is searched for. A bad patch often makes many cases fail.
const SEARCHES_MAX: usize = 8;

/// What is asked, and where.
pub(crate) struct Culprits<'a> {
    pub(crate) request: &'a CheckRequest,
    pub(crate) environment: &'a Environment<'a>,
}

impl Culprits<'_> {
    /// Names the patch for each case that became worse. Of cases that fail in the same way one is searched for.
    pub(crate) fn of_cases(
        &self,
        changes: &mut [CaseChange],
        cases: &Selection,
        emit: Emit<'_>,
    ) -> Result<(), Error> {
        let mut found: HashMap<Option<Way>, Culprit> = HashMap::new();
        for change in changes.iter_mut().filter(|change| change.change == Change::Worse) {
            let way = way(&change.after);
            let culprit = match found.get(&way) {
                Some(known) => known.clone(),
                None if found.len() >= SEARCHES_MAX => too_many(),
                None => self.search(&self.about_case(change, cases), &change.case, emit)?,
            };
            if let Culprit::NotRepeated { .. } = culprit {
                change.change = Change::Undecided;
            }
            change.culprit = Some(culprit.clone());
            found.insert(way, culprit);
        }
        Ok(())
    }

    /// Names the patch for each operation that became dearer.
    pub(crate) fn of_costs(&self, changes: &mut [CostChange], emit: Emit<'_>) -> Result<(), Error> {
        let dearer = changes.iter_mut().filter(|change| change.change == Change::Worse);
        for (number, change) in dearer.enumerate() {
            let name = change.operation.clone();
            let question = Question::Metric { name: name.clone(), worse_by: None, timed: false };
            change.culprit = Some(match number < SEARCHES_MAX {
                true => self.search(&self.about(question), &name, emit)?,
                false => too_many(),
            });
        }
        Ok(())
    }

    /// The search for the patch that broke a case.
    fn about_case(&self, change: &CaseChange, cases: &Selection) -> BisectRequest {
        if change.is_boot {
            return self.about(Question::Boot);
        }
        let case = change.case.clone();
        let (question, cases) = match cases {
            Selection::Program(program) => (Question::Program(case), Selection::Program(program.clone())),
            // Where selftests are installed there is a suite.
            Selection::Suite { suite, .. } | Selection::Selftests { place: suite, .. } => {
                let patterns = vec![case.clone()];
                (Question::Case(case), Selection::Suite { suite: suite.clone(), patterns })
            }
        };
        BisectRequest { cases: Some(cases), ..self.about(question) }
    }

    fn about(&self, question: Question) -> BisectRequest {
        let mut request = BisectRequest::new(self.request.patches.axis(), question);
        request.case_limit = self.request.case_limit;
        request.build = self.request.build.clone();
        request.machine = self.request.machine.clone();
        request
    }

    fn search(&self, request: &BisectRequest, what: &str, emit: Emit<'_>) -> Result<Culprit, Error> {
        let place = bisect::Environment {
            backend: self.environment.backend,
            interrupt: self.environment.interrupt,
            on_slurm: false,
            sessions: self.environment.sessions.clone(),
            bisections: self.environment.bisections.clone(),
        };
        let working = |text: &str| Progress::Working(format!("searching for the patch, {what}: {text}"));
        let opened = Opened::new(request, &place, &mut |news| emit(news.into()))?;
        let done = opened.search(&mut |progress| match progress {
            bisect::Progress::Testing { name, .. } => emit(working(&name)),
            bisect::Progress::Working(text) => emit(working(&text)),
            _ => {}
        });
        match done {
            Ok(done) => Ok(culprit(&done.bisection)),
            Err(error) if error.is_interrupt() => Err(error.into()),
            Err(
                error @ (bisect::Error::NotBad { .. }
                | bisect::Error::NotGood { .. }
                | bisect::Error::Swapped { .. }
                | bisect::Error::OtherFailure { .. }),
            ) => Ok(Culprit::NotRepeated { why: error.to_string() }),
            Err(error) => Ok(Culprit::Unknown { why: error.to_string() }),
        }
    }
}

fn way(seen: &Seen) -> Option<Way> {
    seen.outcome.map(|outcome| Way::of(outcome, &seen.reason))
}

fn too_many() -> Culprit {
    Culprit::Unknown { why: format!("the patches of {SEARCHES_MAX} others were searched for") }
}

fn culprit(bisection: &Bisection) -> Culprit {
    let from_one = |numbers: &[usize]| numbers.iter().map(|number| number + 1).collect();
    match &bisection.conclusion {
        _ if bisection.is_in_doubt() => {
            Culprit::Unknown { why: "a check speaks against the patch that was found".to_owned() }
        }
        Conclusion::Culprits { numbers, confidence, .. } => {
            Culprit::Patches { numbers: from_one(numbers), confidence: *confidence }
        }
        Conclusion::Suspects { numbers, confidence, .. } => {
            Culprit::OneOf { numbers: from_one(numbers), confidence: *confidence }
        }
        Conclusion::Contradiction { why } => Culprit::Unknown { why: why.clone() },
    }
}
