//! A ledger for tests.

use std::time::Duration;

use jiff::Timestamp;
use judge::{Outcome, Summary};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Size;
use report::ShownLine;
use slurm::Submitted;
use verdict::problem;
use watch::Change;

use crate::look::{
    ChangeRow, Child, Look, News, Offer, OfferedKernel, OfferedSuite, ProblemRow, RunRow, SessionRow,
    SessionState,
};
use crate::state::{Effect, Input, Options, State};

/// When all tests happen.
pub(crate) fn now() -> Timestamp {
    "2026-11-29T10:05:00Z".parse().expect("a time")
}

fn session(name: &str, state: SessionState) -> SessionRow {
    SessionRow {
        name: name.to_owned(),
        locator: Some("deb:6.1.0-56-cloud-amd64".to_owned()),
        kernel: "6.1.0-56-cloud-amd64".to_owned(),
        suite: "smoke".to_owned(),
        machine: "QEMU with TCG, 1 CPU, 1024 MiB".to_owned(),
        started: "2026-11-29T10:00:00Z".parse().expect("a time"),
        state,
        done: 45,
        cases: 97,
        summary: Summary { pass: 44, fail: 1, ..Summary::default() },
        wrong: vec![("pipe/full".to_owned(), "is 0, expected 4096".to_owned())],
    }
}

fn problem(id: &str, state: problem::State, signature: &str) -> ProblemRow {
    ProblemRow {
        id: id.to_owned(),
        state,
        standing: state.name().to_owned(),
        signature: signature.to_owned(),
        failures: 7,
        seen_on: "6.1.0-52-cloud-amd64 to 6.1.0-56-cloud-amd64".to_owned(),
        last: now(),
        outcome: Outcome::Fail,
        session: "2026-11-29T09-00-00Z-7".to_owned(),
        case: "pipe/full".to_owned(),
    }
}

fn change(news: News, what: &str) -> ChangeRow {
    ChangeRow {
        news,
        suite: "smoke".to_owned(),
        what: what.to_owned(),
        before: ("6.1.0-55-cloud-amd64".to_owned(), "pass".to_owned()),
        after: ("6.1.0-56-cloud-amd64".to_owned(), "fail".to_owned()),
        why: "is 0, expected 4096".to_owned(),
        session: "2026-11-29T09-00-00Z-7".to_owned(),
        case: "pipe/full".to_owned(),
    }
}

/// Something of everything.
pub(crate) fn look() -> Look {
    let running = SessionState::Running {
        cases: vec!["fs/xfs-remembers".to_owned(), "fs/btrfs-remembers".to_owned()],
        left: Some(Duration::from_secs(342)),
    };
    let ended = SessionState::Ended { took: Duration::from_secs(75) };
    let well = SessionRow {
        done: 97,
        summary: Summary { pass: 96, skip: 1, ..Summary::default() },
        wrong: Vec::new(),
        ..session("2026-11-28T09-00-00Z-5", ended.clone())
    };
    Look {
        sessions: vec![
            session("2026-11-29T09-00-00Z-7", ended),
            session("2026-11-29T10-00-00Z-8", running),
            session("2026-11-29T08-00-00Z-6", SessionState::Stopped),
            well,
        ],
        queued: vec![Submitted { name: "kiln-2026-11-29T09-30-00Z-9".to_owned(), jobs: 16, answered: 5 }],
        changes: vec![
            change(News::Problem, "pipe/full: fail: is #, expected #"),
            change(News::Case(Change::Worse), "pipe/full"),
            change(News::Case(Change::Better), "inet/loopback"),
        ],
        problems: vec![
            problem("4f1c9a0e6b7d", problem::State::Open, "pipe/full: fail: is #, expected #"),
            problem("0123456789ab", problem::State::Closed, "the boot: crash: Kernel panic"),
        ],
    }
}

/// Runs of a session.
pub(crate) fn runs() -> Vec<RunRow> {
    let run = |case: &str, outcome, why: &str| RunRow {
        case: case.to_owned(),
        outcome,
        duration: Duration::from_millis(425),
        why: why.to_owned(),
    };
    vec![
        run("fs/xfs-remembers", Outcome::Pass, ""),
        run("pipe/full", Outcome::Fail, "is 0, expected 4096"),
        run("kvm/runs", Outcome::Skip, "needs KVM"),
    ]
}

/// The text about a Run.
pub(crate) fn lines() -> Vec<ShownLine> {
    let line = |text: &str, is_report| ShownLine {
        pieces: vec![(anstyle::Style::new(), text.to_owned())],
        is_report,
    };
    let mut lines = vec![line("fail: pipe/full", false), line("is 0, expected 4096", false), line("", false)];
    lines.push(line("kernel log", false));
    lines.extend((0..40).map(|at| line(&format!("  [    0.{at:06}] usb 1-1: device {at}"), false)));
    lines.push(line("  [    1.000000] WARNING: CPU: 0 PID: 7 at fs/pipe.c:12 pipe_write+0x10/0x400", true));
    lines
}

/// What can be started.
pub(crate) fn offer() -> Offer {
    let kernel = |locator: &str, about: &str| OfferedKernel { locator: locator.into(), about: about.into() };
    let suite = |name: &str, cases| OfferedSuite { name: name.into(), cases };
    Offer {
        kernels: vec![
            kernel("deb:6.12.117+deb12-cloud-amd64", "6.12.117, cached"),
            kernel("built:1f2e", "6.17.0, built"),
        ],
        suites: vec![suite("smoke", 97), suite("races", 12)],
    }
}

/// A kiln that was started.
pub(crate) fn child(id: u32, ended: Option<&str>) -> Child {
    Child {
        id,
        arguments: ["run", "deb:6.1.0-56-cloud-amd64", "--suite", "smoke"].map(str::to_owned).to_vec(),
        ended: ended.map(str::to_owned),
        said: "kiln: asking apt".to_owned(),
    }
}

/// A state that knows all of it.
pub(crate) fn state(columns: u16, rows: u16) -> State {
    let options = Options { colour: false, mascot: false, results: None };
    let mut state = State::new(options, Size::new(columns, rows), now());
    state.on(Input::Look(Box::new(look())));
    state
}

/// Presses keys: characters, or `<Enter>` and the like for others.
pub(crate) fn press(state: &mut State, keys: &str) -> Vec<Effect> {
    let named = |name: &str| match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Right" => KeyCode::Right,
        other => panic!("no key {other}"),
    };
    let mut effects = Vec::new();
    let mut rest = keys;
    while let Some(first) = rest.chars().next() {
        let (code, length) = match rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
            Some((name, _)) => (named(name), name.len() + 2),
            None => (KeyCode::Char(first), first.len_utf8()),
        };
        rest = &rest[length..];
        effects.extend(state.on(Input::Key(KeyEvent::from(code))));
    }
    effects
}

/// Opens the first Run of the first session.
pub(crate) fn open_run(state: &mut State) {
    press(state, "<Enter>");
    let session = "2026-11-29T10-00-00Z-8".to_owned();
    state.on(Input::Runs { session: session.clone(), runs: Ok(runs()) });
    press(state, "<Enter>");
    state.on(Input::Run { session, case: "pipe/full".to_owned(), lines: Ok(lines()) });
}

/// What a terminal of the state's size shows.
pub(crate) fn drawn(state: &State) -> String {
    let mut terminal =
        Terminal::new(TestBackend::new(state.size.width, state.size.height)).expect("a terminal");
    terminal.draw(|frame| crate::draw(state, frame)).expect("drawn");
    let buffer = terminal.backend().buffer();
    let line = |y| {
        let symbols = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol());
        symbols.collect::<String>().trim_end().to_owned()
    };
    (0..buffer.area.height).map(line).collect::<Vec<_>>().join("\n")
}
