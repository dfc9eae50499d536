//! What the status lines of a bisection say.

use std::time::Instant;

use anstyle::{AnsiColor, Style};
use bisect::{Belief, Point, Progress, Purpose};
use unicode_width::UnicodeWidthStr;

use super::log::{about, left, likely};
use crate::axis::{Axis, Column, Mark, heights};
use crate::columns::fit;
use crate::live::{Line, Lines, gaps, long};
use crate::repeats::percent;
use crate::safe::safe_line;
use crate::style::{BOLD, DIM};
use crate::words::{brief, clock};

/// Columns from which on there is room for the names of the ends beside the axis.
const ROOMY: usize = 60;

/// Probability from next to nothing to the highest.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// State of a bisection as far as it is shown.
#[derive(Debug)]
pub(super) struct Status {
    start: Instant,
    ends: (String, String),
    candidates: Vec<String>,
    axis: Axis,
    belief: Option<Belief>,
    tests: Vec<Test>,
    /// What takes long, and since when.
    work: Option<(String, Instant)>,
}

/// A test that is being made.
#[derive(Debug)]
struct Test {
    point: Point,
    name: String,
    times: u32,
    purpose: Purpose,
    since: Instant,
}

impl Status {
    pub(super) fn new(start: Instant) -> Self {
        Self {
            start,
            ends: Default::default(),
            candidates: Vec::new(),
            axis: Axis::new(0),
            belief: None,
            tests: Vec::new(),
            work: None,
        }
    }

    pub(super) fn on_event(&mut self, progress: &Progress, now: Instant) {
        match progress {
            Progress::Begun { ends, candidates, .. } => {
                self.ends = (brief(&ends.0), brief(&ends.1));
                self.axis = Axis::new(candidates.len());
                self.candidates.clone_from(candidates);
            }
            Progress::Testing { point, name, times, purpose } => {
                let (point, name) = (point.clone(), brief(name));
                self.tests.push(Test { point, name, times: *times, purpose: *purpose, since: now });
            }
            Progress::Working(text) => self.work = Some((safe_line(text), now)),
            Progress::Tested { point, answer, .. } => {
                self.axis.see(point, answer);
                if let Some(at) = self.tests.iter().position(|test| test.point == *point) {
                    self.tests.remove(at);
                }
                self.work = None;
            }
            Progress::Belief(belief) => {
                self.axis.believe(&belief.probabilities);
                self.belief = Some(belief.clone());
            }
            Progress::Note(_) => {}
        }
    }

    /// The axis, and below it where the probability is.
    fn axis(&self, columns: usize) -> [Line; 2] {
        let end = if columns >= ROOMY { columns / 6 } else { 0 };
        let (first, last) = (fit(&self.ends.0, end), fit(&self.ends.1, end));
        let gap = |name: &str| if name.is_empty() { "" } else { " " };
        let (first, last) = (format!("{first}{}", gap(&first)), format!("{}{last}", gap(&last)));
        let states = self.axis.columns(columns.saturating_sub(first.width() + last.width()));
        let indent = " ".repeat(first.width());
        let blocks: String = heights(&states, 8).into_iter().map(|height| BLOCKS[height as usize]).collect();
        let mut line = vec![(DIM, first)];
        line.extend(states.iter().map(sign));
        line.push((DIM, last));
        [line, vec![(Style::new(), format!("{indent}{blocks}"))]]
    }

    /// How far it is, and what is believed.
    fn progress(&self) -> Line {
        let Some(belief) = &self.belief else { return Vec::new() };
        let (rate, always) = belief.rate;
        let rate = if always || !(0.0..1.0).contains(&rate) {
            String::new()
        } else {
            format!("{} % of runs bad", percent(rate))
        };
        let likely = likely(belief, &self.candidates).unwrap_or_default();
        gaps([(BOLD, left(belief)), (Style::new(), likely), (DIM, rate)])
    }

    /// What is being done.
    fn doing(&self, now: Instant) -> Line {
        let since = |since: Instant| long(now.saturating_duration_since(since));
        let purpose = self.tests.first().map(|test| format!("{}:", about(test.purpose)));
        let tests = self.tests.iter().map(|test| {
            let runs = if test.times == 1 { String::new() } else { format!(" x{}", test.times) };
            format!("{}{runs}{}", test.name, since(test.since))
        });
        let work = self.work.as_ref().map(|(text, at)| format!("{text}{}", since(*at)));
        gaps([
            (DIM, clock(now.saturating_duration_since(self.start))),
            (DIM, purpose.unwrap_or_default()),
            (Style::new(), tests.collect::<Vec<_>>().join(", ")),
            (DIM, work.unwrap_or_default()),
        ])
    }
}

impl Lines for Status {
    fn lines(&self, now: Instant, columns: usize) -> Vec<Line> {
        if self.candidates.is_empty() {
            return vec![self.doing(now)];
        }
        let [axis, probability] = self.axis(columns);
        vec![axis, probability, self.progress(), self.doing(now)]
    }
}

fn sign(column: &Column) -> (Style, String) {
    let style = match column.mark {
        Mark::Untested => DIM,
        Mark::Untestable | Mark::Intermittent => AnsiColor::Yellow.on_default(),
        Mark::Good => AnsiColor::Green.on_default(),
        Mark::Bad => AnsiColor::Red.on_default().bold(),
    };
    (style, column.mark.sign().to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bisect::Answer;
    use bisect::Kind;

    use super::*;

    fn shown(status: &Status, now: Instant, columns: usize) -> Vec<String> {
        let text = |line: Line| line.into_iter().map(|(_, text)| text).collect::<String>();
        status.lines(now, columns).into_iter().map(text).collect()
    }

    fn begun(start: Instant) -> Status {
        let begun = Progress::Begun {
            kind: Kind::Commits,
            ends: ("v6.1\x1b[2J".into(), "v6.2".into()),
            candidates: (0..10).map(|number| format!("c{number}")).collect(),
            question: String::new(),
            resumed: 0,
        };
        let mut status = Status::new(start);
        status.on_event(&begun, start);
        status
    }

    fn testing(point: Point, name: &str, times: u32) -> Progress {
        Progress::Testing { point, name: name.into(), times, purpose: Purpose::Search }
    }

    #[test]
    fn tests_side_by_side_are_shown_until_they_are_over() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut status = begun(start);
        status.on_event(&testing(Point::After(3), "c3", 20), at(1));
        status.on_event(&testing(Point::After(6), "c6", 1), at(3));
        status.on_event(&Progress::Working("boot\n1".into()), at(4));
        assert_eq!(shown(&status, at(5), 60)[3], "0:05  search:  c3 x20 4 s, c6 2 s  boot 1 1 s");
        let answer = Answer::Runs { bad: 2, good: 0 };
        let (name, values) = ("c6".to_owned(), Vec::new());
        status.on_event(&Progress::Tested { point: Point::After(6), name, answer, values, reused: 0 }, at(5));
        assert_eq!(
            shown(&status, at(5), 60),
            ["v6.1 ·······x··· v6.2", "                ", "", "0:05  search:  c3 x20 4 s"]
        );
    }

    #[test]
    fn the_probability_stands_below_its_states() {
        let start = Instant::now();
        let mut status = begun(start);
        let mut probabilities = vec![0.0; 10];
        probabilities[1..4].copy_from_slice(&[0.2, 0.7, 0.1]);
        let (steps_left, time_left, rate) = (2.0, Duration::from_secs(90), (0.15, false));
        status.on_event(
            &Progress::Belief(Belief { probabilities, steps: 1, steps_left, time_left, rate }),
            start,
        );
        let wanted = [
            "v6.1 ··········· v6.2",
            "       ▃█▂       ",
            "1 step, ~2 left, 1 min 30 s  70 % c2  15 % of runs bad",
            "0:00",
        ];
        let lines = shown(&status, start, 60);
        assert_eq!(lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>(), wanted.map(str::trim_end));
        assert_eq!(shown(&status, start, 40)[0], "···········");
    }

    #[test]
    fn before_it_begins_there_is_a_clock() {
        let start = Instant::now();
        assert_eq!(shown(&Status::new(start), start, 40), ["0:00"]);
    }
}
