//! Where a report begins and ends.

use std::collections::VecDeque;

use super::inside::is_inside;
use super::line::{headline, is_cut_here, is_end_of_trace, is_separator, is_start_of_trace};
use super::openings::{Opening, Role, find};
use super::{KernelReport, Kind, LINES_MAX, REPORTS_MAX, title};

/// Unrelated lines that may stand inside a report: other CPUs print at the same time.
pub(super) const MAX_GAP: usize = 8;
/// The same after its stack: what comes then is a dump of registers or the panic.
pub(super) const MAX_GAP_AT_END: usize = 3;
/// How far `cut here` or a row of `=` can be before the first telling line; the text of a WARN is between.
const BEFORE_MAX: usize = 12;
/// How far a row of `=` can be before the first telling line.
const SEPARATOR_BEFORE: usize = 2;
/// Lines after an oops within which the end of its task is its consequence.
const SOON: usize = 12;

/// Takes the lines one by one.
#[derive(Debug, Default)]
pub(super) struct Scanner<'a> {
    done: Vec<KernelReport>,
    /// The last report, also after its end: a panic may still belong to it.
    last: Option<Open<'a>>,
    /// Lines that belong to no report, the last few.
    before: VecDeque<&'a str>,
    /// The kernel is dead: all else is a consequence, until it boots again.
    panicked: bool,
}

/// A report that is being read.
#[derive(Debug)]
struct Open<'a> {
    opening: &'static Opening,
    headline: &'a str,
    lines: Vec<&'a str>,
    /// Unrelated lines since the last line of the report: inside, if another of its lines follows.
    pending: Vec<&'a str>,
    /// A stack has begun since the last first line.
    traced: bool,
    /// A stack or the report has ended.
    ended: bool,
    /// Nothing belongs to it any more, save consequences.
    closed: bool,
    /// Lines since it was closed.
    since: usize,
}

impl<'a> Scanner<'a> {
    /// Whether as many reports were found as are wanted.
    pub(super) fn is_full(&self) -> bool {
        self.done.len() >= REPORTS_MAX
    }

    /// The next line.
    pub(super) fn feed(&mut self, line: &'a str) {
        if line.starts_with("Linux version ") {
            self.settle();
            self.panicked = false;
        }
        let head = headline(line);
        match find(head) {
            Some(opening) if !self.follows(opening, head) => self.open(opening, head, line),
            Some(opening) => self.resume(opening, head, line),
            None => self.other(line),
        }
    }

    /// All reports.
    pub(super) fn finish(mut self) -> Vec<KernelReport> {
        self.settle();
        self.done
    }

    /// Whether a first line of a report is a consequence of the last report instead.
    fn follows(&mut self, opening: &Opening, head: &str) -> bool {
        let panics = opening.role == Role::Panic;
        let follows = self.panicked || self.last.as_ref().is_some_and(|last| last.brings(opening, head));
        self.panicked |= panics;
        follows && self.last.is_some()
    }

    fn open(&mut self, opening: &'static Opening, headline: &'a str, line: &'a str) {
        // What waits in the last report may be the `cut here` of this one.
        self.close();
        let lines = self.beginning().chain([line]).collect();
        self.before.clear();
        self.settle();
        self.last = Some(Open::new(opening, headline, lines));
    }

    /// The lines from `cut here` or a row of `=` on.
    fn beginning(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let lines: Vec<&'a str> = self.before.iter().copied().collect();
        let cut_here = lines.iter().rposition(|line| is_cut_here(line));
        let separator = lines
            .iter()
            .rposition(|line| is_separator(line))
            .filter(|at| at + SEPARATOR_BEFORE >= lines.len());
        let start = cut_here.or(separator).unwrap_or(lines.len());
        lines.into_iter().skip(start)
    }

    /// A line that begins no report.
    fn other(&mut self, line: &'a str) {
        if self.panicked && self.last.is_some() {
            return self.append(line);
        }
        match &mut self.last {
            Some(last) if !last.closed && !last.is_ended_by(line) => last.take(line),
            _ => {
                self.close();
                self.remember(line);
            }
        }
    }

    /// A first line of a report that follows from the last one: its lines belong to that one too.
    ///
    /// The text of a `WARN()` says better than its line what it is.
    fn resume(&mut self, opening: &'static Opening, head: &'a str, line: &'a str) {
        let lines: Vec<&'a str> = self.beginning().chain([line]).collect();
        self.before.clear();
        let Some(last) = &mut self.last else { return };
        (last.closed, last.ended, last.since) = (false, false, 0);
        if opening.role == Role::Text && last.opening.role == Role::Trap && !last.traced {
            (last.opening, last.headline) = (opening, head);
        }
        // A stack of its own follows, and perhaps an oops before that.
        last.traced = false;
        lines.into_iter().for_each(|line| last.push(line));
    }

    fn append(&mut self, line: &'a str) {
        if let Some(last) = &mut self.last {
            last.push(line);
        }
    }

    /// Closes the last report; its unrelated lines are nobody's.
    fn close(&mut self) {
        let Some(last) = &mut self.last else { return };
        last.closed = true;
        for line in std::mem::take(&mut last.pending) {
            self.remember(line);
        }
    }

    fn remember(&mut self, line: &'a str) {
        if let Some(last) = &mut self.last {
            last.since += 1;
        }
        if self.before.len() == BEFORE_MAX {
            self.before.pop_front();
        }
        self.before.push_back(line);
    }

    /// Puts the last report to the others, unless it is there already.
    fn settle(&mut self) {
        let Some(last) = self.last.take() else { return };
        let title = title::title(last.opening, last.headline, &last.lines);
        let kind = last.opening.kind;
        if self.is_full() || self.done.iter().any(|report| report.kind == kind && report.title == title) {
            return;
        }
        let lines = last.lines.iter().map(|&line| line.to_owned()).collect();
        self.done.push(KernelReport { kind, title, lines });
    }
}

impl<'a> Open<'a> {
    fn new(opening: &'static Opening, headline: &'a str, lines: Vec<&'a str>) -> Self {
        Self {
            opening,
            headline,
            lines,
            pending: Vec::new(),
            traced: false,
            ended: false,
            closed: false,
            since: 0,
        }
    }

    /// Whether a first line of another report only follows from this one.
    fn brings(&self, opening: &Opening, head: &str) -> bool {
        let unfolded = !self.closed && !self.traced;
        let soon = self.since <= MAX_GAP;
        let after_kasan = soon && self.opening.kind == Kind::Kasan && opening.kind == Kind::Oops;
        let says = matches!(self.opening.role, Role::Text | Role::Cause);
        match opening.role {
            // kmemleak counts what it has just listed.
            Role::Alone => {
                self.opening.kind == Kind::Kmemleak && head.contains(" new suspected memory leaks")
            }
            Role::Text => unfolded && self.opening.role == Role::Trap,
            // What KASAN saw coming, it then runs into.
            Role::Cause => after_kasan,
            Role::Trap => (unfolded && says) || (soon && self.goes_on()),
            Role::Death => after_kasan || (unfolded && (says || self.opening.role == Role::Trap)),
            Role::Panic => self.brings_panic(head),
        }
    }

    /// Reports that the kernel follows with another: of a cache that is destroyed with objects in it, and
    /// of an overflow that the compiler saw, at which it warns and stops.
    fn goes_on(&self) -> bool {
        const GOING_ON: [&str; 2] = [": Objects remaining", ": detected buffer overflow: "];
        GOING_ON.iter().any(|text| self.headline.contains(text))
    }

    fn brings_panic(&self, head: &str) -> bool {
        /// Panics that say of themselves that they follow from what was reported.
        const FOLLOWING: [&str; 10] = [
            "Fatal exception",
            "panic_on_warn set",
            "softlockup: hung tasks",
            "hung_task: blocked tasks",
            "RCU Stall",
            "RCU stall",
            "Hard LOCKUP",
            "Aiee, killing interrupt handler!",
            "Machine halted",
            "kasan.fault=panic",
        ];
        /// Panics that can follow from an oops right before them.
        const DYING: [&str; 3] = ["Attempted to kill ", "Fatal hardware error", "Oops"];
        let text = head.split_once(": ").map_or("", |(_, text)| text);
        let dies = matches!(self.opening.kind, Kind::Oops | Kind::Bug | Kind::ListCorruption);
        let right_before = !self.closed || self.since <= SOON;
        FOLLOWING.iter().any(|start| text.contains(start))
            || (dies && right_before && DYING.iter().any(|start| text.starts_with(start)))
    }

    /// Whether the line cannot belong to this report although it has not ended.
    fn is_ended_by(&self, line: &str) -> bool {
        if is_cut_here(line) {
            return self.traced || !matches!(self.opening.role, Role::Text | Role::Cause);
        }
        is_separator(line) && !self.has_frame() && self.lines.len() > SEPARATOR_BEFORE
    }

    /// Whether it stands between two rows of `=`.
    fn has_frame(&self) -> bool {
        let framed =
            matches!(self.opening.kind, Kind::Kasan | Kind::Kfence | Kind::Kcsan | Kind::Kmsan | Kind::Ubsan);
        framed && self.lines.first().is_some_and(|line| is_separator(line))
    }

    /// A line that begins no report, while this one is open.
    fn take(&mut self, line: &'a str) {
        if is_separator(line) && self.has_frame() {
            self.push(line);
            self.closed = true;
        } else if is_cut_here(line) || (is_inside(line) && !is_separator(line)) {
            self.push(line);
        } else {
            self.pending.push(line);
            let max_gap = if self.ended { MAX_GAP_AT_END } else { MAX_GAP };
            self.closed = self.pending.len() > max_gap;
        }
    }

    fn push(&mut self, line: &'a str) {
        let pending = std::mem::take(&mut self.pending);
        let room = LINES_MAX.saturating_sub(self.lines.len());
        self.lines.extend(pending.into_iter().chain([line]).take(room));
        if is_start_of_trace(line) {
            self.traced = true;
            self.ended = false;
        } else if is_end_of_trace(line) || line.trim_start().starts_with("</TASK>") {
            self.ended = true;
        }
    }
}
