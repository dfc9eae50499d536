use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::*;
use crate::fixture::{child, drawn, offer, open_run, press, state};
use crate::state::Input;

#[test]
fn sessions_that_run_come_first() {
    let mut state = state(80, 24);
    state.on(Input::Children(vec![child(8, None), child(9, None), child(10, Some("exit code 2"))]));
    insta::assert_snapshot!("sessions-80x24", drawn(&state));
    let mut state = crate::fixture::state(120, 40);
    state.options.mascot = true;
    insta::assert_snapshot!("sessions-120x40", drawn(&state));
}

#[test]
fn what_changed_says_from_what_to_what() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut state = state(columns, rows);
        press(&mut state, "2j");
        insta::assert_snapshot!(format!("changes-{columns}x{rows}"), drawn(&state));
    }
}

#[test]
fn problems_say_where_they_stand() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut state = state(columns, rows);
        press(&mut state, "3");
        insta::assert_snapshot!(format!("problems-{columns}x{rows}"), drawn(&state));
    }
}

#[test]
fn a_session_shows_what_went_wrong_first() {
    let mut state = state(80, 24);
    open_run(&mut state);
    press(&mut state, "<Esc>");
    insta::assert_snapshot!("session-80x24", drawn(&state));
}

#[test]
fn lines_of_reports_stand_out_in_a_text_that_is_searched() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut state = state(columns, rows);
        open_run(&mut state);
        press(&mut state, "/pid<Enter>");
        insta::assert_snapshot!(format!("run-{columns}x{rows}"), drawn(&state));
    }
}

#[test]
fn what_is_marked_is_started_by_the_lines_that_are_shown() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut state = state(columns, rows);
        press(&mut state, "4");
        state.on(Input::Offer(offer()));
        press(&mut state, " j <Right>j ");
        insta::assert_snapshot!(format!("start-{columns}x{rows}"), drawn(&state));
    }
}

#[test]
fn keys_and_the_question_stand_above_the_rest() {
    let mut state = state(80, 24);
    press(&mut state, "?");
    insta::assert_snapshot!("help-80x24", drawn(&state));
    state.on(Input::Children(vec![child(9, None), child(10, None)]));
    press(&mut state, "q");
    insta::assert_snapshot!("leave-80x24", drawn(&state));
}

#[test]
fn a_small_terminal_keeps_the_list() {
    let state = state(40, 6);
    let shown = drawn(&state);
    assert!(shown.contains("> runs") && shown.lines().count() == 6, "{shown}");
}

#[test]
fn colours_are_left_out_where_nobody_wants_them() {
    let colours = |colour: bool| {
        let mut state = state(80, 24);
        state.options.colour = colour;
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a terminal");
        terminal.draw(|frame| draw(&state, frame)).expect("drawn");
        terminal.backend().buffer().content.iter().any(|cell| cell.fg != Color::Reset)
    };
    assert!(colours(true) && !colours(false));
}
