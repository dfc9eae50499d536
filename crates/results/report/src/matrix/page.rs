//! Grids as one file for a browser.

use std::io::{self, Write};

use lab::request::words::call;
use matrix::{Cell, Grid, Group, Light, Mark, groups};
use maud::{Markup, html};

use super::{label, name, sum, title};
use crate::html::{command, page, section, short, text};

/// What leads from a page to a Run, by its session and case.
pub type Lead<'a> = dyn Fn(&str, &str) -> Markup + 'a;

/// Writes the page. `typed` is what the user typed.
///
/// # Errors
///
/// When `out` does not take it.
pub fn html(grids: &[Grid], typed: &str, mut out: impl Write) -> io::Result<()> {
    let title = title(grids);
    let body = html! {
        header { h1 { (text(&title)) } (command(typed)) (legend()) }
        main { @for grid in grids { (one(grid, &repeat)) } }
    };
    out.write_all(page(&title, &body).as_bytes())?;
    out.flush()
}

/// What the signs stand for.
#[must_use]
pub fn legend() -> Markup {
    let signs = Mark::ALL.map(|mark| format!("{} {}", mark.sign(), mark.word())).join(", ");
    html! { p.legend { (signs) ". Click a line that stands for several cases to list them." } }
}

/// How a Run is looked at again that has its own file nowhere.
fn repeat(session: &str, case: &str) -> Markup {
    html! { code { (text(call(&["show".to_owned(), format!("{session}/{case}")]))) } }
}

/// A grid, below its suite. `lead` leads to a Run by its session and case.
pub fn one(grid: &Grid, lead: &Lead<'_>) -> Markup {
    let groups = groups(grid);
    let content = html! {
        p.totals { (text(sum(grid, &groups))) }
        div.wide {
            table.matrix {
                thead { tr { td {} @for column in &grid.columns { th.kernel { span { (text(label(column))) } } } } }
                tbody { @for group in &groups { (row(grid, group)) } }
            }
        }
        @for group in groups.iter().filter(|group| group.light != Light::Green) { (evidence(grid, group, lead)) }
    };
    section(&short(&grid.suite), &content)
}

fn row(grid: &Grid, group: &Group) -> Markup {
    let cells = &grid.rows[group.rows[0]].cells;
    html! {
        tr {
            th {
                @if group.rows.len() > 1 {
                    details { summary { (text(name(grid, group))) }
                        @for &row in &group.rows { (text(&grid.rows[row].case)) br; }
                    }
                } @else { (text(name(grid, group))) }
            }
            @for (mark, cell) in group.marks.iter().zip(cells) {
                @match (mark, cell) {
                    (Some(mark), Some(cell)) => td class=(light(mark.light(&group.marks))) title=(text(&cell.reason)) { (mark.sign()) },
                    _ => td {},
                }
            }
        }
    }
}

/// All Runs of a group that are not well.
fn evidence(grid: &Grid, group: &Group, lead: &Lead<'_>) -> Markup {
    let bad = |row: usize| {
        let cells = grid.rows[row].cells.iter().enumerate();
        cells.filter_map(|(column, cell)| {
            Some((column, cell.as_ref().filter(|cell| !cell.outcome.is_well())?))
        })
    };
    html! {
        @for &row in &group.rows {
            details {
                summary { (text(&grid.rows[row].case)) }
                ul { @for (column, cell) in bad(row) { li { (run(grid, (row, column), cell, lead)) } } }
            }
        }
    }
}

fn run(grid: &Grid, (row, column): (usize, usize), cell: &Cell, lead: &Lead<'_>) -> Markup {
    let times = if cell.runs > 1 {
        format!(", {} of {} Runs failed", cell.failures, cell.runs)
    } else {
        String::new()
    };
    html! {
        (text(label(&grid.columns[column]))) ": " (cell.outcome.name()) (times) " " (text(&cell.reason)) " "
        (lead(&cell.session, &grid.rows[row].case))
    }
}

/// The class of a cell.
fn light(light: Light) -> &'static str {
    match light {
        Light::Green => "green",
        Light::Amber => "amber",
        Light::Red => "red",
    }
}
