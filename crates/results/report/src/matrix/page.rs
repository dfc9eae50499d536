//! Grids as one file for a browser.

use std::io::{self, Write};

use lab::request::words::call;
use matrix::{Cell, Grid, Group, Light, Mark, groups};
use maud::{Markup, html};

use super::{label, name, sum};
use crate::html::{command, page, section, short, text};

/// Writes the page. `typed` is what the user typed.
///
/// # Errors
///
/// When `out` does not take it.
pub fn html(grids: &[Grid], typed: &str, mut out: impl Write) -> io::Result<()> {
    let names: Vec<String> = grids.iter().map(|grid| short(&grid.suite)).collect();
    let title = format!("Matrix of {}", names.join(", "));
    let legend = Mark::ALL.map(|mark| format!("{} {}", mark.sign(), mark.word())).join(", ");
    let body = html! {
        header { h1 { (text(&title)) } (command(typed)) p.legend { (legend) ". Click a line that stands for several cases to list them." } }
        @for grid in grids { (one(grid)) }
    };
    out.write_all(page(&title, &body).as_bytes())?;
    out.flush()
}

fn one(grid: &Grid) -> Markup {
    let groups = groups(grid);
    let content = html! {
        p.totals { (text(sum(grid, &groups))) }
        div.wide {
            table.matrix {
                thead { tr { th {} @for column in &grid.columns { th.kernel { span { (text(label(column))) } } } } }
                tbody { @for group in &groups { (row(grid, group)) } }
            }
        }
        @for group in groups.iter().filter(|group| group.light != Light::Green) { (evidence(grid, group)) }
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
fn evidence(grid: &Grid, group: &Group) -> Markup {
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
                ul { @for (column, cell) in bad(row) { li { (run(grid, row, column, cell)) } } }
            }
        }
    }
}

fn run(grid: &Grid, row: usize, column: usize, cell: &Cell) -> Markup {
    let show = call(&["show".to_owned(), format!("{}/{}", cell.session, grid.rows[row].case)]);
    let times = if cell.runs > 1 {
        format!(", {} of {} Runs failed", cell.failures, cell.runs)
    } else {
        String::new()
    };
    html! {
        (text(label(&grid.columns[column]))) ": " (cell.outcome.name()) (times) " " (text(&cell.reason)) " "
        code { (text(show)) }
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
