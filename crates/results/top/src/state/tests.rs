use proptest::prelude::*;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use watch::Change;

use super::*;
use crate::fixture::{child, drawn, lines, look, now, offer, open_run, press, runs, state};
use crate::look::{ChangeRow, News, OfferedKernel, ProblemRow, SessionRow, SessionState};

fn click(column: u16, row: u16) -> Input {
    let kind = MouseEventKind::Down(MouseButton::Left);
    Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
}

#[test]
fn enter_opens_a_session_and_then_a_run() {
    let mut state = state(80, 24);
    let session = "2026-11-29T10-00-00Z-8".to_owned();
    assert_eq!(press(&mut state, "<Enter>"), [Effect::ReadSession(session.clone())]);
    state.on(Input::Runs { session: session.clone(), runs: Ok(runs()) });
    assert_eq!(press(&mut state, "<Enter>"), [Effect::ReadRun { session, case: "pipe/full".to_owned() }]);
    press(&mut state, "<Esc><Esc>");
    assert!(state.pages.is_empty());
}

#[test]
fn a_click_selects_and_another_one_opens() {
    let mut state = state(80, 24);
    // The heads of the columns are in the second line of the terminal.
    assert_eq!(state.on(click(5, 4)), []);
    assert_eq!(state.on(click(5, 4)), [Effect::ReadSession("2026-11-29T09-00-00Z-7".to_owned())]);
    assert_eq!(state.on(click(30, 0)), []);
    assert!(state.pages.is_empty() && state.tab == Tab::Changes);
}

#[test]
fn what_is_selected_stays_so_when_a_session_comes() {
    let mut state = state(80, 24);
    press(&mut state, "jj");
    let selected = |state: &State| {
        let (table, list) = state.table().expect("a list");
        list.selected(table.rows.len()).map(|at| table.rows[at].key.clone())
    };
    let before = selected(&state);
    let mut more = look();
    let first = SessionRow { name: "2026-11-29T10-04-00Z-99".to_owned(), ..more.sessions[1].clone() };
    more.sessions.insert(0, first);
    let effects = state.on(Input::Look(Box::new(more)));
    assert_eq!((effects, selected(&state)), (Vec::new(), before));
}

#[test]
fn marked_kernels_are_started_with_marked_suites() {
    let mut state = state(80, 24);
    state.options.results = Some("./nightly".to_owned());
    assert_eq!(press(&mut state, "4"), [Effect::ReadOffer]);
    state.on(Input::Offer(offer()));
    let effects = press(&mut state, " j <Right>j <Enter>");
    let call = |kernel: &str| {
        ["run", kernel, "--suite", "races", "--results", "./nightly"].map(str::to_owned).to_vec()
    };
    let calls = vec![call("deb:6.12.117+deb12-cloud-amd64"), call("built:1f2e")];
    assert_eq!(effects, [Effect::Start(calls)]);
    assert_eq!(state.tab, Tab::Sessions);
}

#[test]
fn kernels_of_sessions_can_be_chosen_and_too_many_pairs_not() {
    let mut state = state(80, 24);
    press(&mut state, "4");
    let mut many = offer();
    let kernel = |at: usize| OfferedKernel { locator: format!("deb:{at}"), about: String::new() };
    many.kernels = (0..20).map(kernel).collect();
    state.on(Input::Offer(many));
    assert_eq!(state.start.offer.as_ref().map(|offer| offer.kernels.len()), Some(21));
    assert_eq!(press(&mut state, &" j".repeat(20)), []);
    assert_eq!(press(&mut state, "<Enter>"), []);
    assert!(state.note.starts_with("20 runs are chosen"), "{}", state.note);
}

#[test]
fn leaving_asks_about_what_was_started() {
    let mut state = state(80, 24);
    assert_eq!(press(&mut state, "q"), [Effect::Leave { stop: false }]);
    state.on(Input::Children(vec![child(9, None)]));
    assert_eq!(press(&mut state, "qxq"), []);
    assert_eq!(press(&mut state, "s"), [Effect::Leave { stop: true }]);
    assert_eq!(press(&mut state, "cqg"), [Effect::Leave { stop: false }]);
    state.on(Input::Children(vec![child(9, Some("exit code 0"))]));
    assert_eq!(press(&mut state, "cq"), [Effect::Leave { stop: false }]);
}

#[test]
fn keys_of_a_word_that_is_typed_mean_nothing_else() {
    let mut state = state(80, 24);
    open_run(&mut state);
    assert_eq!(press(&mut state, "/q?4"), []);
    assert!(drawn(&state).ends_with("/q?4"));
    press(&mut state, "<Esc>n");
    assert_eq!(state.pages.len(), 2);
    assert_eq!(press(&mut state, "q"), [Effect::Leave { stop: false }]);
}

#[test]
fn what_cannot_be_read_says_why() {
    let mut state = state(80, 24);
    press(&mut state, "2<Enter>");
    let (session, case) = ("2026-11-29T09-00-00Z-7".to_owned(), "pipe/full".to_owned());
    state.on(Input::Run { session, case, lines: Err("the folder is gone\x1b[2J".to_owned()) });
    assert!(drawn(&state).contains("the folder is gone\n"), "{}", drawn(&state));
}

/// Everything that matters to a terminal, often.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "\x1b[2J", "\u{9b}", "\r", "\n", "\t", "\u{202e}", "世", "e\u{301}", "--", "/", "'"
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,12}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn any_session() -> impl Strategy<Value = SessionRow> {
    let state = prop_oneof![
        (prop::collection::vec(hostile(), 0..3), any::<Option<u64>>()).prop_map(|(cases, left)| {
            SessionState::Running { cases, left: left.map(std::time::Duration::from_secs) }
        }),
        any::<u64>().prop_map(|took| SessionState::Ended { took: std::time::Duration::from_secs(took) }),
        Just(SessionState::Stopped),
    ];
    (hostile(), hostile(), state, any::<u32>(), any::<usize>(), hostile()).prop_map(
        |(name, kernel, state, done, cases, why)| SessionRow {
            suite: kernel.clone(),
            machine: why.clone(),
            locator: Some(kernel.clone()),
            wrong: vec![(name.clone(), why)],
            done: done as usize,
            name,
            kernel,
            state,
            cases,
            ..look().sessions[0].clone()
        },
    )
}

fn any_look() -> impl Strategy<Value = Input> {
    let sessions = prop::collection::vec(any_session(), 0..40);
    let texts = prop::collection::vec(hostile(), 0..20);
    (sessions, texts).prop_map(|(sessions, texts)| {
        let known = look();
        let change = |text: &String| ChangeRow {
            what: text.clone(),
            case: text.clone(),
            why: text.clone(),
            news: News::Case(Change::Worse),
            ..known.changes[0].clone()
        };
        let problem = |text: &String| ProblemRow {
            id: text.clone(),
            signature: text.clone(),
            seen_on: text.clone(),
            ..known.problems[0].clone()
        };
        let changes = texts.iter().map(change).collect();
        let problems = texts.iter().map(problem).collect();
        Input::Look(Box::new(Look { sessions, changes, problems, queued: known.queued.clone() }))
    })
}

/// What is opened by chance is answered by chance, too.
fn any_answer() -> impl Strategy<Value = Input> {
    let session = prop::sample::select(vec!["2026-11-29T10-00-00Z-8", "2026-11-29T09-00-00Z-7", ""]);
    let lines = prop_oneof![
        Just(Ok(lines())),
        prop::collection::vec(hostile(), 0..30).prop_map(|texts| {
            let line =
                |text: String| ShownLine { pieces: vec![(anstyle::Style::new(), text)], is_report: true };
            Ok(texts.into_iter().map(line).collect())
        }),
        hostile().prop_map(Err),
    ];
    prop_oneof![
        session.clone().prop_map(|session| Input::Runs { session: session.to_owned(), runs: Ok(runs()) }),
        (session, lines).prop_map(|(session, lines)| {
            Input::Run { session: session.to_owned(), case: "pipe/full".to_owned(), lines }
        }),
        Just(Input::Offer(offer())),
        Just(Input::Children(vec![child(8, None), child(9, Some("exit code 1"))])),
        hostile().prop_map(Input::Note),
        Just(Input::Now(now())),
    ]
}

fn any_key() -> impl Strategy<Value = Input> {
    let code = prop_oneof![
        4 => prop::sample::select("1234jkgGhl/nN?qcs ".chars().collect::<Vec<_>>()).prop_map(KeyCode::Char),
        1 => any::<char>().prop_map(KeyCode::Char),
        4 => prop::sample::select(vec![
            KeyCode::Enter, KeyCode::Esc, KeyCode::Backspace, KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right,
            KeyCode::PageUp, KeyCode::PageDown, KeyCode::Home, KeyCode::End, KeyCode::Tab, KeyCode::BackTab, KeyCode::F(1),
        ]),
    ];
    let modifiers = prop_oneof![9 => Just(KeyModifiers::NONE), 1 => Just(KeyModifiers::CONTROL)];
    (code, modifiers).prop_map(|(code, modifiers)| Input::Key(KeyEvent::new(code, modifiers)))
}

fn any_mouse() -> impl Strategy<Value = Input> {
    let kind = prop::sample::select(vec![
        MouseEventKind::Down(MouseButton::Left),
        MouseEventKind::Down(MouseButton::Right),
        MouseEventKind::ScrollUp,
        MouseEventKind::ScrollDown,
        MouseEventKind::Moved,
    ]);
    let place = prop_oneof![9 => 0..130u16, 1 => any::<u16>()];
    (kind, place.clone(), place).prop_map(|(kind, column, row)| {
        Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
    })
}

fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        6 => any_key(),
        2 => any_mouse(),
        2 => (0..140u16, 0..50u16).prop_map(|(columns, rows)| Input::Size(Size::new(columns, rows))),
        1 => any_look(),
        2 => any_answer(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_happens_is_drawn_and_harms_no_terminal(inputs in prop::collection::vec(any_input(), 1..40)) {
        let mut state = state(80, 24);
        state.options.mascot = true;
        for input in inputs {
            state.on(input);
            let shown = drawn(&state);
            prop_assert_eq!(shown.split('\n').count(), usize::from(state.size.height.max(1)));
            prop_assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
            prop_assert!(!shown.contains(['\u{202e}', '\u{9b}', '\x1b']), "{shown:?}");
        }
    }
}
