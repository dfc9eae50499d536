//! How the progress of bisections is shown.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bisect::Kind;
use bisect::{Answer, Belief, Point, Progress, Purpose};
use proptest::prelude::*;
use report::Bisecting;
use unicode_width::UnicodeWidthStr;

use crate::terminal::Terminal;

/// A file that can be looked at afterwards.
#[derive(Debug, Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn testing(point: Point, name: &str, times: u32, purpose: Purpose) -> Progress {
    Progress::Testing { point, name: name.into(), times, purpose }
}

fn tested(point: Point, name: &str, bad: u32, good: u32, reused: u32) -> Progress {
    let answer = Answer::Runs { bad, good };
    Progress::Tested { point, name: name.into(), answer, values: Vec::new(), reused }
}

fn hash(number: usize) -> String {
    format!("{:08x}", (number + 1) * 0x2a3_b4c5).repeat(5)
}

/// A search among `count` commits of which one in the middle is the most probable.
fn story(count: usize) -> Vec<Progress> {
    let middle = count / 2;
    let mut probabilities = vec![0.1 / count as f64; count];
    probabilities[middle] = 0.6;
    probabilities[middle + 1] = 0.3;
    let why = "does not build: ovl_old is not declared".to_owned();
    vec![
        Progress::Begun {
            kind: Kind::Commits,
            ends: ("v6.1".into(), "v6.2".into()),
            candidates: (0..count).map(hash).collect(),
            question: "the failure of fs/overlay-rename".into(),
            resumed: 2,
        },
        testing(Point::First, "v6.1", 14, Purpose::Ends),
        tested(Point::First, "v6.1", 0, 14, 14),
        testing(Point::Last, "v6.2", 14, Purpose::Ends),
        tested(Point::Last, "v6.2", 3, 11, 0),
        testing(Point::After(middle - 2), &hash(middle - 2), 20, Purpose::Search),
        tested(Point::After(middle - 2), &hash(middle - 2), 0, 20, 0),
        testing(Point::After(middle + 2), &hash(middle + 2), 20, Purpose::Search),
        Progress::Tested {
            point: Point::After(middle + 2),
            name: hash(middle + 2),
            answer: Answer::CannotTest(why),
            values: Vec::new(),
            reused: 0,
        },
        testing(Point::After(middle + 3), &hash(middle + 3), 20, Purpose::Search),
        tested(Point::After(middle + 3), &hash(middle + 3), 1, 0, 0),
        Progress::Belief(Belief {
            probabilities,
            steps: 3,
            steps_left: 1.84,
            time_left: Duration::from_secs(312),
            rate: (0.21, false),
        }),
        Progress::Note("the host is busy".into()),
        testing(Point::After(middle), &hash(middle), 20, Purpose::Search),
        Progress::Working("building: 1,204 of 3,000 files".into()),
    ]
}

fn log(story: &[Progress]) -> String {
    let file = File::default();
    let mut bisecting = Bisecting::plain(file.clone());
    story.iter().for_each(|progress| bisecting.on_event(progress));
    bisecting.finish().unwrap();
    let bytes = file.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

/// What stands on a terminal while the last thing is being done.
fn seen(story: &[Progress], width: fn() -> usize) -> Vec<String> {
    let terminal = Terminal::default();
    let mut bisecting = Bisecting::live(terminal.clone(), false, width);
    story.iter().for_each(|progress| bisecting.on_event(progress));
    let screen = terminal.wait(|screen| screen.iter().any(|line| line.contains("x20")));
    bisecting.finish().unwrap();
    assert_eq!(terminal.screen(), [&screen[..3], &[String::new()]].concat());
    screen
}

#[test]
fn without_a_terminal_there_is_a_line_for_each_test() {
    insta::assert_snapshot!("bisecting-plain", log(&story(40)));
}

#[test]
fn values_and_single_candidates_have_their_words() {
    let tested = Progress::Tested {
        point: Point::First,
        name: "base".into(),
        answer: Answer::Runs { bad: 1, good: 0 },
        values: vec![2_303.0, 2_303.5, 2_304.0, 1.0, 1.0, 1.0],
        reused: 1,
    };
    let begun = Progress::Begun {
        kind: Kind::Patches,
        ends: ("a".into(), "b".into()),
        candidates: vec!["1/1".into()],
        question: "a worse pipe/round-trip".into(),
        resumed: 0,
    };
    let wanted = "bisect  1 patch from a to b: a worse pipe/round-trip\n\
                  bad     base: 2,303 2,303.5 2,304 1 1 … (1 from earlier sessions)\n";
    assert_eq!(log(&[begun, tested]), wanted);
}

/// Clocks are left out: how long it takes on this host does not matter.
#[test]
fn a_terminal_shows_the_axis_while_it_works_and_keeps_the_notes() {
    let screen = seen(&story(40), || 40);
    let wanted = [
        "bisect  40 commits from v6.1 to v6.2: the failure of fs/overlay-rename",
        "resume  answers reused from an earlier session: 2",
        "note    the host is busy",
        "o················o···?x···············~",
        "                   █▄",
        "3 steps, ~1.8 left, 5 min 12 s  60 % 3…",
    ];
    assert_eq!(screen[..6].iter().map(|line| line.trim_end()).collect::<Vec<_>>(), wanted);
    assert_eq!(screen.len(), 7);
    assert!(screen.iter().skip(3).all(|line| line.width() < 40));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_name_is_a_command(evil in "[a-z\r\n\t\u{1b}\u{9b}\u{202e}\u{7}\\[\\]0-9;]{1,40}") {
        let mut story = story(40);
        for progress in &mut story {
            match progress {
                Progress::Begun { ends, candidates, question, .. } => {
                    *ends = (evil.clone(), evil.clone());
                    candidates.fill(evil.clone());
                    question.clone_from(&evil);
                }
                Progress::Testing { name, .. } => name.clone_from(&evil),
                Progress::Tested { name, answer, .. } => {
                    name.clone_from(&evil);
                    if let Answer::CannotTest(why) = answer {
                        why.clone_from(&evil);
                    }
                }
                Progress::Working(text) | Progress::Note(text) => text.clone_from(&evil),
                Progress::Belief(_) => {}
            }
        }
        let plain = log(&story);
        prop_assert!(plain.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{:?}", plain);
        prop_assert_eq!(plain.lines().count(), log(&self::story(40)).lines().count());
        // The screen checks what it is sent.
        let terminal = Terminal::default();
        let mut bisecting = Bisecting::live(terminal.clone(), false, || 40);
        story.iter().for_each(|progress| bisecting.on_event(progress));
        bisecting.finish().unwrap();
        terminal.screen();
    }
}
