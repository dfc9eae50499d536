//! What `kiln export` writes: sessions for other programs.
//!
//! * JSON lines: what was reported in each session, as [`Json`](crate::Json) writes it. The first event of a session, `planned`,
//!   has its `origin`, the `host` that ran it and the name of the `session` there: `kiln import` makes the same session of it
//! * [`Kcidb`]: for KernelCI's database
//! * [`Columns`]: tables as CSV and Parquet: of [`runs()`], with a row for each Run, and of [`samples()`], with one for each sample of measurements

mod columns;
mod kcidb;
mod parquet;
mod runs;
mod samples;

use std::io::{self, Write};

use lab::Event;

use crate::csv::{Table, number};
use crate::json::line;
use columns::Cell;

pub use columns::Columns;
pub use kcidb::{Kcidb, is_origin};
pub use runs::runs;
pub use samples::{Sample, sample_columns, samples};

/// Writes what was reported in a session as JSON lines.
///
/// # Errors
///
/// When `out` does not take it.
pub fn session_json(events: impl Iterator<Item = Event>, mut out: impl Write) -> io::Result<()> {
    for event in events {
        out.write_all(line(&event)?.as_bytes())?;
    }
    Ok(())
}

impl<R> Columns<R> {
    /// Writes a row for each, as RFC 4180 has them; without a value a field is empty.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn csv(&self, rows: &[R], out: impl Write) -> io::Result<()> {
        let names: Vec<&str> = self.0.iter().map(|column| column.name).collect();
        let mut table = Table::new(&names, out)?;
        for row in rows {
            let fields: Vec<String> = self.0.iter().map(|column| field(&column.cell, row)).collect();
            table.record(&fields)?;
        }
        table.finish()
    }

    /// Writes a row for each as Apache Parquet; without a value a field is null. Texts are as they were reported, whatever a terminal
    /// makes of them.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn parquet(&self, rows: &[R], out: impl Write + Send) -> io::Result<()> {
        parquet::write(&self.0, rows, out).map_err(io::Error::other)
    }
}

/// What a line has of a row in a column.
fn field<R>(cell: &Cell<R>, row: &R) -> String {
    match cell {
        Cell::Text(text) => text(row).to_owned(),
        Cell::OptionalText(text) => text(row).unwrap_or_default().to_owned(),
        Cell::Time(time) => time(row).to_string(),
        Cell::Number(value) => number(Some(value(row))),
        Cell::OptionalNumber(value) => number(value(row)),
        Cell::Count(count) => count(row).to_string(),
        Cell::Flag(flag) => flag(row).to_string(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
