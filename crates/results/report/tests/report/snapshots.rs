//! What each report makes of a session.

use std::path::PathBuf;

use lab::Event;
use report::{Human, Json, Junit, Ktap, Plain};

use crate::sessions::{emit, empty, exec, interrupted, no_boot, one_defect, rich};

/// What a report writes about `events`.
macro_rules! written {
    ($events:expr, $new:expr) => {{
        let mut out = Vec::new();
        let mut report = $new(&mut out);
        emit(&mut report, &$events);
        report.finish().unwrap();
        String::from_utf8(out).unwrap()
    }};
}
pub(crate) use written;

fn human(events: &[Event], colour: bool) -> String {
    let human =
        |out| Human::new(out, colour, Some(PathBuf::from("/results/17"))).replayed_as("17".to_string());
    written!(events, human)
}

#[test]
fn all_outcomes() {
    insta::assert_snapshot!("rich-human", human(&rich(), false));
    insta::assert_snapshot!("rich-plain", written!(rich(), Plain::new));
    insta::assert_snapshot!("rich-ktap", written!(rich(), Ktap::new));
    insta::assert_snapshot!("rich-junit", written!(rich(), Junit::new));
    insta::assert_snapshot!("rich-json", written!(rich(), Json::new));
}

#[test]
fn a_kernel_that_does_not_boot() {
    insta::assert_snapshot!("no-boot-human", human(&no_boot(), false));
    insta::assert_snapshot!("no-boot-plain", written!(no_boot(), Plain::new));
    insta::assert_snapshot!("no-boot-ktap", written!(no_boot(), Ktap::new));
    insta::assert_snapshot!("no-boot-junit", written!(no_boot(), Junit::new));
}

#[test]
fn a_program() {
    insta::assert_snapshot!("exec-human", human(&exec(), false));
    insta::assert_snapshot!("exec-plain", written!(exec(), Plain::new));
    insta::assert_snapshot!("exec-ktap", written!(exec(), Ktap::new));
    insta::assert_snapshot!("exec-junit", written!(exec(), Junit::new));
}

#[test]
fn a_defect_is_shown_once_and_whole() {
    let text = human(&one_defect(), false);
    // Also where another report came with it.
    assert_eq!(
        (text.matches("WARNING in one+0x1").count(), text.matches("WARNING in two+0x1").count()),
        (2, 1)
    );
    assert!(text.contains("fail    mm/e"), "{text}");
    // The one that was repeated says how often it comes.
    let repeated = text.split("fail    ").find(|block| block.starts_with("mm/d")).unwrap_or_default();
    assert!(repeated.contains("        consistent: 4 of 4"), "{text}");
    assert!(repeated.contains("        the same in 2 more cases: fs/b fs/a\n"), "{text}");
    // A title without a place may stand for two defects.
    assert_eq!(text.matches("BUG: Bad page state+0x1").count(), 2, "{text}");
}

#[test]
fn nothing() {
    insta::assert_snapshot!("empty-human", human(&empty(), false));
    insta::assert_snapshot!("empty-plain", written!(empty(), Plain::new));
    insta::assert_snapshot!("empty-ktap", written!(empty(), Ktap::new));
    insta::assert_snapshot!("empty-junit", written!(empty(), Junit::new));
    insta::assert_snapshot!("empty-json", written!(empty(), Json::new));
}

#[test]
fn an_interrupted_session() {
    insta::assert_snapshot!("interrupted-human", human(&interrupted(), false));
    insta::assert_snapshot!("interrupted-plain", written!(interrupted(), Plain::new));
    insta::assert_snapshot!("interrupted-ktap", written!(interrupted(), Ktap::new));
}

#[test]
fn colours_are_added_and_change_nothing_else() {
    let coloured = human(&rich(), true);
    assert_ne!(coloured, human(&rich(), false));
    assert_eq!(report::safe(&coloured), human(&rich(), false));
}

#[test]
fn the_console_is_in_the_json_only_when_asked_for() {
    let count = |text: String| text.matches("\"event\":\"console\"").count();
    assert_eq!(count(written!(rich(), Json::new)), 0);
    assert_eq!(count(written!(rich(), |out| Json::new(out).with_console())), 2);
}

#[test]
fn json_lines_are_the_events() {
    let text = written!(rich(), |out| Json::new(out).with_console());
    let back: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(back, rich());
}
