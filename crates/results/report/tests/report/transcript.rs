//! What is printed of an experiment, also where a guest has written what it records.

use std::path::PathBuf;
use std::time::Duration;

use judge::{Blame, Outcome, Run};
use lab::Event;
use lab::event::Session;
use report::{Json, Junit, Ktap, Transcript};
use script::Figure;
use serde_json::json;

use crate::sessions::{emit, events, run, session};
use crate::snapshots::written;

const CASE: &str = "exp/odd\u{1b}[2Jname";

/// What a script records of a guest that writes what a terminal obeys.
fn records() -> Vec<script::Event> {
    let hostile = "two\nlines\u{1b}[2J\u{202e}".to_string();
    let rows = vec![vec![json!("none"), json!(2.5)], vec![json!(hostile), json!(0)]];
    vec![
        script::Event::Started { step: "first".into(), resumed: true },
        script::Event::Metric(Figure { name: "cost".into(), value: 2.5 }),
        script::Event::Note { text: hostile.clone() },
        script::Event::Table { name: "t".into(), columns: vec!["a".into(), "b".into()], rows },
        script::Event::Started { step: "second".into(), resumed: false },
        script::Event::Finding { text: hostile, values: serde_json::Map::new() },
        script::Event::Ended {
            step: "second".into(),
            outcome: Outcome::Fail,
            reason: Some("it is 2".into()),
        },
    ]
}

/// A session of an experiment with this Run, or one that was interrupted.
fn of(run: Option<Run>) -> Vec<Event> {
    let session = Session { kernel: "deb:6.1.0-56-cloud-amd64".into(), ..session("exp", &[CASE]) };
    let interrupted = run.is_none();
    let mut events = events(session, run.into_iter().collect(), interrupted);
    let recorded = records().into_iter().map(|record| Event::Recorded { case: CASE.into(), record });
    let note = Event::Note { text: "goes on".into() };
    events.splice(1..1, std::iter::once(note).chain(recorded));
    events
}

fn failed() -> Run {
    let evidence = ["experiment.star:3:5: it is 2", "   3 | expect(x == 1)", "x = \u{1b}[2J2"];
    Run {
        evidence: evidence.map(str::to_string).to_vec(),
        output: "step first\n".into(),
        duration: Duration::from_secs(3),
        boot: 0,
        end: None,
        ..run(CASE, Outcome::Fail, "it is 2")
    }
}

fn transcript(events: &[Event], colour: bool) -> String {
    let new = |out| Transcript::new(out, colour, (PathBuf::from("/results/17"), "17".to_string()));
    written!(events, new)
}

#[test]
fn an_experiment_in_each_form() {
    insta::assert_snapshot!("experiment-human", transcript(&of(Some(failed())), false));
    insta::assert_snapshot!("experiment-json", written!(of(Some(failed())), Json::new));
    insta::assert_snapshot!("experiment-junit", written!(of(Some(failed())), Junit::new));
    insta::assert_snapshot!("experiment-ktap", written!(of(Some(failed())), Ktap::new));
}

#[test]
fn what_it_concludes_is_said_with_who_broke_it_and_how_it_goes_on() {
    let text = |run| transcript(&of(run), false);
    let broken =
        Run { blame: Some(Blame::Case), evidence: Vec::new(), ..run(CASE, Outcome::Broken, "no such name") };
    assert!(text(Some(broken)).contains(", by case\n        no such name\n        replay  kiln replay 17\n"));
    assert!(!text(Some(run(CASE, Outcome::Pass, ""))).contains("replay"));
    assert!(
        text(None)
            .ends_with("interrupted after 1 min 2 s; the same call goes on after the last complete step\n")
    );
}

#[test]
fn nothing_in_it_acts_on_a_terminal() {
    let text = transcript(&of(Some(failed())), false);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{text:?}");
    assert_eq!(report::safe(&transcript(&of(Some(failed())), true)), text);
}

#[test]
fn what_a_script_records_is_in_the_json_as_it_was() {
    let text = written!(of(Some(failed())), Json::new);
    let back: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(back, of(Some(failed())));
}
