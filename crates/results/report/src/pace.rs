//! How far a session is that another kiln runs, by what it has reported.

use std::time::Duration;

use judge::Summary;
use lab::Event;

use crate::progress::Progress;

/// What is known of a session from its events, the first of which is its plan.
#[derive(Debug, Default)]
pub struct Pace {
    progress: Progress,
    summary: Summary,
    /// Cases that have started and not finished, each once.
    running: Vec<String>,
}

impl Pace {
    /// Takes notice of an event. A session that goes on from an earlier one begins with its plan again.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            Event::Planned(session) => {
                *self = Self::default();
                self.progress.plan(session);
            }
            Event::Started { case, .. } if !self.running.contains(case) => self.running.push(case.clone()),
            Event::Repeated(run) => drop(self.progress.repeat(run)),
            Event::Finished(run) => {
                self.progress.finish(run);
                self.summary.count(run.outcome);
                self.running.retain(|case| *case != run.case);
            }
            _ => {}
        }
    }

    /// Cases that have finished, and how many there are.
    #[must_use]
    pub fn done(&self) -> (usize, usize) {
        (self.progress.done, self.progress.total)
    }

    /// How those ended.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Cases that run.
    #[must_use]
    pub fn running(&self) -> &[String] {
        &self.running
    }

    /// What is left once the session has run for so long; nothing where it is short or not known.
    #[must_use]
    pub fn left(&self, elapsed: Duration) -> Option<Duration> {
        self.progress.estimate.left(elapsed, &[])
    }
}

#[cfg(test)]
mod tests {
    use judge::{Outcome, Run};
    use lab::event::Session;

    use super::*;

    fn planned() -> Event {
        let document = r#"{"started": "2026-11-20T10:00:00Z", "kiln": "0.1.0", "locator": "a", "provenance": "", "identity": "x", "machine": "QEMU",
            "suite": "smoke", "cases": ["a", "b", "c"], "jobs": 1}"#;
        let session: Session = serde_json::from_str(document).expect("a session");
        Event::Planned(Box::new(session))
    }

    fn finished(case: &str, outcome: Outcome) -> Event {
        let duration = Duration::from_secs(60);
        Event::Finished(Box::new(Run { case: case.into(), outcome, duration, boot: 1, ..Run::unstarted() }))
    }

    #[test]
    fn what_was_reported_says_how_far_a_session_is() {
        let mut pace = Pace::default();
        let started = |case: &str| Event::Started { case: case.into(), clone: 1 };
        let events = [planned(), started("a"), started("b"), started("b"), finished("a", Outcome::Fail)];
        events.iter().for_each(|event| pace.on_event(event));
        assert_eq!((pace.done(), pace.running()), ((1, 3), &["b".to_owned()][..]));
        assert_eq!(
            (pace.summary().fail, pace.left(Duration::from_secs(60))),
            (1, Some(Duration::from_secs(120)))
        );
        pace.on_event(&planned());
        assert_eq!((pace.done(), pace.running().len()), ((0, 3), 0), "it was begun again");
    }
}
