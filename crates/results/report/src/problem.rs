//! What `kiln problems show` prints; [`page`]: the same for browsers.

mod page;

use std::io::{self, Write};

use bisect::problem::{Made, Search};
use lab::request::{Request, words::call};
use ledger::{OnKernel, Problem};
use serde::Serialize;
use verdict::problem::{Series, Standing, State};

use crate::json::document;
use crate::problems::state;
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, Paint, of_state};

/// Columns of what a line is about.
const LABEL: usize = 9;

/// Most kernels of which each has a line.
const KERNELS_MAX: usize = 40;

/// A problem, with what is known around it.
#[derive(Debug, Clone, Copy)]
pub struct ShownProblem<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Where it stands.
    pub standing: &'a Standing,
    /// What a session was asked that shows it, and the case that does; without them kiln cannot say how to search.
    pub request: Option<(&'a Request, &'a str)>,
    /// All bisections that were made.
    pub made: &'a [Made],
}

/// How one end of a series was searched, or can be.
#[derive(Serialize)]
struct Searched<'a> {
    /// The command.
    command: Option<String>,
    /// The folder of the bisection that was made.
    bisection: Option<&'a str>,
    /// What that found.
    culprits: Vec<&'a str>,
}

impl Searched<'_> {
    /// What was found, or else the command that searches.
    fn said(&self) -> Option<String> {
        let Some(folder) = self.bisection else { return self.command.clone() };
        let culprits = self.culprits.join(", ");
        let culprits = if culprits.is_empty() { "no clear answer" } else { &culprits };
        Some(format!("bisected: {culprits} (bisections/{folder})"))
    }
}

/// All as programs get it.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    #[serde(flatten)]
    standing: &'a Standing,
    /// Of each series, where it begins and where it ends.
    searches: Vec<[Option<Searched<'a>>; 2]>,
}

impl<'a> ShownProblem<'a> {
    /// Prints it for people.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn text(&self, colour: bool, mut out: impl Write) -> io::Result<()> {
        let Self { problem, standing, .. } = *self;
        let paint = Paint { colour };
        let signature = safe_line(problem.signature.trim_end_matches([' ', ':']));
        let painted = paint.paint(of_state(standing.state), &state(standing));
        writeln!(out, "{painted}: {}", paint.paint(BOLD, &signature))?;
        writeln!(out)?;
        for (label, text) in self.facts().iter().filter(|(_, text)| !text.is_empty()) {
            writeln!(out, "{}  {}", paint.paint(DIM, &format!("{label:LABEL$}")), safe_line(text))?;
        }
        writeln!(out, "\n{}", paint.paint(DIM, "kernels"))?;
        let left_out = problem.kernels.len().saturating_sub(KERNELS_MAX);
        if left_out > 0 {
            writeln!(out, "  {left_out} older ones are left out")?;
        }
        let shown = &problem.kernels[left_out..];
        let widest = shown.iter().map(|on| safe_line(&on.release).chars().count()).max().unwrap_or(0);
        for on in shown {
            writeln!(out, "  {:widest$}  {}", safe_line(&on.release), judged(on))?;
        }
        for series in &standing.series {
            self.series(series, paint, &mut out)?;
        }
        if standing.state == State::Verified {
            writeln!(out, "\nclose it with: {}", self.close())?;
        }
        out.flush()
    }

    /// Prints it for programs.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn json(&self, out: impl Write) -> io::Result<()> {
        let Self { problem, standing, .. } = *self;
        let searches = standing
            .series
            .iter()
            .map(|series| self.searches(series).map(|search| search.map(|search| self.searched(&search))));
        document(&Document { problem, standing, searches: searches.collect() }, out)
    }

    /// The command that closes it.
    fn close(&self) -> String {
        call(&["problems", "close", &self.problem.id].map(str::to_owned))
    }

    fn facts(&self) -> [(&'static str, String); 6] {
        let problem = self.problem;
        let day = |seen: &ledger::Sighting| seen.started.strftime("%Y-%m-%d %H:%M UTC").to_string();
        let closed = |closing: ledger::Closing| closing.closed.strftime("%Y-%m-%d %H:%M UTC").to_string();
        let name = format!("{}/{}", problem.last.session, problem.last.case);
        let cases: Vec<&str> = problem.cases.iter().map(String::as_str).collect();
        [
            (
                "seen",
                format!("{} to {}, {}", day(&problem.first), day(&problem.last), runs(problem.failures)),
            ),
            ("closed", problem.closing.map(closed).unwrap_or_default()),
            ("accuses", problem.accused.clone().map_or_else(String::new, |whom| format!("the {whom}"))),
            ("cases", cases.join(", ")),
            ("last", format!("{} on {}", problem.last.outcome.name(), problem.last.release)),
            ("Run", call(&["show".to_owned(), name])),
        ]
    }

    fn series(&self, series: &Series, paint: Paint, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n{}", paint.paint(DIM, &safe_line(&series.name())))?;
        for (text, searched) in self.ends(series) {
            writeln!(out, "  {}", safe_line(&text))?;
            if let Some(said) = searched.and_then(|searched| searched.said()) {
                writeln!(out, "    {}", safe_line(&said))?;
            }
        }
        Ok(())
    }

    /// Where a series begins to have it and where that ends, each with how it was searched or can be.
    fn ends(&self, series: &Series) -> [(String, Option<Searched<'a>>); 2] {
        let first = &series.first.release;
        let begins = match &series.good {
            Some(good) => format!("last good: {}, first bad: {first}", good.release),
            None => format!("first bad: {first}; no older kernel of this series passed"),
        };
        let ends = match (&series.fixed, series.chance) {
            (Some(fixed), Some(chance)) => format!(
                "gone since {}: with no change, so many sessions would all pass in {} of 100 cases",
                fixed.release,
                percent(chance)
            ),
            _ => format!("still there in {}", series.last.release),
        };
        let [begin, end] = self.searches(series).map(|search| search.map(|search| self.searched(&search)));
        [(begins, begin), (ends, end)]
    }

    fn searches(&self, series: &Series) -> [Option<Search>; 2] {
        [Search::for_culprit(self.problem, series), Search::for_fix(self.problem, series)]
    }

    fn searched(&self, search: &Search) -> Searched<'a> {
        let found = search.found(self.problem, self.made);
        let words = self.request.and_then(|(request, case)| search.words(request, case));
        Searched {
            command: words.map(|words| call(&words)),
            bisection: found.map(|made| made.folder.as_str()),
            culprits: found.map(Made::culprits).unwrap_or_default(),
        }
    }
}

fn runs(count: u64) -> String {
    if count == 1 { "1 Run failed".to_owned() } else { format!("{count} Runs failed") }
}

fn judged(on: &OnKernel) -> String {
    let sessions = if on.sessions == 1 { "session" } else { "sessions" };
    match on.failing {
        0 => format!("passed in {} {sessions}", on.sessions),
        failing => format!("failed in {failing} of {} {sessions}", on.sessions),
    }
}

/// A chance as a number of 100, never less than it is.
fn percent(chance: f64) -> String {
    match (chance * 100.0).ceil() {
        percent if percent <= 1.0 => "at most 1".to_owned(),
        percent => format!("{percent:.0}"),
    }
}
