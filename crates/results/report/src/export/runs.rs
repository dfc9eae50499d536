//! A row for each Run.

use ledger::KnownRun;

use super::columns::{Cell, Column, Columns};

/// The columns of Runs.
#[must_use]
pub fn runs() -> Columns<KnownRun> {
    let column = |name, cell| Column { name, cell };
    Columns(vec![
        column("session", Cell::Text(|run: &KnownRun| &run.session)),
        column("origin", Cell::OptionalText(|run| run.origin.as_deref())),
        column("started", Cell::Time(|run| run.started)),
        column("locator", Cell::Text(|run| &run.locator)),
        column("kernel", Cell::Text(|run| &run.kernel)),
        column("release", Cell::OptionalText(|run| run.release.as_deref())),
        column("identity", Cell::Text(|run| &run.identity)),
        column("parameters", Cell::OptionalText(|run| run.parameters.as_deref())),
        column("machine", Cell::Text(|run| &run.machine)),
        column("suite", Cell::Text(|run| &run.suite)),
        column("case", Cell::Text(|run| &run.case)),
        column("is_boot", Cell::Flag(|run| run.is_boot)),
        column("outcome", Cell::Text(|run| run.outcome.name())),
        column("blame", Cell::OptionalText(|run| run.blame.as_deref())),
        column("reason", Cell::Text(|run| &run.reason)),
        column("signature", Cell::OptionalText(|run| run.signature.as_deref())),
        column("duration_seconds", Cell::Number(|run| run.duration.as_secs_f64())),
        column("runs", Cell::Count(|run| run.runs)),
        column("failures", Cell::Count(|run| run.failures)),
    ])
}
