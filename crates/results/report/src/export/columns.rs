//! The columns of a table of Runs.

use jiff::Timestamp;
use ledger::KnownRun;

/// A column.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) cell: Cell,
}

/// What of a Run is in it.
#[derive(Clone, Copy)]
pub(super) enum Cell {
    Text(fn(&KnownRun) -> &str),
    Optional(fn(&KnownRun) -> Option<&str>),
    Time(fn(&KnownRun) -> Timestamp),
    Seconds(fn(&KnownRun) -> f64),
    Count(fn(&KnownRun) -> u32),
    Flag(fn(&KnownRun) -> bool),
}

/// All of them.
pub(super) const COLUMNS: [Column; 19] = [
    Column { name: "session", cell: Cell::Text(|run| &run.session) },
    Column { name: "origin", cell: Cell::Optional(|run| run.origin.as_deref()) },
    Column { name: "started", cell: Cell::Time(|run| run.started) },
    Column { name: "locator", cell: Cell::Text(|run| &run.locator) },
    Column { name: "kernel", cell: Cell::Text(|run| &run.kernel) },
    Column { name: "release", cell: Cell::Optional(|run| run.release.as_deref()) },
    Column { name: "identity", cell: Cell::Text(|run| &run.identity) },
    Column { name: "parameters", cell: Cell::Optional(|run| run.parameters.as_deref()) },
    Column { name: "machine", cell: Cell::Text(|run| &run.machine) },
    Column { name: "suite", cell: Cell::Text(|run| &run.suite) },
    Column { name: "case", cell: Cell::Text(|run| &run.case) },
    Column { name: "is_boot", cell: Cell::Flag(|run| run.is_boot) },
    Column { name: "outcome", cell: Cell::Text(|run| run.outcome.name()) },
    Column { name: "blame", cell: Cell::Optional(|run| run.blame.as_deref()) },
    Column { name: "reason", cell: Cell::Text(|run| &run.reason) },
    Column { name: "signature", cell: Cell::Optional(|run| run.signature.as_deref()) },
    Column { name: "duration_seconds", cell: Cell::Seconds(|run| run.duration.as_secs_f64()) },
    Column { name: "runs", cell: Cell::Count(|run| run.runs) },
    Column { name: "failures", cell: Cell::Count(|run| run.failures) },
];
