//! The levels that are open in one of the texts on a console.

use super::budget::Budget;
use super::level::Open;
use super::line::{Kind, Line, Totals};
use super::problem::What;
use super::result::ResultLine;
use super::tree::{Level, Status, Version};
use super::{DEPTH_MAX, cut};

/// What a line that is no result may do to the next one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    /// `not` alone: an `ok` on the next line belongs to it.
    Negates,
    /// `not random: crng init done`: an `ok` on the next line may belong to it.
    MayNegate,
}

/// What the kernel printed, or what programs did.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Empty outside results; the first is that of the whole text.
    open: Vec<Open>,
    pub(super) done: Vec<Level>,
    /// What the line before may have done to this one.
    before: Before,
}

impl Stream {
    /// Takes a line; false if it is no more than log.
    pub(super) fn line(&mut self, line: &Line<'_>, text: &str, budget: &mut Budget) -> bool {
        let before = std::mem::replace(&mut self.before, before(text));
        if line.in_comment && !self.accepts_comment(line) {
            return false;
        }
        match line.kind {
            Kind::Text => return false,
            Kind::Version(version) => self.version(line, version, budget),
            Kind::Subtest(name) => self.subtest(line, name, budget),
            Kind::Plan(count, skip) => self.plan(line, count, skip, budget),
            Kind::Result(result) => self.result(line, &doubt(result, before, budget), budget),
            Kind::BailOut(why) => self.bail_out(line, why),
            Kind::Totals(totals) => {
                self.check_totals(line.column, totals, budget);
                return false;
            }
            Kind::Begins { name, by_runner } => self.begins(line.column, name, by_runner, budget),
            Kind::Attribute { test, key, value } => self.attribute(line.column, test, key, value),
        }
        true
    }

    /// Keeps a line in the log of the test in progress.
    pub(super) fn log(&mut self, text: &str, budget: &mut Budget) {
        if let Some(top) = self.open.last_mut() {
            budget.log(&mut top.log, text.trim_end());
        }
    }

    /// Whether results have begun and not ended.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether any results have begun.
    pub(super) fn has_results(&self) -> bool {
        self.is_open() || !self.done.is_empty()
    }

    /// Whether nothing that was planned is still to come.
    pub(super) fn is_complete(&self) -> bool {
        self.open.len() <= 1 && self.open.first().is_none_or(Open::is_complete)
    }

    /// The text ends here, or a new one begins.
    pub(super) fn end(&mut self, budget: &mut Budget) {
        while self.open.len() > 1 {
            if self.is_indented() {
                self.open.remove(0);
            } else {
                self.close_top(budget);
            }
        }
        if let Some(mut root) = self.open.pop() {
            root.end_in_progress(budget);
            self.done.push(root.close("", budget).0);
        }
    }

    /// Whether the text is indented as a whole, and so has no first level of its own.
    fn is_indented(&self) -> bool {
        let [root, inside] = self.open.as_slice() else { return false };
        root.is_fresh() && root.announced.is_none() && inside.name.is_none()
    }

    /// Results in comments count only where the output of a test is passed on.
    fn accepts_comment(&self, line: &Line<'_>) -> bool {
        let is_passed_on = || self.open.iter().any(|open| open.by_runner);
        let is_inside = || self.open.iter().any(|open| open.in_comment && open.column == line.column);
        match line.kind {
            Kind::Text => false,
            Kind::Version(_) => self.is_open(),
            _ => is_inside() || is_passed_on(),
        }
    }

    fn version(&mut self, line: &Line<'_>, version: Version, budget: &mut Budget) {
        if self.open.first().is_some_and(|root| root.column >= line.column && !root.is_fresh()) {
            self.end(budget);
        }
        self.close_above(line.column, budget);
        // All that a test of kselftest prints is passed on by its runner, also that of several programs.
        let is_passed_on = |top: &&mut Open| top.in_comment && top.column == line.column && !top.is_fresh();
        if let Some(top) = self.open.last_mut().filter(is_passed_on) {
            top.begin_part(budget);
            return top.set_version(version, budget);
        }
        self.enter(line, Open::is_fresh, budget);
        self.on_top(line, |top| top.set_version(version, budget));
    }

    fn subtest(&mut self, line: &Line<'_>, name: &str, budget: &mut Budget) {
        // TAP 14 has the name one level above what it names.
        if line.column == 0 {
            self.enter(line, |_| true, budget);
            self.on_top(line, |top| top.announce(name, false));
        } else {
            self.enter(line, Open::is_unnamed, budget);
            self.on_top(line, |top| top.name = Some(name.to_string()));
        }
    }

    fn plan(&mut self, line: &Line<'_>, count: u64, skip: Option<&str>, budget: &mut Budget) {
        // A second plan changes nothing, least of all what is open.
        let known = self.open.iter().find(|open| open.column == line.column && open.has_plan());
        if known.is_some() {
            return budget.problem(What::SecondPlan(count));
        }
        self.enter(line, |_| true, budget);
        self.on_top(line, |top| top.plan(count, skip));
    }

    fn result(&mut self, line: &Line<'_>, result: &ResultLine<'_>, budget: &mut Budget) {
        while self.open.len() > 1 && self.open[self.open.len() - 2].column > line.column {
            self.close_top(budget);
        }
        let inside = self.take_inside(line, result.name, budget);
        self.enter(line, |_| true, budget);
        // Where nesting is too deep, the level above takes it: a failure must not be lost.
        if let Some(top) = self.open.last_mut() {
            top.add(result, inside, budget);
        }
    }

    /// The level below the test that has its result on `line`.
    fn take_inside(&mut self, line: &Line<'_>, name: &str, budget: &mut Budget) -> Option<Open> {
        let [.., parent, top] = self.open.as_slice() else { return None };
        if top.column <= line.column {
            return None;
        }
        let is_other = top.name.as_ref().is_some_and(|known| known != name);
        if is_other || parent.column != line.column {
            self.close_top(budget);
            return None;
        }
        self.open.pop()
    }

    fn bail_out(&mut self, line: &Line<'_>, why: &str) {
        if let Some(level) = self.at(line.column) {
            level.level.bail_out.get_or_insert_with(|| why.to_string());
        }
    }

    fn begins(&mut self, column: usize, name: &str, by_runner: bool, budget: &mut Budget) {
        if by_runner {
            self.close_above(column, budget);
        }
        if let Some(level) = self.at(column) {
            level.announce(name, by_runner);
        }
    }

    fn attribute(&mut self, column: usize, test: Option<&str>, key: &str, value: &str) {
        if let Some(level) = self.at(column) {
            level.attribute(test, key, value);
        }
    }

    /// A failure that is in the totals and was not seen is a lost line.
    fn check_totals(&mut self, column: usize, totals: Totals<'_>, budget: &mut Budget) {
        if let Some(level) = self.at(column).filter(|_| totals.name.is_none() && !totals.is_deep) {
            level.count(totals.total);
        }
        let named = |open: &&Open| totals.name.is_some_and(|name| open.name.as_deref() == Some(name));
        let seen = match self.open.iter().find(named) {
            Some(open) => open.failures(),
            // KUnit names tests whose level has not been opened, since they have none.
            None if totals.name.is_some() => return,
            None if totals.is_deep => self.open.last().map_or(0, |top| top.level.counts().fail),
            None => self.at(column).map_or(0, |open| open.failures()),
        };
        if self.is_open() && totals.failed > seen {
            budget.problem(What::Totals { announced: totals.failed, seen });
        }
    }

    /// Makes a level at the column of `line` the top: that which is open there, if it is `wanted`, or a
    /// new one.
    fn enter(&mut self, line: &Line<'_>, wanted: impl Fn(&Open) -> bool, budget: &mut Budget) {
        if self.open.is_empty() {
            self.open.push(Open::new(0, false, budget.line));
        }
        self.close_above(line.column, budget);
        let is_there = |open: &Open| open.column == line.column && wanted(open);
        if self.open.last().is_some_and(is_there) {
            return;
        }
        if self.open.len() > 1 && self.open.last().is_some_and(|top| top.column == line.column) {
            self.close_top(budget);
        }
        match self.open.last() {
            Some(top) if top.column >= line.column => {}
            _ if self.open.len() >= DEPTH_MAX => budget.problem(What::TooDeep),
            _ => self.open.push(Open::new(line.column, line.in_comment, budget.line)),
        }
    }

    /// Does something to the level that `line` has entered.
    fn on_top(&mut self, line: &Line<'_>, change: impl FnOnce(&mut Open)) {
        if let Some(top) = self.open.last_mut().filter(|top| top.column == line.column) {
            change(top);
        }
    }

    /// The innermost level that is not deeper than `column`.
    fn at(&mut self, column: usize) -> Option<&mut Open> {
        self.open.iter_mut().rev().find(|open| open.column <= column)
    }

    /// Closes what is deeper than `column`, as unfinished.
    fn close_above(&mut self, column: usize, budget: &mut Budget) {
        while self.open.len() > 1 && self.open.last().is_some_and(|top| top.column > column) {
            self.close_top(budget);
        }
    }

    /// Closes the top, which has no result of its own.
    fn close_top(&mut self, budget: &mut Budget) {
        let Some(top) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(parent) => parent.add_unfinished(top, budget),
            None => self.open.push(top),
        }
    }
}

/// What `text` may do to the next line.
fn before(text: &str) -> Before {
    let words = text.trim_start_matches(['#', ' ', '\t']);
    match () {
        () if cut::is_negation(text) => Before::Negates,
        () if words.starts_with("not ") && !words.starts_with("not ok") => Before::MayNegate,
        () => Before::Nothing,
    }
}

/// The result as it is to be believed after that line.
fn doubt<'a>(result: ResultLine<'a>, before: Before, budget: &mut Budget) -> ResultLine<'a> {
    if before == Before::Nothing || result.status != Status::Pass {
        return result;
    }
    budget.problem(What::Doubtful(result.name.to_string()));
    let status = if before == Before::Negates { Status::Fail } else { result.status };
    ResultLine { status, ..result }
}
