//! What `kiln export` writes: sessions for other programs.
//!
//! * JSON lines: what was reported in each session, as [`Json`](crate::Json) writes it. The first event of a session, `planned`,
//!   has its `origin`, the `host` that ran it and the name of the `session` there: `kiln import` makes the same session of it
//! * [`Kcidb`]: for KernelCI's database
//! * [`runs_csv`] and [`runs_parquet`]: a row for each Run, with the columns of `columns`

mod columns;
mod kcidb;
mod parquet;

use std::io::{self, Write};

use lab::Event;
use ledger::KnownRun;

use crate::csv::Table;
use crate::json::line;
use columns::{COLUMNS, Cell};

pub use kcidb::{Kcidb, is_origin};
pub use parquet::runs_parquet;

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

/// Writes a row for each Run, as RFC 4180 has them; without a value a field is empty.
///
/// # Errors
///
/// When `out` does not take it.
pub fn runs_csv(runs: &[KnownRun], out: impl Write) -> io::Result<()> {
    let mut table = Table::new(&COLUMNS.map(|column| column.name), out)?;
    for run in runs {
        table.record(&COLUMNS.map(|column| match column.cell {
            Cell::Text(text) => text(run).to_owned(),
            Cell::Optional(text) => text(run).unwrap_or_default().to_owned(),
            Cell::Time(time) => time(run).to_string(),
            Cell::Seconds(seconds) => seconds(run).to_string(),
            Cell::Count(count) => count(run).to_string(),
            Cell::Flag(flag) => flag(run).to_string(),
        }))?;
    }
    table.finish()
}

#[cfg(test)]
pub(crate) mod tests;
