//! Sessions: those that were started from here and are not seen yet, those that run, jobs that wait, and those that have ended.

use std::time::Duration;

use jiff::Timestamp;
use judge::{Outcome, Summary};
use report::{clock, tally_text};
use slurm::Submitted;

use crate::look::{Child, Look, SessionRow, SessionState};
use crate::paint::{self, BOLD, DIM, Piece};
use crate::table::{Column, Row, Table, Target};

const COLUMNS: &[Column] = &[
    Column { head: "STATE", width: 7 },
    Column { head: "KERNEL", width: 24 },
    Column { head: "SUITE", width: 8 },
    Column { head: "DONE", width: 9 },
    Column { head: "TIME", width: 7 },
    Column { head: "RESULT", width: 0 },
];

/// What went wrong in a session is named so often.
const WRONG_MAX: usize = 2;

/// All sessions, with the kilns that were started from here.
pub(crate) fn table(look: &Look, children: &[Child], now: Timestamp) -> Table {
    let is_running = |row: &&SessionRow| matches!(row.state, SessionState::Running { .. });
    let (running, others): (Vec<_>, Vec<_>) = look.sessions.iter().partition(is_running);
    let is_seen = |child: &&Child| look.sessions.iter().any(|session| child.records(&session.name));
    let started = children.iter().filter(|child| !is_seen(child)).map(child_row);
    let mut rows: Vec<Row> = started.collect();
    rows.extend(running.into_iter().map(|session| session_row(session, now)));
    rows.extend(look.queued.iter().filter(|jobs| jobs.answered < jobs.jobs).map(queued_row));
    rows.extend(others.into_iter().map(|session| session_row(session, now)));
    Table { columns: COLUMNS, rows, empty: "no session yet; view 4 starts one" }
}

/// Sessions that run.
pub(crate) fn running(look: &Look) -> usize {
    look.sessions.iter().filter(|session| matches!(session.state, SessionState::Running { .. })).count()
}

fn session_row(session: &SessionRow, now: Timestamp) -> Row {
    let (word, style, time) = match &session.state {
        SessionState::Running { .. } => ("runs", BOLD, clock(elapsed(session, now))),
        SessionState::Ended { took } => ("ended", DIM, clock(*took)),
        SessionState::Stopped => ("stopped", DIM, String::new()),
    };
    let done = format!("{}/{}", session.done, session.cases);
    let cells = vec![
        Piece::new(style, word),
        Piece::plain(&session.kernel),
        Piece::plain(&session.suite),
        Piece::plain(done),
        Piece::plain(time),
        Piece::new(of_summary(session.summary), result(session)),
    ];
    Row {
        key: session.name.clone(),
        cells,
        details: details(session),
        opens: Some(Target::Session(session.name.clone())),
        command: ["report", &session.name, "-o", "report.html"].map(str::to_owned).into(),
    }
}

fn elapsed(session: &SessionRow, now: Timestamp) -> Duration {
    // The clock of another host may be ahead.
    Duration::try_from(now.duration_since(session.started)).unwrap_or_default()
}

fn result(session: &SessionRow) -> String {
    let tally = tally_text(session.summary);
    let left = match &session.state {
        SessionState::Running { left: Some(left), .. } => format!("{} left", clock(*left)),
        _ => String::new(),
    };
    [left, tally].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

fn of_summary(summary: Summary) -> ratatui::style::Style {
    let worst = Outcome::ALL.into_iter().find(|outcome| summary.of(*outcome) > 0);
    worst.map(|outcome| paint::style(report::style::of(outcome))).unwrap_or_default()
}

fn details(session: &SessionRow) -> Vec<String> {
    let began = session.started.strftime("%Y-%m-%d %H:%M:%S UTC");
    let first = format!("{}  {}  began {began}", session.name, session.machine);
    let running = match &session.state {
        SessionState::Running { cases, .. } if !cases.is_empty() => format!("running: {}", cases.join(", ")),
        _ => String::new(),
    };
    let mut wrong = session.wrong.iter().rev().take(WRONG_MAX);
    let line = |(case, why): &(String, String)| format!("{case}: {why}");
    let mut lines = vec![first];
    lines.extend([running].into_iter().filter(|line| !line.is_empty()));
    lines.extend(wrong.by_ref().map(line));
    lines
}

fn queued_row(jobs: &Submitted) -> Row {
    let cells = vec![
        Piece::new(BOLD, "queued"),
        Piece::plain(""),
        Piece::plain("Slurm"),
        Piece::plain(format!("{}/{}", jobs.answered, jobs.jobs)),
        Piece::plain(""),
        Piece::plain(&jobs.name),
    ];
    let details = vec![
        format!("{}: {} of {} jobs have answered", jobs.name, jobs.answered, jobs.jobs),
        "the kiln that submitted them takes their sessions in".to_owned(),
    ];
    Row { key: jobs.name.clone(), cells, details, opens: None, command: vec!["results".to_owned()] }
}

fn child_row(child: &Child) -> Row {
    let (word, style) = if child.ended.is_some() { ("ended", DIM) } else { ("starts", BOLD) };
    let argument = |at: usize| child.arguments.get(at).cloned().unwrap_or_default();
    let result = child.ended.iter().map(String::as_str).chain([child.said.as_str()]);
    let cells = vec![
        Piece::new(style, word),
        Piece::plain(argument(1)),
        Piece::plain(argument(3)),
        Piece::plain(""),
        Piece::plain(""),
        Piece::plain(result.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ")),
    ];
    Row {
        key: format!("process {}", child.id),
        cells,
        details: vec![format!("process {}, started from here", child.id), child.said.clone()],
        opens: None,
        command: child.arguments.clone(),
    }
}
