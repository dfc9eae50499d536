//! Tables for other programs: a row for each of something, with these columns.

use jiff::Timestamp;

/// The columns of a table with a row for each `R`.
#[derive(Debug)]
pub struct Columns<R>(pub(super) Vec<Column<R>>);

/// A column.
#[derive(Debug)]
pub(super) struct Column<R> {
    pub(super) name: &'static str,
    pub(super) cell: Cell<R>,
}

/// What of an `R` is in it.
#[derive(Debug)]
pub(super) enum Cell<R> {
    Text(fn(&R) -> &str),
    OptionalText(fn(&R) -> Option<&str>),
    Time(fn(&R) -> Timestamp),
    Number(fn(&R) -> f64),
    OptionalNumber(fn(&R) -> Option<f64>),
    Count(fn(&R) -> u32),
    Flag(fn(&R) -> bool),
}
