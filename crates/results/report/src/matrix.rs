//! What `kiln matrix` prints.
//!
//! * [`text()`]: a grid for people; [`html`]: the same as a page; [`markdown`]: as Markdown; [`json`]: for programs

mod page;
mod text;

use std::collections::BTreeSet;
use std::io::{self, Write};

use matrix::{Column, Grid, Group, Light, groups};
use serde::Serialize;

use crate::html::short;
use crate::json::document;
use crate::markdown::{Document as Markdown, Wrap, Writer, prose};
use crate::words::cases;

pub use page::{Lead, html, legend, one};
pub use text::text;

/// Names of a group that are written out.
const NAMES: usize = 2;

/// A grid as programs get it.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    grid: &'a Grid,
    groups: Vec<Group>,
}

/// Prints grids for programs.
///
/// # Errors
///
/// When `out` does not take it.
pub fn json(grids: &[Grid], out: impl Write) -> io::Result<()> {
    let all: Vec<Document<'_>> = grids.iter().map(|grid| Document { grid, groups: groups(grid) }).collect();
    document(&all, out)
}

/// Grids as Markdown: each as text in a block. `typed` is what the user typed.
///
/// # Errors
///
/// None: memory takes it.
pub fn markdown(grids: &[Grid], typed: &str, wrap: Wrap) -> io::Result<Markdown> {
    let mut writer = Writer::new(wrap);
    writer.block(typed);
    for grid in grids {
        writer.heading(2, &prose(short(&grid.suite)));
        let mut lines = Vec::new();
        text(std::slice::from_ref(grid), false, false, &mut lines)?;
        writer.block(&String::from_utf8_lossy(&lines));
    }
    Ok(writer.document(&title(grids)))
}

/// What the grids are of.
fn title(grids: &[Grid]) -> String {
    let names: Vec<String> = grids.iter().map(|grid| short(&grid.suite)).collect();
    format!("Matrix of {}", names.join(", "))
}

/// The cases of a group: `fs/reflink`, `fs/copy, fs/reflink`, `38 cases`.
fn name(grid: &Grid, group: &Group) -> String {
    match group.rows.len() {
        count if count > NAMES => format!("{count} cases"),
        _ => group.rows.iter().map(|&row| grid.rows[row].case.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// What a grid comes to: `smoke: 41 cases on 10 kernels; different between kernels: 1, failing: 2, uncertain: 0`.
fn sum(grid: &Grid, groups: &[Group]) -> String {
    let of = |wanted: &dyn Fn(&Group) -> bool| -> usize {
        groups.iter().filter(|group| wanted(group)).map(|group| group.rows.len()).sum()
    };
    let changed = of(&|group| !group.changes.is_empty());
    let failing = of(&|group| group.light == Light::Red);
    let amber = of(&|group| group.light == Light::Amber);
    let missing = match (0..grid.columns.len()).filter(|&column| !grid.is_tested(column)).count() {
        0 => String::new(),
        missing => format!(", {missing} of {} columns not tested", grid.columns.len()),
    };
    let kernels: BTreeSet<&str> = grid.columns.iter().map(|column| column.kernel.as_str()).collect();
    let sets: BTreeSet<&str> = grid.columns.iter().map(|column| column.parameters.as_str()).collect();
    let sets =
        if sets.len() > 1 { format!(" with {} sets of parameters", sets.len()) } else { String::new() };
    format!(
        "{}{}: {} on {}{sets}{missing}; different between kernels: {changed}, failing: {failing}, uncertain: {amber}",
        grid.suite,
        if grid.setting.is_empty() { String::new() } else { format!(" ({})", grid.setting) },
        cases(grid.rows.iter().filter(|row| !row.is_boot).count()),
        if kernels.len() == 1 { "1 kernel".to_owned() } else { format!("{} kernels", kernels.len()) },
    )
}

/// A kernel with its parameters.
fn label(column: &Column) -> String {
    format!("{} {}", column.release, column.parameters).trim_end().to_owned()
}

/// The cell of a group that shows best what it is about: the last that changed for the worse, or the last that is not well.
fn telling(grid: &Grid, group: &Group) -> Option<(usize, usize)> {
    let row = *group.rows.first()?;
    let is_bad = |&column: &usize| {
        let cell = grid.rows[row].cells[column].as_ref();
        cell.is_some_and(|cell| !cell.outcome.is_well())
    };
    let changed = group.changes.iter().rev().copied().find(|column| is_bad(column));
    changed
        .or_else(|| (0..grid.columns.len()).rev().find(|column| is_bad(column)))
        .map(|column| (row, column))
}
