//! What came of a run of an experiment.

use std::collections::BTreeMap;

use judge::Run;
use lab::experiment::{Carried, PreparedExperiment};
use lab::request::ExperimentRequest;
use script::Figure;
use serde::{Deserialize, Serialize};

/// The result of a run, in its folder.
pub(crate) const RESULT: &str = "result.json";

/// The journal of the steps of a run, in its folder.
pub(crate) const SCRIPT_JOURNAL: &str = "journal.jsonl";

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// The experiment.
    pub name: String,
    /// When it ended.
    pub ended: jiff::Timestamp,
    /// What was asked.
    pub request: ExperimentRequest,
    /// The Kernels, by locators by which the very same are found later.
    pub kernels: Vec<String>,
    /// What came of it.
    pub run: Run,
    /// Values of metrics, in the order in which the script records them.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// The identities of the roots that its machines had, by their locators.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roots: BTreeMap<String, String>,
}

impl ExperimentResult {
    /// What came of a run that ends now.
    #[must_use]
    pub fn new(prepared: &PreparedExperiment, carried: Carried) -> Self {
        let Carried { run, figures, roots, .. } = carried;
        Self {
            name: prepared.name(),
            ended: jiff::Timestamp::now(),
            request: prepared.request().clone(),
            kernels: prepared.locators(),
            run,
            figures,
            roots,
        }
    }

    /// A line for each root of a later run of the same that is another one by now.
    #[must_use]
    pub fn other_roots(&self, now: &Self) -> Vec<String> {
        let is_other = |(locator, identity): &(&String, &String)| {
            self.roots.get(*locator).is_some_and(|before| before != *identity)
        };
        let others = now.roots.iter().filter(is_other);
        others.map(|(locator, _)| format!("the root {locator} is another one than then")).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use judge::Outcome;
    use lab::event::Session;
    use lab::experiment::catalogue::case_of;
    use lab::request::{MachineRequest, Version};
    use lab::{Event, Request};

    fn request() -> ExperimentRequest {
        ExperimentRequest {
            version: Version,
            folder: "experiments/dock".into(),
            kernels: Vec::new(),
            seed: 1,
            mode: script::Mode::Full,
            machine: MachineRequest::default(),
            no_clones: false,
        }
    }

    pub(crate) fn result(outcome: Outcome) -> ExperimentResult {
        ExperimentResult {
            name: "dock".to_string(),
            ended: jiff::Timestamp::UNIX_EPOCH,
            request: request(),
            kernels: vec!["deb:x".to_string()],
            run: Run { case: case_of("dock"), outcome, ..Run::unstarted() },
            figures: vec![Figure { name: "left".to_string(), value: 2.5 }],
            roots: [("debian:fio".to_string(), "1".to_string())].into(),
        }
    }

    /// A session of the experiment that has this identity.
    pub(crate) fn session(identity: &str) -> Session {
        Session {
            request: Some(Request::Experiment(Box::new(request()))),
            identity: identity.to_string(),
            cases: vec![case_of("dock")],
            ..crate::past::tests::session("deb:x")
        }
    }

    /// The end of its Run.
    pub(crate) fn finished(outcome: Outcome) -> Event {
        Event::Finished(Box::new(result(outcome).run))
    }

    #[test]
    fn roots_that_have_changed_are_named() {
        let (before, mut now) = (result(Outcome::Pass), result(Outcome::Pass));
        assert_eq!(before.other_roots(&now), [""; 0]);
        now.roots.insert("debian:fio".to_string(), "2".to_string());
        now.roots.insert("./new".to_string(), "3".to_string());
        assert_eq!(before.other_roots(&now), ["the root debian:fio is another one than then"]);
    }
}
