//! What is told while machines work.

use std::time::Duration;

use crate::event::{Event, Listener};
use judge::run::{Run, Summary};
use judge::{Accused, Exit};
use protocol::End;

/// What whoever works with a machine has to say.
#[derive(Debug)]
pub(super) enum News {
    /// Something happened.
    Event(Event),
    /// The Run of a boot, which belongs to no case.
    Boot(Box<Run>),
    /// A case has ended, and its kernel goes on with what it has put off.
    Settling,
}

/// Tells the listener, and counts.
pub(super) struct Emitter<'a> {
    listener: &'a mut dyn Listener,
    summary: Summary,
    /// Cases that came to an end.
    done: u32,
    /// How the process of the last one ended, and whom it accuses.
    last: (Option<End>, Option<Accused>),
}

impl<'a> Emitter<'a> {
    pub(super) fn new(listener: &'a mut dyn Listener) -> Self {
        Self { listener, summary: Summary::default(), done: 0, last: (None, None) }
    }

    pub(super) fn on_event(&mut self, event: &Event) {
        self.listener.on_event(event);
    }

    pub(super) fn note(&mut self, text: String) {
        self.on_event(&Event::Note { text });
    }

    pub(super) fn emit(&mut self, news: News) {
        match news {
            News::Event(event) => self.on_event(&event),
            News::Boot(run) => self.count(*run),
            News::Settling => {}
        }
    }

    /// A case has come to its end.
    pub(super) fn finish(&mut self, run: Run) {
        self.done += 1;
        self.last = (run.end.clone(), run.accused);
        self.count(run);
    }

    fn count(&mut self, run: Run) {
        self.summary.count(run.outcome);
        self.on_event(&Event::Finished(Box::new(run)));
    }

    /// Tells the end of a session of `total` cases, or of just the user's own program.
    pub(super) fn end(mut self, total: usize, took: Duration, interrupted: bool, is_users: bool) -> Summary {
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        self.summary.not_run = total.saturating_sub(self.done);
        let summary = self.summary;
        let exit = match is_users {
            true => Exit::of_program(summary, interrupted, (self.last.0.as_ref(), self.last.1)),
            false => Exit::of_session(summary, interrupted),
        };
        self.on_event(&Event::Ended { summary, took, interrupted, exit: Some(exit) });
        summary
    }
}
