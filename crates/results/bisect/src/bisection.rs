//! What is known in the end.

use serde::{Deserialize, Serialize};
use verdict::BootRuns;

use crate::candidate::{Candidate, Kind};
use crate::point::Point;
use crate::question::{Question, Threshold};

/// Characters of a line that says how something fails.
const HOW_MAX: usize = 200;

/// A bisection that came to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bisection {
    /// What was walked.
    pub kind: Kind,
    /// What was asked.
    pub question: Question,
    /// It was searched for the fix. Earlier versions called it `mended`.
    #[serde(alias = "mended")]
    pub fixed: bool,
    /// The end without the candidates.
    pub first: End,
    /// The end with all of them.
    pub last: End,
    /// From where on a metric counts as bad.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
    /// Names of all candidates.
    pub candidates: Vec<String>,
    /// The chance of each candidate to be the one.
    pub probabilities: Vec<f64>,
    /// All points that were tested, in the order of the axis.
    pub states: Vec<StateReport>,
    /// What it comes to.
    pub conclusion: Conclusion,
    /// What was done to be sure of it.
    pub proof: Vec<Check>,
    /// How many tests it took.
    pub steps: Steps,
    /// How often the failure shows where it is: its mean and 95 % interval, from 0 to 1.
    pub rate: Rate,
    /// Worth knowing.
    pub notes: Vec<String>,
    /// Commands that show both sides, ready to be pasted.
    pub reproduce: Vec<String>,
}

/// One end of the axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// What people call it.
    pub name: String,
    /// What it showed.
    pub state: StateReport,
}

/// What is known of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateReport {
    /// Where.
    pub point: Point,
    /// What is there, for people.
    pub name: String,
    /// Runs that showed the failure.
    #[serde(alias = "shown")]
    pub bad: u32,
    /// Runs that did not.
    #[serde(alias = "hidden")]
    pub good: u32,
    /// The same runs by boot; earlier versions did not say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boots: Vec<BootRuns>,
    /// Values of the metric, one for each boot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// Why it could not be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untestable: Option<String>,
    /// What shows it.
    pub evidence: Evidence,
}

/// What shows an answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// `uname -r`, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// Names of the sessions that the ledger has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<String>,
    /// Names of the folders of an experiment's runs, below `runs` in that of the bisection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// The command that does it once more, ready to be pasted.
    #[serde(default)]
    pub command: String,
    /// The Run that stands for those that were made: one that shows the failure, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<judge::Run>>,
    /// What a function of the kernel costs in a counted metric.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<measure::Function>,
    /// Lines of a compiler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// What all errors of a build say, without where: by these it is known again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

impl Evidence {
    /// How it fails, in a line.
    pub(crate) fn how(&self) -> Option<String> {
        let run = self.run.as_ref().filter(|run| run.outcome.is_failure()).map(|run| &run.reason);
        let how = run.or_else(|| self.lines.first()).filter(|line| !line.is_empty())?;
        Some(how.chars().take(HOW_MAX).collect())
    }

    /// Takes in what another test of the same state left; its Run and its lines stand for all if they are `better`.
    pub fn add(&mut self, other: Self, better: bool) {
        self.release = other.release.or_else(|| self.release.take());
        self.sessions.extend(other.sessions);
        self.runs.extend(other.runs);
        if better || self.run.is_none() {
            self.run = other.run.or_else(|| self.run.take());
            self.command = other.command;
        }
        if better || self.functions.is_empty() {
            self.functions = other.functions;
        }
        if better || self.lines.is_empty() {
            self.lines = other.lines;
        }
        if better || self.errors.is_empty() {
            self.errors = other.errors;
        }
    }
}

/// What a bisection comes to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// These did it: one, or several that only together make the difference.
    Culprits {
        /// By their numbers.
        numbers: Vec<usize>,
        /// All that is known of them.
        candidates: Vec<Candidate>,
        /// How sure that is, from 0 to 1.
        confidence: f64,
    },
    /// One of these did it, and they cannot be told apart: what lies between cannot be tested.
    Suspects {
        /// By their numbers.
        numbers: Vec<usize>,
        /// All that is known of them.
        candidates: Vec<Candidate>,
        /// How sure it is that it is among them, from 0 to 1.
        confidence: f64,
    },
    /// What was seen contradicts itself: no candidate explains it.
    Contradiction {
        /// Why.
        why: String,
    },
}

/// Something that was done to be sure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What was tested, in words: `just before it`, `with it`, `the bad end without it`.
    pub what: String,
    /// The same for programs; earlier versions did not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested: Option<Checked>,
    /// Whether the failure was expected there.
    pub expected: bool,
    /// What was seen; nothing if it could not be tried.
    pub state: Option<StateReport>,
    /// Why it could not be tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untried: Option<String>,
    /// Why the runs do not show what was expected, if they need words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objection: Option<String>,
    /// Whether it was as expected.
    pub holds: bool,
}

impl Check {
    /// Whether it was run and came out otherwise than expected.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.state.is_some() && self.untried.is_none() && !self.holds
    }
}

impl Bisection {
    /// Whether a check speaks against what was found.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.proof.iter().any(Check::fails)
    }
}

/// What a check tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Checked {
    /// The state just before the change.
    Before,
    /// The state with the change.
    With,
    /// The last end without the candidate of this number.
    LastWithout(usize),
    /// The first end with the culprits alone.
    Alone,
    /// The first end with the culprits, but for the one of this number.
    SetWithout(usize),
}

/// How many tests it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// States that were tested between the ends.
    pub taken: u32,
    /// How many times one waited for them: fewer, where some were tested side by side.
    #[serde(default)]
    pub rounds: u32,
    /// Runs of all kinds, ends and proof among them.
    pub runs: u32,
    /// Of these, runs that were made before: in earlier sessions, or by this search before it was stopped.
    pub reused: u32,
    /// States that plain halving is expected to test.
    pub expected: f64,
    /// States that plain halving tests at most.
    pub worst: u32,
}

/// How often the failure shows where it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The mean.
    pub mean: f64,
    /// Bounds of the 95 % interval.
    pub interval: (f64, f64),
    /// It showed each time.
    pub always: bool,
    /// The part of it that is decided at boot: the correlation of two runs of one boot, from 0 to 1; nothing where each
    /// run is a boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at_boot: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(session: &str, command: &str, line: &str) -> Evidence {
        let lines = if line.is_empty() { Vec::new() } else { vec![line.to_string()] };
        let (sessions, command) = (vec![session.to_string()], command.to_string());
        Evidence { sessions, command, lines, ..Evidence::default() }
    }

    #[test]
    fn all_sessions_are_kept_and_the_better_lines() {
        let mut all = Evidence::default();
        all.add(evidence("a", "kiln a", "x"), false);
        all.add(Evidence { release: Some("6.1".to_string()), ..evidence("b", "kiln b", "y") }, false);
        assert_eq!(
            (&all.sessions[..], &all.lines[..]),
            (&["a", "b"].map(String::from)[..], &["x".to_string()][..])
        );
        all.add(evidence("c", "kiln c", "z"), true);
        assert_eq!((all.sessions.len(), &all.command[..], &all.lines[0][..]), (3, "kiln c", "z"));
        assert_eq!(all.release.as_deref(), Some("6.1"));
    }

    #[test]
    fn documents_of_earlier_versions_are_read() {
        let end = r#"{"name":"a","state":{"point":"first","name":"a","shown":0,"hidden":1,"evidence":{}}}"#;
        let text = format!(
            r#"{{"kind":"packages","question":"boot","mended":true,"first":{end},"last":{end},"candidates":[],
            "probabilities":[],"states":[],"conclusion":{{"contradiction":{{"why":"none"}}}},"proof":[],
            "steps":{{"taken":0,"runs":1,"reused":0,"expected":0.0,"worst":0}},
            "rate":{{"mean":0.0,"interval":[0.0,1.0],"always":false}},"notes":[],"reproduce":[]}}"#
        );
        let bisection: Bisection = serde_json::from_str(&text).unwrap();
        assert!(bisection.fixed);
        assert_eq!((bisection.first.state.bad, bisection.first.state.good), (0, 1));
    }
}
