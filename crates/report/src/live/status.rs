//! What the status line says.

use std::time::{Duration, Instant};

use anstyle::Style;
use lab::{Event, Run, Summary};

use crate::progress::Progress;
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, of};
use crate::words::{clock, tally};

/// State of a session as far as it is shown.
#[derive(Debug)]
pub(super) struct Status {
    start: Instant,
    progress: Progress,
    summary: Summary,
    phase: Phase,
    /// When the phase began.
    since: Instant,
    /// The last line of the console in this phase.
    console: String,
}

#[derive(Debug, PartialEq)]
enum Phase {
    /// Something that has no name in the events.
    Between,
    Boot(u32),
    Case(String),
}

impl Status {
    pub(super) fn new(now: Instant) -> Self {
        let (phase, console) = (Phase::Between, String::new());
        Self {
            start: now,
            progress: Progress::default(),
            summary: Summary::default(),
            phase,
            since: now,
            console,
        }
    }

    pub(super) fn hear(&mut self, event: &Event, now: Instant) {
        match event {
            Event::Planned(session) => self.progress.plan(session),
            Event::Booting { boot, .. } => self.enter(Phase::Boot(*boot), now),
            Event::Started { case, .. } => self.enter(Phase::Case(safe_line(case)), now),
            Event::Booted { .. } => self.enter(Phase::Between, now),
            Event::Console { line, .. } => {
                let line = safe_line(line);
                if !line.is_empty() {
                    self.console = line;
                }
            }
            _ => {}
        }
    }

    pub(super) fn finished(&mut self, run: &Run, now: Instant) {
        self.progress.finish(run);
        self.summary.count(run.outcome);
        self.enter(Phase::Between, now);
    }

    fn enter(&mut self, phase: Phase, now: Instant) {
        self.phase = phase;
        self.since = now;
        self.console.clear();
    }

    /// What matters most comes first, for terminals that are narrow.
    pub(super) fn pieces(&self, now: Instant) -> Vec<(Style, String)> {
        let mut pieces = vec![(BOLD, format!("{}/{}", self.progress.done, self.progress.total))];
        for (outcome, text) in tally(self.summary) {
            pieces.push((Style::new(), "  ".to_string()));
            pieces.push((outcome.map_or(Style::new(), of), text));
        }
        pieces.push((DIM, format!("  {}", clock(now - self.start))));
        let phase = match &self.phase {
            Phase::Between => String::new(),
            Phase::Boot(boot) => format!("  boot {boot}{}", long(now - self.since)),
            Phase::Case(case) => format!("  {case}{}", long(now - self.since)),
        };
        pieces.push((Style::new(), phase));
        if matches!(self.phase, Phase::Boot(_)) && !self.console.is_empty() {
            pieces.push((DIM, format!("  {}", self.console)));
        }
        pieces
    }
}

/// How long something takes, once that is worth telling: a number that flashes by is only noise.
fn long(duration: Duration) -> String {
    match duration.as_secs() {
        0 => String::new(),
        seconds => format!(" {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(status: &Status, now: Instant) -> String {
        status.pieces(now).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_boot_shows_its_time_and_the_last_kernel_message() {
        let start = Instant::now();
        let mut status = Status::new(start);
        status.hear(&Event::Booting { boot: 1, cases: 3 }, start + Duration::from_secs(60));
        status.hear(&Event::Console { boot: 1, clone: 0, line: "[ 0.1] Linux\x1b[2J".into() }, start);
        status.hear(&Event::Console { boot: 1, clone: 0, line: String::new() }, start);
        assert_eq!(text(&status, start + Duration::from_secs(64)), "0/0  1:04  boot 1 4 s  [ 0.1] Linux");
    }

    #[test]
    fn a_case_shows_no_console() {
        let start = Instant::now();
        let mut status = Status::new(start);
        status.hear(&Event::Started { case: "pipe/full".into(), clone: 0 }, start);
        status.hear(&Event::Console { boot: 1, clone: 0, line: "x".into() }, start);
        assert_eq!(text(&status, start), "0/0  0:00  pipe/full");
    }
}
