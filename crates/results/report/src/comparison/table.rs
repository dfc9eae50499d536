//! A comparison on a terminal.

use std::io::{self, Write};

use measure::{Kind, Subject};
use verdict::{Against, Comparison, Row, Side};

use super::kind::{ground, kind};
use super::recurring::{self, recurring};
use super::rows::{SMALL, Shown, is_marked, metric, name, shown};
use super::{functions, missing, statement};
use crate::columns::{Columns, fit, hanging, wrap};
use crate::figures::{count, difference, figure, interval, percent, probability};
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, Paint, of_verdict};
use crate::words::named;

/// A narrow terminal goes without what the others say together.
const COUNTED: Columns<8> = Columns {
    head: ["METRIC", "BASE", "NEW", "DIFFERENCE", "%", "INTERVAL, %", "P", "KIND"],
    right: &[1, 2, 3, 4, 5, 6],
    spared: &[6, 5, 1, 3, 2, 7],
};

/// The difference of times is an estimate of its own, not that of the two medians.
const TIMED: Columns<8> =
    Columns { head: ["METRIC", "BASE", "NEW", "ESTIMATE", "%", "INTERVAL, %", "P", "KIND"], ..COUNTED };

/// A narrow terminal goes without where a function's part is largest.
const RECURRING: Columns<5> = Columns { head: recurring::HEAD, right: &[1, 2, 3], spared: &[4, 3] };

/// Stands above the verdicts, which are never spared.
const VERDICT: &str = "VERDICT";

/// Columns for the word before a line.
const INDENT: usize = 6;

/// Columns of a line where nobody says how many there are.
const WIDTH: usize = 110;

/// Columns of a metric's name at most.
const NAME_MAX: usize = 56;

/// Names of one group of metrics that could not be measured.
const NAMES: usize = 8;

/// Marks figures that were not the same each time.
const SPREAD: &str = " *";

/// How a table is printed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Columns of the terminal, if it is one.
    pub width: Option<usize>,
    /// With colours.
    pub colour: bool,
    /// Also what is the same, all functions, ranges and parameters.
    pub verbose: bool,
}

/// Prints a table for each Kernel that is compared with the base, in the order of its rows.
///
/// # Errors
///
/// When `out` does not take it.
pub fn table(comparison: &Comparison, options: Options, out: impl Write) -> io::Result<()> {
    let paint = Paint { colour: options.colour };
    let mut table = Table { comparison, options, paint, out };
    table.header()?;
    for against in &comparison.others {
        table.against(against)?;
    }
    table.footer()?;
    table.out.flush()
}

struct Table<'a, W> {
    comparison: &'a Comparison,
    options: Options,
    paint: Paint,
    out: W,
}

impl<W: Write> Table<'_, W> {
    fn header(&mut self) -> io::Result<()> {
        for line in wrap(&statement::kind(self.comparison), self.width()) {
            writeln!(self.out, "{line}")?;
        }
        if let Some(noise) = statement::noise(self.comparison) {
            self.wrapped(&noise)?;
        }
        self.subject("base", &self.comparison.base)?;
        for note in &self.comparison.notes {
            self.hanging("note", &safe_line(note))?;
        }
        Ok(())
    }

    fn subject(&mut self, role: &str, subject: &Subject) -> io::Result<()> {
        let name = fit(&named(subject), self.width().saturating_sub(INDENT));
        writeln!(self.out, "{role:<INDENT$}{}", self.paint.paint(BOLD, &name))?;
        if self.options.verbose {
            for text in [&subject.kernel, &subject.provenance, &subject.machine, &subject.parameters] {
                if !text.is_empty() {
                    self.hanging("", &safe_line(text))?;
                }
            }
        }
        Ok(())
    }

    fn against(&mut self, against: &Against) -> io::Result<()> {
        self.subject("new", &against.subject)?;
        writeln!(self.out)?;
        let Shown { costs, events, small } = shown(self.comparison.kind, against, self.options.verbose);
        for rows in [&costs, &events].into_iter().filter(|rows| !rows.is_empty()) {
            self.rows(rows)?;
            writeln!(self.out)?;
        }
        self.recurring(against)?;
        if let Some(runs) = &against.runs {
            for line in wrap(&statement::runs(runs), self.width()) {
                writeln!(self.out, "{}", self.paint.paint(of_verdict(runs.verdict), &line))?;
            }
        }
        for line in wrap(&statement::totals(against), self.width()) {
            writeln!(self.out, "{}", self.paint.paint(BOLD, &line))?;
        }
        if small > 0 {
            self.wrapped(&format!(
                "{small} that differ by less than {SMALL} % are not shown; --verbose has all"
            ))?;
        }
        self.spread(&[costs, events].concat(), against)?;
        for group in missing::groups(&against.missing) {
            let most = if self.options.verbose { usize::MAX } else { NAMES };
            let names = missing::names(&group.metrics, most);
            self.wrapped(&format!("not measured {}: {names}", group.reason))?;
        }
        writeln!(self.out)
    }

    fn rows(&mut self, rows: &[&Row]) -> io::Result<()> {
        let columns = if self.comparison.kind == Kind::Exact { COUNTED } else { TIMED };
        let texts: Vec<[String; 8]> = rows.iter().map(|row| self.texts(row)).collect();
        let noise = self.comparison.noise.as_ref();
        let verdicts: Vec<String> = rows.iter().map(|row| statement::verdict(row, noise)).collect();
        let longest = verdicts.iter().map(String::len).max().unwrap_or(0).max(VERDICT.len());
        let limit = self.options.width.map(|width| width.saturating_sub(longest + 2));
        let widths = columns.widths(&texts, limit);
        let heads = columns.padded(&columns.heads(), &widths) + VERDICT;
        writeln!(self.out, "{}", self.paint.paint(DIM, &heads))?;
        for ((row, texts), verdict) in rows.iter().zip(&texts).zip(&verdicts) {
            let verdict = self.paint.paint(of_verdict(row.verdict), verdict);
            writeln!(self.out, "{}{verdict}", columns.padded(texts, &widths))?;
            self.below(row)?;
        }
        Ok(())
    }

    fn texts(&self, row: &Row) -> [String; 8] {
        let width = (self.width() / 2).clamp(16, NAME_MAX);
        let mark = if is_marked(self.comparison.kind, row) { SPREAD } else { "" };
        [
            fit(&safe_line(&metric(row)), width - mark.len()) + mark,
            figure(row.base.median, &row.unit),
            figure(row.new.median, &row.unit),
            difference(row.difference, &row.unit),
            row.percent.map(percent).unwrap_or_default(),
            row.interval.map(interval).unwrap_or_default(),
            row.p.map(probability).unwrap_or_default(),
            kind(row),
        ]
    }

    /// What belongs to a row and has no column.
    fn below(&mut self, row: &Row) -> io::Result<()> {
        if self.options.verbose {
            for (role, side) in [("base", &row.base), ("new", &row.new)] {
                let text = format!("    {role:<4}  {}", ranges(row, side));
                writeln!(self.out, "{}", self.paint.paint(DIM, &text))?;
            }
            if let Some(ground) = ground(row) {
                writeln!(
                    self.out,
                    "{}",
                    self.paint.paint(DIM, &format!("    {}: {ground}", name(row.verdict)))
                )?;
            }
        }
        if let Some(why) = &row.why {
            for line in functions::lines(why, self.width(), self.options.verbose) {
                writeln!(self.out, "{line}")?;
            }
        }
        Ok(())
    }

    /// The functions behind many of the differences.
    fn recurring(&mut self, against: &Against) -> io::Result<()> {
        let shown = if self.options.verbose { usize::MAX } else { recurring::LINES };
        let all = recurring(against);
        let width = (self.width() / 3).clamp(16, NAME_MAX);
        let rows: Vec<[String; 5]> =
            all.iter().take(shown).map(|it| it.texts().map(|text| fit(&safe_line(&text), width))).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let more = all.len() - rows.len();
        let rest = if more > 0 { format!(" ({more} more with --verbose)") } else { String::new() };
        writeln!(self.out, "{}{rest}", recurring::TITLE)?;
        let widths = RECURRING.widths(&rows, self.options.width);
        writeln!(self.out, "{}", self.paint.paint(DIM, &RECURRING.line(&RECURRING.heads(), &widths)))?;
        for row in &rows {
            writeln!(self.out, "{}", RECURRING.line(row, &widths))?;
        }
        writeln!(self.out)
    }

    /// Explains the mark, and says of how many rows that are not shown it is true too.
    fn spread(&mut self, rows: &[&Row], against: &Against) -> io::Result<()> {
        let all = against.rows.iter().filter(|row| is_marked(self.comparison.kind, row)).count();
        let shown = rows.iter().filter(|row| is_marked(self.comparison.kind, row)).count();
        let text = match (shown, all - shown) {
            (0, 0) => return Ok(()),
            (_, 0) => "* not the same in every repetition or boot; --verbose has the range".to_owned(),
            (_, more) => format!(
                "* not the same in every repetition or boot, {more} more not shown; --verbose has the range"
            ),
        };
        self.wrapped(&text)
    }

    fn footer(&mut self) -> io::Result<()> {
        self.wrapped(statement::honesty(self.comparison.kind))
    }

    /// Prints a paragraph, dimmed, in lines of the terminal's width.
    fn wrapped(&mut self, text: &str) -> io::Result<()> {
        for line in wrap(text, self.width()) {
            writeln!(self.out, "{}", self.paint.paint(DIM, &line))?;
        }
        Ok(())
    }

    /// Prints a paragraph, dimmed, beside a word.
    fn hanging(&mut self, word: &str, text: &str) -> io::Result<()> {
        for line in hanging(word, INDENT, text, self.width()) {
            writeln!(self.out, "{}", self.paint.paint(DIM, &line))?;
        }
        Ok(())
    }

    fn width(&self) -> usize {
        self.options.width.unwrap_or(WIDTH)
    }
}

/// The range of a side, and where its instructions were executed.
fn ranges(row: &Row, side: &Side) -> String {
    let (min, max) = (figure(side.min, &row.unit), figure(side.max, &row.unit));
    let range = if side.min == side.max { format!("{min} each time") } else { format!("{min} to {max}") };
    match side.apart {
        Some((user, kernel)) => format!("{range}, {} user, {} kernel", count(user), count(kernel)),
        None => range,
    }
}
