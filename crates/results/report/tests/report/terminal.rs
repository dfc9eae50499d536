//! Nothing that a guest sends reaches a terminal as a command.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use judge::Outcome;
use judge::json::Seconds;
use lab::event::Session;
use lab::{Event, Listener};
use proptest::prelude::*;
use report::{Human, Json, Live, Plain};

use crate::sessions::{emit, events, rich, run, session};
use crate::snapshots::written;
use crate::streams::stream;

/// A terminal that keeps what it was sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terminal(Arc<Mutex<Vec<u8>>>);

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Terminal {
    /// The lines that a person sees; understands only what the live view may send.
    pub(crate) fn screen(&self) -> Vec<String> {
        let sent = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let mut lines: Vec<Vec<char>> = vec![Vec::new()];
        let (mut row, mut column, mut rest) = (0, 0, sent.as_str());
        while let Some(c) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("\x1b[K") {
                lines[row].truncate(column);
                rest = after;
                continue;
            }
            if let Some(after) = rest.strip_prefix("\x1b[J") {
                lines[row].truncate(column);
                lines.truncate(row + 1);
                rest = after;
                continue;
            }
            if let Some((up, after)) = rest.strip_prefix("\x1b[").and_then(|rest| rest.split_once('A')) {
                row -= up.parse::<usize>().unwrap();
                rest = after;
                continue;
            }
            match c {
                '\r' => column = 0,
                '\n' => {
                    (row, column) = (row + 1, 0);
                    if row == lines.len() {
                        lines.push(Vec::new());
                    }
                }
                _ => {
                    assert!(!c.is_control(), "{c:?} in {sent:?}");
                    let line = &mut lines[row];
                    line.splice(column..(column + 1).min(line.len()), [c]);
                    column += 1;
                }
            }
            rest = &rest[c.len_utf8()..];
        }
        lines.into_iter().map(|line| line.into_iter().collect()).collect()
    }

    /// What a person sees once `is_there` says so, which must not take long.
    pub(crate) fn wait(&self, is_there: impl Fn(&[String]) -> bool) -> Vec<String> {
        for _ in 0..10_000 {
            let screen = self.screen();
            if is_there(&screen) {
                return screen;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{:?}", self.screen());
    }
}

pub(crate) fn seen(events: &[Event]) -> Vec<String> {
    let terminal = Terminal::default();
    let mut live = Live::new(terminal.clone(), false, || 40);
    emit(&mut live, events);
    live.finish().unwrap();
    terminal.screen()
}

#[test]
fn failures_stay_and_the_status_line_goes() {
    insta::assert_snapshot!("rich-live", seen(&rich()).join("\n"));
}

#[test]
fn the_status_line_shows_what_is_running() {
    let terminal = Terminal::default();
    let mut live = Live::new(terminal.clone(), false, || 40);
    let events =
        events(session("all", &["pipe/full", "mm/oops"]), vec![run("pipe/full", Outcome::Pass, "")], false);
    emit(&mut live, &events[..3]);
    emit(&mut live, &[Event::Started { case: "mm/oops".into(), clone: 0 }]);
    terminal.wait(|screen| screen == ["1/2  1 pass  0:00  mm/oops"]);
    drop(live);
    assert_eq!(terminal.screen(), [""]);
}

proptest! {
    #[test]
    fn no_report_sends_control_characters(stream in stream()) {
        let events = stream.events();
        let texts = [
            written!(events, Plain::new),
            written!(events, |out| Human::new(out, false, None)),
            written!(events, |out| Json::new(out).with_console()),
        ];
        for text in texts {
            prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", text);
        }
        // The screen checks what it is sent.
        seen(&events);
    }
}

#[test]
fn the_plan_names_the_time_that_is_expected() {
    let expected = [("fs/a", 300), ("fs/b", 20)]
        .map(|(case, time)| (case.to_string(), Seconds(Duration::from_secs(time))));
    let planned = Session { expected: expected.into(), jobs: 1, ..session("full", &["fs/a", "fs/b"]) };
    let planned = Event::Planned(Box::new(planned));
    let says = "about 5 min 20 s, fs/a alone takes 5 min 0 s";
    let mut out = Vec::new();
    let mut plain = Plain::new(&mut out);
    plain.on_event(&planned);
    plain.finish().unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("plan ") && text.trim_end().ends_with(&format!("; {says}")), "{text}");
    let terminal = Terminal::default();
    let mut live = Live::new(terminal.clone(), false, || 80);
    live.on_event(&planned);
    let screen = terminal.screen();
    assert!(screen.iter().any(|line| line.contains(says)), "{screen:?}");
    live.finish().unwrap();
}
