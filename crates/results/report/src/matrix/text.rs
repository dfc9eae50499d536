//! Grids as text.

use std::io::{self, Write};

use lab::request::words::call;
use matrix::{Grid, Group, Light, Mark, groups};
use unicode_width::UnicodeWidthStr;

use super::{label, name, sum, telling};
use crate::columns::fit;
use crate::safe::safe_line;
use crate::style::{BOLD, DIM, Paint, of_light};

/// Columns of the names of cases, at most.
const NAME_MAX: usize = 44;

/// Prints grids; rows that are alike are one line, unless `all` are wanted.
///
/// # Errors
///
/// When `out` does not take it.
pub fn text(grids: &[Grid], all: bool, colour: bool, mut out: impl Write) -> io::Result<()> {
    let paint = Paint { colour };
    for (number, grid) in grids.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        one(grid, all, paint, &mut out)?;
    }
    if !grids.is_empty() {
        let legend = Mark::ALL.map(|mark| format!("{} {}", mark.sign(), mark.word())).join(", ");
        writeln!(out, "\n{}", paint.paint(DIM, &legend))?;
    }
    out.flush()
}

fn one(grid: &Grid, all: bool, paint: Paint, out: &mut impl Write) -> io::Result<()> {
    let folded = groups(grid);
    writeln!(out, "{}", paint.paint(BOLD, &safe_line(&sum(grid, &folded))))?;
    for (number, column) in grid.columns.iter().enumerate() {
        writeln!(out, "{:>4}  {}", number + 1, safe_line(&label(column)))?;
    }
    writeln!(out)?;
    let lines: Vec<Group> = if all { unfolded(&folded) } else { folded };
    let names: Vec<String> =
        lines.iter().map(|group| fit(&safe_line(&name(grid, group)), NAME_MAX)).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    for line in heads(grid.columns.len()) {
        writeln!(out, "{}", paint.paint(DIM, format!("{:width$}  {line}", "").trim_end()))?;
    }
    for (group, name) in lines.iter().zip(&names) {
        let space = " ".repeat(width - name.width());
        writeln!(out, "{}", format!("{name}{space}  {}", signs(group, paint)).trim_end())?;
    }
    evidence(grid, &lines, paint, out)
}

/// Each row by itself, in the order of its groups.
fn unfolded(groups: &[Group]) -> Vec<Group> {
    let rows = |group: &Group| {
        group.rows.iter().map(|&row| Group { rows: vec![row], ..group.clone() }).collect::<Vec<_>>()
    };
    groups.iter().flat_map(rows).collect()
}

/// The numbers of the columns, a digit in each line.
fn heads(count: usize) -> Vec<String> {
    let digits = count.max(1).to_string().len();
    let digit = |number: usize, place: usize| {
        let text = format!("{number:>digits$}");
        text.chars().nth(place).unwrap_or(' ')
    };
    let line = |place| (1..=count).map(|number| format!("{} ", digit(number, place))).collect::<String>();
    (0..digits).map(line).collect()
}

fn signs(group: &Group, paint: Paint) -> String {
    let sign = |mark: &Option<Mark>| match mark {
        Some(mark) => paint.paint(of_light(mark.light(&group.marks)), &mark.sign().to_string()) + " ",
        None => "  ".to_owned(),
    };
    group.marks.iter().map(sign).collect()
}

/// Where to look, for each line that wants attention.
fn evidence(grid: &Grid, lines: &[Group], paint: Paint, out: &mut impl Write) -> io::Result<()> {
    let wanted = lines.iter().filter(|group| group.light != Light::Green);
    let told: Vec<(usize, usize)> = wanted.filter_map(|group| telling(grid, group)).collect();
    if !told.is_empty() {
        writeln!(out)?;
    }
    for (row, column) in told {
        let (row, kernel) = (&grid.rows[row], label(&grid.columns[column]));
        let Some(cell) = &row.cells[column] else { continue };
        let outcome = paint.paint(crate::style::of(cell.outcome), cell.outcome.name());
        let reason =
            if cell.reason.is_empty() { String::new() } else { format!(": {}", safe_line(&cell.reason)) };
        writeln!(out, "{outcome}  {} on {}{reason}", safe_line(&row.case), safe_line(&kernel))?;
        let show = call(&["show".to_owned(), format!("{}/{}", cell.session, row.case)]);
        writeln!(out, "    {}", paint.paint(DIM, &safe_line(&show)))?;
    }
    Ok(())
}
