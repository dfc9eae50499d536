//! From Runs to an answer.

use std::collections::HashSet;

use judge::run::Repeat;
use judge::signature::Way;
use judge::{Blame, Outcome, Run};
use protocol::{End, KernelRecord};

use super::boot_log::{BootLog, FOUND_MAX};
use crate::answer::Answer;
use crate::bisection::Evidence;
use crate::error::Error;
use crate::question::Question;

/// A program's word for "cannot be tested", as git bisect's.
const CANNOT_TEST: i32 = 125;

/// Records of the kernel log and bytes of output that are kept of a Run here; the ledger has all of it.
const RECORDS_MAX: usize = 400;
const OUTPUT_MAX: usize = 16 << 10;

/// Counts Runs.
pub(crate) struct Tally<'a> {
    question: &'a Question,
    way: Option<&'a Way>,
    bad: u32,
    good: u32,
    pub(crate) reused: u32,
    others: Vec<String>,
    untestable: Option<String>,
    trouble: Option<String>,
    boot: BootLog,
    stands: Option<Box<Run>>,
    /// Lines that show the text that is looked for.
    lines: Vec<String>,
    pub(crate) sessions: Vec<String>,
}

/// What a Run says.
enum Says {
    Bad,
    Good,
    Other(String),
    CannotTest(String),
    Trouble(String),
}

impl<'a> Tally<'a> {
    pub(crate) fn new(question: &'a Question, way: Option<&'a Way>) -> Self {
        Self {
            question,
            way,
            bad: 0,
            good: 0,
            reused: 0,
            others: Vec::new(),
            untestable: None,
            trouble: None,
            boot: BootLog::default(),
            stands: None,
            lines: Vec::new(),
            sessions: Vec::new(),
        }
    }

    /// Runs that say something, or could have.
    pub(crate) fn runs(&self) -> u32 {
        let others = u32::try_from(self.others.len()).unwrap_or(u32::MAX);
        self.bad.saturating_add(self.good).saturating_add(others)
    }

    /// Whether more Runs would say nothing more.
    pub(crate) fn is_over(&self) -> bool {
        self.untestable.is_some() || self.trouble.is_some()
    }

    /// A line of the console.
    pub(crate) fn line(&mut self, line: &str) {
        match self.question {
            Question::Log(text) => self.boot.line(line, Some(text)),
            Question::Boot => self.boot.line(line, None),
            _ => {}
        }
    }

    /// A Run has been judged.
    pub(crate) fn take(&mut self, run: Run) {
        let (console, mut found) = self.boot.take();
        if let (Question::Log(text), true) = (self.question, found.is_empty()) {
            found.extend(lines_with(text, &run).take(FOUND_MAX));
        }
        let says = self.says(&run, &found);
        self.count(says, Run { log: joined(console, run.log), ..run }, found);
    }

    /// A Run of an earlier session, with all Runs that it stands for.
    pub(crate) fn take_earlier(&mut self, session: &str, run: &Run) {
        let before = self.runs();
        let all = match run.repeats.is_empty() {
            true => vec![self.says(run, &[])],
            false => run.repeats.iter().map(|repeat| self.of_case(repeat.outcome, &repeat.reason)).collect(),
        };
        // Of what is broken or has to be skipped one learns nothing; the next session may do better.
        for says in all {
            if matches!(says, Says::Bad | Says::Good) {
                self.count(says, small(run), Vec::new());
            }
        }
        if self.runs() > before {
            self.reused += self.runs() - before;
            self.sessions.push(session.to_string());
        }
    }

    /// A Run of a session that was made elsewhere, with all Runs that it stands for.
    pub(crate) fn take_kept(&mut self, run: &Run) {
        let each = |repeat: &Repeat| {
            let stands = repeat.outcome == run.outcome && repeat.reason == run.reason;
            let end = if stands { run.end.clone() } else { None };
            Run { outcome: repeat.outcome, reason: repeat.reason.clone(), end, ..small(run) }
        };
        match run.repeats.is_empty() {
            true => self.take(small(run)),
            false => run.repeats.iter().for_each(|repeat| self.take(each(repeat))),
        }
    }

    fn count(&mut self, says: Says, run: Run, lines: Vec<String>) {
        let was_bad = self.bad > 0;
        match says {
            Says::Bad => self.bad += 1,
            Says::Good => self.good += 1,
            Says::Other(how) => self.others.push(how),
            Says::CannotTest(why) => self.untestable = Some(why),
            Says::Trouble(why) => self.trouble = Some(why),
        }
        if self.stands.is_none() || (self.bad > 0 && !was_bad) {
            self.stands = Some(Box::new(run));
            self.lines = lines;
        }
    }

    /// What a Run says, in which the text that is looked for was `found`.
    fn says(&self, run: &Run, found: &[String]) -> Says {
        if let Some(why) = trouble(run) {
            return Says::Trouble(why);
        }
        match self.question {
            Question::Log(_) if found.is_empty() => Says::Good,
            Question::Log(_) => Says::Bad,
            Question::Boot if run.is_boot => self.of_case(run.outcome, &run.reason),
            Question::Boot => Says::Good,
            // A kernel that reports something while it boots may still be asked.
            _ if run.is_boot && run.outcome == Outcome::Fail => Says::Other(run.reason.clone()),
            _ if run.is_boot => Says::CannotTest(format!("it does not boot: {}", run.reason)),
            _ if run.end == Some(End::Exited(CANNOT_TEST)) => {
                Says::CannotTest("the program says so by exit status 125".to_string())
            }
            _ => self.of_case(run.outcome, &run.reason),
        }
    }

    fn of_case(&self, outcome: Outcome, reason: &str) -> Says {
        match outcome {
            Outcome::Pass => Says::Good,
            Outcome::Skip => Says::CannotTest(format!("it is skipped: {reason}")),
            Outcome::Broken => Says::Other(says_nothing(outcome, reason)),
            Outcome::Fail | Outcome::Crash | Outcome::Hang => {
                let is_like = self.way.is_none_or(|way| *way == Way::of(outcome, reason));
                if is_like { Says::Bad } else { Says::Other(says_nothing(outcome, reason)) }
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

    /// The answer, failures of another kind, and what shows it.
    pub(crate) fn answer(self) -> (Answer, Vec<String>, Evidence) {
        let answer = match self.untestable {
            Some(why) if self.bad + self.good == 0 => Answer::CannotTest(why),
            _ => Answer::Runs { bad: self.bad, good: self.good },
        };
        let Self { others, sessions, stands: run, lines, .. } = self;
        (answer, others, Evidence { sessions, run, lines, ..Evidence::default() })
    }
}

/// Lines of the log and the output with this text.
fn lines_with<'r>(text: &'r str, run: &'r Run) -> impl Iterator<Item = String> + 'r {
    let log = run.log.iter().map(|record| record.text.as_str());
    log.chain(run.output.lines()).filter(move |line| line.contains(text)).map(str::to_string)
}

/// What the console said, and records that it was too quiet for.
fn joined(console: Vec<KernelRecord>, log: Vec<KernelRecord>) -> Vec<KernelRecord> {
    let known: HashSet<String> = console.iter().map(|record| record.text.clone()).collect();
    let unheard = log.into_iter().filter(|record| !known.contains(&record.text));
    console.into_iter().chain(unheard).collect()
}

/// What is wrong with a Run that answers nothing.
fn says_nothing(outcome: Outcome, reason: &str) -> String {
    format!("{}: {reason}", outcome.name())
}

/// What is wrong with kiln or the host.
pub(crate) fn trouble(run: &Run) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_of_a_job_counts() {
        let question = Question::Program("a".to_owned());
        let repeat = |outcome, reason: &str| {
            judge::repeats::repeat(&Run { outcome, reason: reason.to_owned(), ..Run::unstarted() })
        };
        let mut tally = Tally::new(&question, None);
        let repeats = vec![
            repeat(Outcome::Fail, "exit 1"),
            repeat(Outcome::Pass, ""),
            repeat(Outcome::Crash, "BUG"),
            repeat(Outcome::Broken, "no space"),
        ];
        let (outcome, reason) = (Outcome::Fail, "exit 1".to_owned());
        tally.take_kept(&Run { outcome, reason, repeats, ..Run::unstarted() });
        assert_eq!(tally.runs(), 4);
        let (answer, others, evidence) = tally.answer();
        assert_eq!(answer, Answer::Runs { bad: 2, good: 1 });
        assert_eq!(others, ["broken: no space"]);
        assert_eq!(evidence.run.map(|run| (run.outcome, run.repeats.len())), Some((Outcome::Fail, 0)));
    }

    #[test]
    fn a_program_that_cannot_be_tested_says_so_in_a_job_too() {
        let question = Question::Program("a".to_owned());
        let mut tally = Tally::new(&question, None);
        let run = Run {
            outcome: Outcome::Fail,
            reason: "exit 125".to_owned(),
            end: Some(End::Exited(CANNOT_TEST)),
            ..Run::unstarted()
        };
        let repeats = vec![judge::repeats::repeat(&run); 2];
        tally.take_kept(&Run { repeats, ..run });
        assert!(tally.is_over());
        assert!(matches!(tally.answer().0, Answer::CannotTest(_)));
    }
}
