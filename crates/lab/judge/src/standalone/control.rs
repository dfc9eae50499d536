//! What the agent wrote: a line for each message, which begins with a word for what it is.

use protocol::{Counts, End, Report, ReportKind};

/// Stands in a line for the end of one.
const LINE_END: char = '\x1e';

/// All that the agent wrote up to the end of the run; any process of the guest can have written it.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// The agent said hello.
    pub(super) is_up: bool,
    pub(super) log: Vec<String>,
    pub(super) log_lost: bool,
    pub(super) output: String,
    pub(super) reports: Vec<Report>,
    pub(super) leftovers: Vec<String>,
    pub(super) troubles: Vec<String>,
    pub(super) counts: Counts,
    pub(super) taint: u64,
    stacks: String,
    pub(super) end: Option<End>,
}

impl Control {
    pub(super) fn read(text: &str) -> Self {
        let mut control = Self::default();
        for line in text.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            control.take(word, rest.replace(LINE_END, "\n"));
            if control.end.is_some() {
                break;
            }
        }
        control
    }

    fn take(&mut self, word: &str, text: String) {
        match word {
            "hello" => self.is_up = true,
            "log" => self.log.push(text),
            "lost" => self.log_lost = true,
            "output" => self.output += &text,
            "left" => self.leftovers.push(text),
            "trouble" => self.troubles.push(text),
            "counts" => self.counts = counts(&text),
            "taint" => self.taint = text.trim().parse().unwrap_or_default(),
            "stacks" => self.stacks = text,
            "end" => self.end = Some(self.ended(&text)),
            "pass" => self.report(ReportKind::Pass, text),
            "fail" => self.report(ReportKind::Fail, text),
            "skip" => self.report(ReportKind::Skip, text),
            "broken" => self.report(ReportKind::Broken, text),
            _ => {}
        }
    }

    fn report(&mut self, kind: ReportKind, text: String) {
        self.reports.push(Report { kind, text });
    }

    fn ended(&mut self, text: &str) -> End {
        let (how, rest) = text.split_once(' ').unwrap_or((text, ""));
        let number = || rest.trim().parse().ok();
        let late = |killed| End::TimedOut { stacks: self.stacks.clone(), killed };
        match (how, number()) {
            ("exited", Some(code)) => End::Exited(code),
            ("signalled", Some(signal)) => End::Signalled(signal),
            ("late", _) => late(rest.trim() != "stuck"),
            ("not-started", _) => End::NotStarted(rest.to_string()),
            _ => End::NotStarted(format!("its end cannot be read: {text}")),
        }
    }
}

/// Passed, failed, skipped, broken.
fn counts(text: &str) -> Counts {
    let mut numbers = text.split_whitespace().map(|number| number.parse().unwrap_or_default());
    let mut next = || numbers.next().unwrap_or_default();
    Counts { pass: next(), fail: next(), skip: next(), broken: next() }
}
