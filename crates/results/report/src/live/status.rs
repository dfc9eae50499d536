//! What the status line says.

use std::time::{Duration, Instant};

use anstyle::Style;
use judge::{Run, Summary};
use lab::Event;
use lab::event::Session;

use super::{Line, Lines};
use crate::progress::{Progress, Repeats};
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, of};
use crate::words::{clock, tally};

/// State of a session as far as it is shown.
#[derive(Debug)]
pub(super) struct Status {
    start: Instant,
    progress: Progress,
    summary: Summary,
    boot: Option<Boot>,
    /// Cases that have started and not finished. One that is run again keeps its place, so that the line stands still.
    running: Vec<Running>,
}

/// A machine that comes up.
#[derive(Debug)]
struct Boot {
    number: u32,
    since: Instant,
    /// The last line of its console.
    console: String,
}

/// A case with those of its Runs that are at work, the oldest first.
#[derive(Debug)]
struct Running {
    case: String,
    runs: Vec<(u32, Instant)>,
}

impl Status {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            start: now,
            progress: Progress::default(),
            summary: Summary::default(),
            boot: None,
            running: Vec::new(),
        }
    }

    /// Takes in the plan; gives what is to be said about the time that it takes.
    pub(super) fn planned(&mut self, session: &Session) -> Option<String> {
        self.progress.plan(session);
        self.progress.estimate.planned()
    }

    pub(super) fn on_event(&mut self, event: &Event, now: Instant) {
        match event {
            Event::Booting { boot, .. } => {
                self.boot = Some(Boot { number: *boot, since: now, console: String::new() });
            }
            Event::Booted { .. } => self.boot = None,
            Event::Started { case, clone } => self.started(case, (*clone, now)),
            Event::Repeated(run) => self.repeated(run),
            Event::Console { boot, clone: 0, line } => self.console(*boot, &safe_line(line)),
            _ => {}
        }
    }

    fn started(&mut self, case: &str, run: (u32, Instant)) {
        match self.running.iter_mut().find(|running| running.case == case) {
            Some(running) => running.runs.push(run),
            None => self.running.push(Running { case: case.to_string(), runs: vec![run] }),
        }
    }

    fn repeated(&mut self, run: &Run) {
        self.progress.repeat(run);
        for running in self.running.iter_mut().filter(|running| running.case == run.case) {
            if let Some(at) = running.runs.iter().position(|(clone, _)| *clone == run.clone) {
                running.runs.remove(at);
            }
        }
    }

    pub(super) fn finished(&mut self, run: &Run) {
        self.progress.finish(run);
        self.summary.count(run.outcome);
        self.running.retain(|running| running.case != run.case);
        // A machine that did not come up has its Run too.
        self.boot.take_if(|boot| boot.number == run.boot);
    }

    fn console(&mut self, number: u32, line: &str) {
        if let Some(boot) = self.boot.as_mut().filter(|boot| boot.number == number && !line.is_empty()) {
            boot.console = line.to_string();
        }
    }

    fn left_text(&self, now: Instant) -> String {
        let since = |runs: &[(u32, Instant)]| runs.first().map_or(Duration::ZERO, |(_, since)| now - *since);
        let running: Vec<_> = self.running.iter().map(|it| (it.case.as_str(), since(&it.runs))).collect();
        let left = self.progress.estimate.left(now - self.start, &running);
        left.map(|left| format!(" ({} left)", clock(left))).unwrap_or_default()
    }

    fn running_text(&self, now: Instant) -> String {
        let cases = self.running.iter().map(|Running { case, runs }| {
            let Repeats { ended, failed } = self.progress.repeats(case);
            let repeat = if ended > 0 { format!(" #{}", ended + 1) } else { String::new() };
            let failed = if failed > 0 { format!(" ({failed} failed)") } else { String::new() };
            let took = runs.first().map(|(_, since)| long(now - *since)).unwrap_or_default();
            format!("{}{repeat}{failed}{took}", safe_line(case))
        });
        let cases = cases.collect::<Vec<_>>().join(", ");
        match self.running.len() {
            0 => cases,
            1 => format!("  {cases}"),
            count => format!("  {count} running: {cases}"),
        }
    }
}

impl Lines for Status {
    fn lines(&self, now: Instant, _: usize) -> Vec<Line> {
        let mut pieces = vec![(BOLD, format!("{}/{}", self.progress.done, self.progress.total))];
        for (outcome, text) in tally(self.summary) {
            pieces.push((Style::new(), "  ".to_string()));
            pieces.push((outcome.map_or(Style::new(), of), text));
        }
        pieces.push((DIM, format!("  {}", clock(now - self.start))));
        pieces.push((DIM, self.left_text(now)));
        pieces.push((Style::new(), self.running_text(now)));
        if let Some(Boot { number, since, console }) = &self.boot {
            pieces.push((Style::new(), format!("  boot {number}{}", long(now - *since))));
            let separator = if console.is_empty() { "" } else { "  " };
            pieces.push((DIM, format!("{separator}{console}")));
        }
        vec![pieces]
    }
}

/// How long something takes, once that is worth telling: a number that flashes by is only noise.
pub(crate) fn long(duration: Duration) -> String {
    match duration.as_secs() {
        0 => String::new(),
        seconds => format!(" {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use judge::Outcome;

    use super::*;
    use crate::estimate::Estimate;

    fn text(status: &Status, now: Instant) -> String {
        status.lines(now, 80).concat().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn a_boot_shows_its_time_and_the_last_kernel_message() {
        let start = Instant::now();
        let mut status = Status::new(start);
        status.on_event(&Event::Booting { boot: 1, cases: 3 }, start + Duration::from_secs(60));
        status.on_event(&Event::Console { boot: 1, clone: 0, line: "[ 0.1] Linux\x1b[2J".into() }, start);
        status.on_event(&Event::Console { boot: 1, clone: 0, line: String::new() }, start);
        assert_eq!(text(&status, start + Duration::from_secs(64)), "0/0  1:04  boot 1 4 s  [ 0.1] Linux");
    }

    #[test]
    fn the_time_that_is_left_stands_beside_the_time_that_has_gone() {
        let start = Instant::now();
        let mut status = Status::new(start);
        status.progress.estimate = Estimate::of(&[("a", 300), ("b", 20)], 1);
        status.on_event(&started("a", 1), start);
        assert_eq!(text(&status, start + Duration::from_secs(60)), "0/0  1:00 (4:20 left)  a 60 s");
        status.progress.estimate = Estimate::of(&[("a", 61)], 1);
        assert_eq!(text(&status, start + Duration::from_secs(60)), "0/0  1:00  a 60 s", "nearly done");
    }

    #[test]
    fn a_case_shows_no_console() {
        let start = Instant::now();
        let mut status = Status::new(start);
        status.on_event(&Event::Started { case: "pipe/full".into(), clone: 0 }, start);
        status.on_event(&Event::Console { boot: 1, clone: 0, line: "x".into() }, start);
        assert_eq!(text(&status, start), "0/0  0:00  pipe/full");
    }

    fn started(case: &str, clone: u32) -> Event {
        Event::Started { case: case.into(), clone }
    }

    fn a_run(case: &str, clone: u32, outcome: Outcome) -> Run {
        Run { case: case.into(), clone, outcome, boot: 1, ..Run::unstarted() }
    }

    #[test]
    fn cases_side_by_side_are_counted_and_named() {
        let start = Instant::now();
        let mut status = Status::new(start);
        status.on_event(&started("a/one", 1), start);
        status.on_event(&started("b/two", 2), start + Duration::from_secs(2));
        status.on_event(&Event::Booting { boot: 2, cases: 1 }, start + Duration::from_secs(3));
        status.on_event(&Event::Console { boot: 1, clone: 2, line: "x".into() }, start);
        let now = start + Duration::from_secs(4);
        assert_eq!(text(&status, now), "0/0  0:04  2 running: a/one 4 s, b/two 2 s  boot 2 1 s");
        status.finished(&a_run("a/one", 1, Outcome::Pass));
        assert_eq!(text(&status, now), "0/0  1 pass  0:04  b/two 2 s  boot 2 1 s");
        let dead = Run { boot: 2, ..a_run("boot", 0, Outcome::Crash) };
        status.finished(&dead);
        assert_eq!(text(&status, now), "0/0  1 crash  1 pass  0:04  b/two 2 s");
    }

    #[test]
    fn repeats_count_within_their_case_which_keeps_its_place() {
        let start = Instant::now();
        let mut status = Status::new(start);
        for (case, clone) in [("a/one", 1), ("a/one", 2), ("b/two", 3)] {
            status.on_event(&started(case, clone), start);
        }
        assert_eq!(text(&status, start), "0/0  0:00  2 running: a/one, b/two");
        status.on_event(&Event::Repeated(Box::new(a_run("a/one", 2, Outcome::Pass))), start);
        status.on_event(&Event::Repeated(Box::new(a_run("a/one", 1, Outcome::Hang))), start);
        let now = start + Duration::from_secs(1);
        assert_eq!(text(&status, now), "0/0  0:01  2 running: a/one #3 (1 failed), b/two 1 s");
        status.on_event(&started("a/one", 4), start);
        assert_eq!(text(&status, now), "0/0  0:01  2 running: a/one #3 (1 failed) 1 s, b/two 1 s");
        status.on_event(&Event::Repeated(Box::new(a_run("a/one", 4, Outcome::Pass))), now);
        status.finished(&a_run("a/one", 1, Outcome::Hang));
        assert_eq!(text(&status, now), "0/0  1 hang  0:01  b/two 1 s");
    }
}
