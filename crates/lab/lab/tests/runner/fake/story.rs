//! What happened in a session, and what must hold in each.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use judge::{Blame, Outcome, Run, Summary};
use lab::{Event, Isolation, Listener};
use machine::Error;

use super::machine::Seen;

/// What happened.
#[derive(Debug)]
pub(crate) struct Story {
    pub(crate) events: Vec<Event>,
    pub(crate) result: Result<Summary, Error>,
    pub(crate) seen: Seen,
}

/// Writes down what it hears.
pub(crate) struct Recorder<'a> {
    pub(crate) events: Vec<Event>,
    /// The user stops kiln when this case starts.
    pub(crate) interrupt_at: Option<&'static str>,
    pub(crate) interrupt: &'a AtomicBool,
}

impl Listener for Recorder<'_> {
    fn on_event(&mut self, event: &Event) {
        if let (Event::Started { case, .. }, Some(name)) = (event, self.interrupt_at)
            && case == name
        {
            self.interrupt.store(true, Ordering::Relaxed);
        }
        self.events.push(event.clone());
    }
}

impl Story {
    /// The Runs that stand for their cases, in the order in which they ended.
    pub(crate) fn runs(&self) -> Vec<&Run> {
        let events = self.events.iter();
        events
            .filter_map(|event| if let Event::Finished(run) = event { Some(&**run) } else { None })
            .collect()
    }

    /// The Runs that were told as one of several.
    pub(crate) fn repeated(&self) -> Vec<&Run> {
        let events = self.events.iter();
        events
            .filter_map(|event| if let Event::Repeated(run) = event { Some(&**run) } else { None })
            .collect()
    }

    /// Cases in the order in which their Runs began, each with its clone.
    pub(crate) fn started(&self) -> Vec<(&str, u32)> {
        let events = self.events.iter();
        let started = events.filter_map(|event| match event {
            Event::Started { case, clone } => Some((case.as_str(), *clone)),
            _ => None,
        });
        started.collect()
    }

    pub(crate) fn notes(&self) -> Vec<&str> {
        let events = self.events.iter();
        events
            .filter_map(|event| if let Event::Note { text } = event { Some(text.as_str()) } else { None })
            .collect()
    }

    pub(crate) fn run(&self, case: &str) -> &Run {
        self.runs().into_iter().find(|run| run.case == case).expect("the case was run")
    }

    /// Case, Outcome, blame and boot of every Run.
    pub(crate) fn outcomes(&self) -> Vec<(&str, Outcome, Option<Blame>, u32)> {
        self.runs().iter().map(|run| (run.case.as_str(), run.outcome, run.blame, run.boot)).collect()
    }

    /// The same in the order of the cases' names, for sessions that work side by side.
    pub(crate) fn sorted(&self) -> Vec<(&str, Outcome, Option<Blame>)> {
        let mut all: Vec<_> =
            self.outcomes().into_iter().map(|(case, outcome, blame, _)| (case, outcome, blame)).collect();
        all.sort_by_key(|&(case, ..)| case);
        all
    }

    pub(crate) fn summary(&self) -> Summary {
        *self.result.as_ref().expect("the host could start machines")
    }

    pub(crate) fn exit_code(&self) -> u8 {
        self.summary().exit_code()
    }

    /// What must hold in every session of the Runner; `earlier` cases are those of an earlier one.
    pub(crate) fn check(&self, cases: &[String], isolation: Isolation, earlier: &[String]) {
        let done = self.runs().iter().filter(|run| run.case != "boot").count();
        self.check_frame(u32::try_from(cases.len() - done).expect("few"));
        match isolation {
            Isolation::Suite => self.check_suite(cases, earlier),
            Isolation::Case => self.check_clones(cases),
        }
    }

    /// What must hold in every boot of a kernel with tests of its own.
    pub(crate) fn check_kunit(&self, cases: &[String]) {
        let Some(Event::Ended { summary, .. }) = self.events.last() else { panic!("{:?}", self.events) };
        self.check_frame(summary.not_run);
        self.check_suite(cases, &[]);
    }

    /// It begins and ends once, the counts are right, and no machine is left.
    fn check_frame(&self, not_run: u32) {
        assert!(matches!(self.events.first(), Some(Event::Planned(_))), "{:?}", self.events);
        let Some(Event::Ended { summary, .. }) = self.events.last() else {
            panic!("the last event is not the end: {:?}", self.events)
        };
        let ends = |event: &&Event| matches!(event, Event::Planned(_) | Event::Ended { .. });
        assert_eq!(self.events.iter().filter(ends).count(), 2);
        let mut counted = Summary::default();
        self.runs().iter().for_each(|run| counted.count(run.outcome));
        assert_eq!(*summary, Summary { not_run, ..counted });
        assert_eq!(self.seen.alive, 0, "machines outlive the session");
    }

    /// One case after the other, in the order of the plan.
    fn check_suite(&self, cases: &[String], earlier: &[String]) {
        let mut started: Option<&str> = None;
        for event in &self.events {
            match event {
                Event::Started { case, clone } => {
                    assert_eq!(*clone, 0);
                    started = Some(case);
                }
                Event::Finished(run) if !earlier.contains(&run.case) => {
                    let expected = (run.boot > 0 && run.case != "boot").then_some(run.case.as_str());
                    assert_eq!(started.take(), expected, "{run:?}");
                }
                _ => {}
            }
        }
        let names = self.runs().into_iter().map(|run| &run.case);
        let mut names: Vec<&String> =
            names.filter(|&name| name != "boot" && !earlier.contains(name)).collect();
        let planned = cases.iter().filter(|case| !earlier.contains(case));
        let planned: Vec<&String> = planned.take(names.len()).collect();
        assert_eq!(names, planned);
        names.dedup();
        assert_eq!(names.len(), planned.len());
    }

    /// Whatever happens side by side: each Run has a clone of its own and begins before it ends, all Runs of a
    /// case come before its end, and each case ends once.
    fn check_clones(&self, cases: &[String]) {
        let (mut clones, mut started, mut ended) = (HashSet::new(), HashSet::new(), HashSet::new());
        for event in &self.events {
            match event {
                Event::Started { case, clone } => {
                    assert!(*clone == 0 || clones.insert(*clone), "clone {clone} runs two cases");
                    assert!(!ended.contains(case) || *clone > 0, "{case} goes on after its end");
                    started.insert((case, *clone));
                }
                Event::Repeated(run) => {
                    assert!(!ended.contains(&run.case), "{} is repeated after its end", run.case);
                    assert!(run.clone == 0 || started.contains(&(&run.case, run.clone)), "{run:?}");
                }
                Event::Finished(run) if run.case != "boot" => {
                    assert!(cases.contains(&run.case), "{run:?}");
                    assert!(ended.insert(&run.case), "{} ends twice", run.case);
                    self.check_repeats(run);
                }
                _ => {}
            }
        }
    }

    /// What a Run says of the others is what was told of them, and it is one of them.
    fn check_repeats(&self, run: &Run) {
        if run.repeats.is_empty() {
            return;
        }
        let reported: Vec<_> = self.repeated().into_iter().filter(|other| other.case == run.case).collect();
        let reported: Vec<_> =
            reported.iter().map(|run| (run.outcome, &run.reason, run.clone, run.seed)).collect();
        let kept: Vec<_> = run.repeats.iter().map(|of| (of.outcome, &of.reason, of.clone, of.seed)).collect();
        assert!(reported.ends_with(&kept) || kept == reported, "{kept:?}\n{reported:?}");
        assert!(kept.iter().any(|of| of.2 == run.clone), "{run:?}");
    }
}
