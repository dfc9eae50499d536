//! What is told while machines work.

use std::time::Duration;

use crate::event::{Event, Listener};
use judge::run::{Run, Summary};

/// What whoever works with a machine has to say.
#[derive(Debug)]
pub(super) enum News {
    /// Something happened.
    Event(Event),
    /// The Run of a boot, which belongs to no case.
    Boot(Box<Run>),
}

/// Tells the listener, and counts.
pub(super) struct Emitter<'a> {
    listener: &'a mut dyn Listener,
    summary: Summary,
    /// Cases that came to an end.
    done: u32,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(listener: &'a mut dyn Listener) -> Self {
        Self { listener, summary: Summary::default(), done: 0 }
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
        }
    }

    /// A case has come to its end.
    pub(super) fn finish(&mut self, run: Run) {
        self.done += 1;
        self.count(run);
    }

    fn count(&mut self, run: Run) {
        self.summary.count(run.outcome);
        self.on_event(&Event::Finished(Box::new(run)));
    }

    /// Tells the end of a session of `total` cases.
    pub(super) fn end(mut self, total: usize, took: Duration, interrupted: bool) -> Summary {
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        self.summary.not_run = total.saturating_sub(self.done);
        let summary = self.summary;
        self.on_event(&Event::Ended { summary, took, interrupted });
        summary
    }
}
