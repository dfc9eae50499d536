//! KTAP version 1 (Documentation/dev-tools/ktap.rst of the kernel).
//!
//! Two levels: each area of cases is a test whose sub-tests are its cases; a program, whose name has no
//! area, is a test of the first level. An area is printed when its last case has finished.
//!
//! A Run that the machine, the host or kiln broke says nothing about the kernel: it has a diagnostic and
//! no result, so that the plan is larger than the results, and its area is `not ok # ERROR`. An area
//! with no result at all is not printed. A case that was run more than once has one result, and says in a
//! diagnostic what its repeats say; one that failed now and then is `not ok`. `Bail out!` ends a session that was interrupted or whose
//! machine did not boot.

mod plan;
mod result;

use std::io::{self, Write};

use judge::Run;
use lab::event::Session;
use lab::{Event, Listener};

use crate::safe::safe_line;
use crate::sink::Sink;
use crate::words::{kernel, span};
use plan::{Plan, Test};
use result::{Slot, diagnostics, directive_text, slot};

/// Writes KTAP.
#[derive(Debug)]
pub struct Ktap<W> {
    sink: Sink<W>,
    plan: Option<Plan>,
    /// Results of the first level so far.
    results: usize,
    bail: Option<String>,
}

impl<W: Write> Ktap<W> {
    /// A report that writes to `out`.
    pub fn new(out: W) -> Self {
        Self { sink: Sink::new(out), plan: None, results: 0, bail: None }
    }

    /// Ends the report and gives the first error in writing.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.sink.finish()
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.sink.write(&format!("{}{}\n", "  ".repeat(depth), text.trim_end()));
    }

    fn head(&mut self, depth: usize, tests: usize) {
        self.line(depth, "KTAP version 1");
        self.line(depth, &format!("1..{tests}"));
    }

    fn planned(&mut self, session: &Session) {
        let plan = Plan::new(&session.cases);
        self.head(0, plan.tests.len());
        self.line(0, &format!("# kernel: {}", kernel(session)));
        self.line(0, &format!("# identity: {}", safe_line(&session.identity)));
        self.line(0, &format!("# machine: {}", safe_line(&session.machine)));
        self.plan = Some(plan);
    }

    fn finished(&mut self, run: &Run) {
        let place = self.plan.as_mut().and_then(|plan| plan.place(&run.case));
        let (Some((test, case)), Some(plan)) = (place, self.plan.as_mut()) else {
            return self.unplanned(run);
        };
        let test = &mut plan.tests[test];
        test.slots[case] = slot(run);
        if test.is_complete() {
            let test = test.take();
            self.print(&test);
        }
    }

    /// A machine that did not boot: no result of a test, but the reason why there are no more.
    fn unplanned(&mut self, run: &Run) {
        for line in diagnostics(run) {
            self.line(0, &line);
        }
        if !run.outcome.is_well() {
            let why = directive_text(&run.reason);
            self.bail.get_or_insert(format!("{}: {}: {why}", directive_text(&run.case), run.outcome.name()));
        }
    }

    fn print(&mut self, test: &Test) {
        if !test.slots.iter().any(|slot| matches!(slot, Slot::Done(_))) {
            test.slots.iter().flat_map(Slot::silence).for_each(|line| self.line(0, line));
        } else if test.is_area {
            self.print_area(test);
        } else {
            let mut results = self.results;
            test.slots
                .iter()
                .zip(&test.names)
                .for_each(|(slot, name)| self.print_slot(0, slot, name, &mut results));
            self.results = results;
        }
    }

    fn print_area(&mut self, test: &Test) {
        self.head(1, test.slots.len());
        let mut results = 0;
        for (slot, name) in test.slots.iter().zip(&test.names) {
            self.print_slot(1, slot, name, &mut results);
        }
        self.results += 1;
        let (ok, directive) = test.verdict();
        self.line(0, &result::line(ok, self.results, &test.name, &directive));
    }

    /// Numbers count what is printed: a parser wants them without gaps.
    fn print_slot(&mut self, depth: usize, slot: &Slot, name: &str, results: &mut usize) {
        slot.silence().iter().for_each(|line| self.line(depth, line));
        if let Slot::Done(done) = slot {
            *results += 1;
            done.diagnostics.iter().for_each(|line| self.line(depth, line));
            self.line(depth, &result::line(done.ok, *results, name, &done.directive));
        }
    }

    fn ended(&mut self, interrupted: bool) {
        let Some(mut plan) = self.plan.take() else {
            self.head(0, 0);
            return self.bail_out(interrupted);
        };
        for test in plan.tests.iter_mut().filter(|test| !test.slots.is_empty()) {
            let test = test.take();
            self.print(&test);
        }
        self.bail_out(interrupted);
    }

    fn bail_out(&mut self, interrupted: bool) {
        let interrupted = interrupted.then(|| "interrupted".to_string());
        if let Some(why) = self.bail.take().or(interrupted) {
            self.line(0, &format!("Bail out! {why}"));
        }
    }
}

impl<W: Write> Listener for Ktap<W> {
    fn on_event(&mut self, event: &Event) {
        match event {
            Event::Planned(session) => self.planned(session),
            Event::Note { text } => self.line(0, &format!("# note: {}", safe_line(text))),
            Event::Booted { boot, release, took, .. } => {
                self.line(0, &format!("# boot {boot}: {} after {}", safe_line(release), span(*took)));
            }
            Event::Finished(run) => self.finished(run),
            Event::Ended { interrupted, .. } => self.ended(*interrupted),
            _ => return,
        }
        self.sink.flush();
    }
}
