//! From Runs to an answer.

use bisect::{Answer, Error, Question};
use lab::likeness::Way;
use lab::run::Repeat;
use lab::{Blame, Outcome, Run};
use protocol::End;

use super::laboratory::says_nothing;
use super::runs::is_boot;

/// A program's word for "cannot be tested", as git bisect's.
const CANNOT_TEST: i32 = 125;

/// Records of the kernel log and bytes of output that are kept of a Run here; the ledger has all of it.
const RECORDS_MAX: usize = 400;
const OUTPUT_MAX: usize = 16 << 10;

/// Counts Runs.
pub(crate) struct Tally<'a> {
    question: &'a Question,
    way: Option<&'a Way>,
    shown: u32,
    hidden: u32,
    pub(crate) reused: u32,
    others: Vec<String>,
    untestable: Option<String>,
    trouble: Option<String>,
    /// The text that is looked for was seen in this session.
    seen: bool,
    stands: Option<Box<Run>>,
    pub(crate) sessions: Vec<String>,
}

/// What a Run says.
enum Says {
    Shown,
    Hidden,
    Other(String),
    CannotTest(String),
    Trouble(String),
}

impl<'a> Tally<'a> {
    pub(crate) fn new(question: &'a Question, way: Option<&'a Way>) -> Self {
        Self {
            question,
            way,
            shown: 0,
            hidden: 0,
            reused: 0,
            others: Vec::new(),
            untestable: None,
            trouble: None,
            seen: false,
            stands: None,
            sessions: Vec::new(),
        }
    }

    /// Runs that say something, or could have.
    pub(crate) fn runs(&self) -> u32 {
        let others = u32::try_from(self.others.len()).unwrap_or(u32::MAX);
        self.shown.saturating_add(self.hidden).saturating_add(others)
    }

    /// Whether more Runs would say nothing more.
    pub(crate) fn is_over(&self) -> bool {
        self.untestable.is_some() || self.trouble.is_some()
    }

    /// A line of the console.
    pub(crate) fn line(&mut self, line: &str) {
        if let Question::Log(text) = self.question {
            self.seen |= line.contains(text);
        }
    }

    /// A Run has been judged.
    pub(crate) fn take(&mut self, run: Run) {
        let says = self.says(&run);
        self.count(says, run);
    }

    /// A Run of an earlier session, with all Runs that it stands for.
    pub(crate) fn take_earlier(&mut self, session: &str, run: &Run) {
        let before = self.runs();
        let all = match run.repeats.is_empty() {
            true => vec![self.says(run)],
            false => run.repeats.iter().map(|repeat| self.of_case(repeat.outcome, &repeat.reason)).collect(),
        };
        // Of what is broken or has to be skipped one learns nothing; the next session may do better.
        for says in all {
            if matches!(says, Says::Shown | Says::Hidden) {
                self.count(says, small(run));
            }
        }
        if self.runs() > before {
            self.reused += self.runs() - before;
            self.sessions.push(session.to_string());
        }
    }

    fn count(&mut self, says: Says, run: Run) {
        let was_shown = self.shown > 0;
        match says {
            Says::Shown => self.shown += 1,
            Says::Hidden => self.hidden += 1,
            Says::Other(how) => self.others.push(how),
            Says::CannotTest(why) => self.untestable = Some(why),
            Says::Trouble(why) => self.trouble = Some(why),
        }
        if self.stands.is_none() || (self.shown > 0 && !was_shown) {
            self.stands = Some(Box::new(run));
        }
    }

    fn says(&mut self, run: &Run) -> Says {
        if let Some(why) = trouble(run) {
            return Says::Trouble(why);
        }
        match self.question {
            Question::Log(text) => {
                let in_log = run.log.iter().any(|record| record.text.contains(text.as_str()))
                    || run.output.contains(text.as_str());
                let seen = std::mem::take(&mut self.seen) || in_log;
                if seen { Says::Shown } else { Says::Hidden }
            }
            Question::Boot if is_boot(run) => self.of_case(run.outcome, &run.reason),
            Question::Boot => Says::Hidden,
            // A kernel that reports something while it boots may still be asked.
            _ if is_boot(run) && run.outcome == Outcome::Fail => Says::Other(run.reason.clone()),
            _ if is_boot(run) => Says::CannotTest(format!("it does not boot: {}", run.reason)),
            _ if run.end == Some(End::Exited(CANNOT_TEST)) => {
                Says::CannotTest("the program says so by exit status 125".to_string())
            }
            _ => self.of_case(run.outcome, &run.reason),
        }
    }

    fn of_case(&self, outcome: Outcome, reason: &str) -> Says {
        match outcome {
            Outcome::Pass => Says::Hidden,
            Outcome::Skip => Says::CannotTest(says_nothing(outcome, reason)),
            Outcome::Broken => Says::Other(says_nothing(outcome, reason)),
            Outcome::Fail | Outcome::Crash | Outcome::Hang => {
                let is_like = self.way.is_none_or(|way| *way == Way::of(outcome, reason));
                if is_like { Says::Shown } else { Says::Other(says_nothing(outcome, reason)) }
            }
        }
    }

    /// What went wrong with kiln or the host, if something did.
    pub(crate) fn broken(&self) -> Result<(), Error> {
        match &self.trouble {
            Some(why) => Err(Error::Broken(why.clone())),
            None => Ok(()),
        }
    }

    /// The answer, failures of another kind, the sessions, and the Run that stands for all.
    pub(crate) fn answer(self) -> (Answer, Vec<String>, Vec<String>, Option<Box<Run>>) {
        let answer = match self.untestable {
            Some(why) if self.shown + self.hidden == 0 => Answer::CannotTest(why),
            _ => Answer::Runs { shown: self.shown, hidden: self.hidden },
        };
        (answer, self.others, self.sessions, self.stands)
    }
}

/// What is wrong with kiln or the host.
fn trouble(run: &Run) -> Option<String> {
    let is_ours = matches!(run.blame, Some(Blame::Host | Blame::Kiln));
    is_ours.then(|| format!("{}: {}", run.case, run.reason))
}

/// The Run without most of what is long.
pub(crate) fn small(run: &Run) -> Run {
    let mut run = run.clone();
    let gone = run.log.len().saturating_sub(RECORDS_MAX);
    run.log.drain(..gone);
    let mut end = run.output.len().min(OUTPUT_MAX);
    while !run.output.is_char_boundary(end) {
        end -= 1;
    }
    run.output.truncate(end);
    run.repeats = Vec::<Repeat>::new();
    run
}
