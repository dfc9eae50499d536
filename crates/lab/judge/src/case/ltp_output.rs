//! What a test of the Linux Test Project writes: `FILE:LINE: TFAIL: TEXT` in the new library,
//! `NAME NUMBER TFAIL : TEXT` in the old one and in shell, a summary at the end, and its time limit.

use std::time::Duration;

/// Most lines that are kept of one output, besides those that passed.
const LINES_MAX: usize = 256;

/// What a line concludes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// TPASS.
    Pass,
    /// TFAIL.
    Fail,
    /// TBROK: its own set-up failed.
    Broken,
    /// TWARN: its own clean-up or the like failed.
    Warning,
    /// TCONF: what it needs is not there.
    Skip,
}

/// The word of each verdict in a line, and in the summary.
const WORDS: &[(Verdict, &str, &str)] = &[
    (Verdict::Pass, "TPASS", "passed"),
    (Verdict::Fail, "TFAIL", "failed"),
    (Verdict::Broken, "TBROK", "broken"),
    (Verdict::Warning, "TWARN", "warnings"),
    (Verdict::Skip, "TCONF", "skipped"),
];

/// What the library writes when a test took too long.
const TIMED_OUT: &[&str] = &["Test timeouted", "Test timed out", "Test killed! (timeout?)"];

/// What an output says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LtpOutput {
    lines: Vec<(Verdict, String)>,
    counted: [u32; WORDS.len()],
    summary: Option<[u32; WORDS.len()]>,
    /// The test's own time limit.
    pub limit: Option<Duration>,
    /// The test ended by its own time limit.
    pub timed_out: bool,
}

impl LtpOutput {
    /// Reads an output; lines that say nothing are passed over.
    #[must_use]
    pub fn read(output: &str) -> Self {
        let mut read = Self::default();
        for line in output.lines() {
            read.take(line);
        }
        read
    }

    fn take(&mut self, line: &str) {
        if line.trim() == "Summary:" {
            self.summary = Some([0; WORDS.len()]);
        } else if let Some((place, count)) = summary_line(line).filter(|_| self.summary.is_some()) {
            self.summary.get_or_insert_default()[place] = count;
        } else if let Some((place, text)) = verdict_line(line) {
            self.counted[place] = self.counted[place].saturating_add(1);
            let verdict = WORDS[place].0;
            if verdict != Verdict::Pass && self.lines.len() < LINES_MAX {
                self.lines.push((verdict, text.to_string()));
            }
        }
        self.limit = time_limit(line).or(self.limit);
        self.timed_out |= TIMED_OUT.iter().any(|text| line.contains(text));
    }

    /// How many results of this kind there were: by the summary where there is one.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> u32 {
        let place = WORDS.iter().position(|(known, ..)| *known == verdict).unwrap_or_default();
        // A test that is ended from outside writes an empty summary, or none.
        self.summary.map_or(0, |summary| summary[place]).max(self.counted[place])
    }

    /// The texts of all lines with this verdict, except for those that passed.
    #[must_use]
    pub fn texts(&self, verdict: Verdict) -> Vec<String> {
        self.lines.iter().filter(|(kind, _)| *kind == verdict).map(|(_, text)| text.clone()).collect()
    }
}

/// The verdict of a line, as its place in [`WORDS`], with the text after it.
fn verdict_line(line: &str) -> Option<(usize, &str)> {
    let (first, rest) = line.trim_start().split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_new = first
        .strip_suffix(':')
        .and_then(|place| place.rsplit_once(':'))
        .is_some_and(|(_, number)| is_number(number));
    let rest = match rest.split_once(char::is_whitespace) {
        _ if is_new => rest,
        Some((number, rest)) if is_number(number) => rest.trim_start(),
        _ => return None,
    };
    let place = WORDS.iter().position(|(_, word, _)| rest.starts_with(word))?;
    let rest = &rest[WORDS[place].1.len()..];
    Some((place, rest.trim_start().strip_prefix(':')?.trim()))
}

fn summary_line(line: &str) -> Option<(usize, u32)> {
    let mut words = line.split_whitespace();
    let (word, count) = (words.next()?, words.next()?.parse().ok()?);
    let place = WORDS.iter().position(|(_, _, known)| *known == word)?;
    words.next().is_none().then_some((place, count))
}

/// `... imeout per run is 0h 05m 30s`.
fn time_limit(line: &str) -> Option<Duration> {
    let (_, text) = line.split_once("imeout per run is ")?;
    let mut seconds = 0_u64;
    for word in text.split_whitespace().take(3) {
        let unit = match word.chars().next_back()? {
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        let count: u32 = word[..word.len() - 1].parse().ok()?;
        seconds += u64::from(count) * unit;
    }
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_styles_are_read() {
        let output = LtpOutput::read(
            "tst_test.c:1621: TINFO: Timeout per run is 0h 05m 30s\n\
             abort01.c:59: TPASS: abort() dumped core\n\
             abort01.c:62: TFAIL: abort() raised SIGIOT: EINVAL (22)\n\
             ar01        1  TFAIL  :  ltpapicmd.c:190: failed\n\
             du01 2 TCONF: no loop\n\
             mmap1 0 TINFO : nothing\n\
             TFAIL is only a word here\n\
             x.c:1: TFAILED: nor here\n",
        );
        assert_eq!(
            output.texts(Verdict::Fail),
            ["abort() raised SIGIOT: EINVAL (22)", "ltpapicmd.c:190: failed"]
        );
        assert_eq!(output.texts(Verdict::Skip), ["no loop"]);
        assert_eq!((output.count(Verdict::Pass), output.count(Verdict::Broken)), (1, 0));
        assert_eq!(output.limit, Some(Duration::from_secs(330)));
        assert!(!output.timed_out);
    }

    #[test]
    fn the_summary_counts_more_than_what_was_kept() {
        let output = LtpOutput::read(
            "a.c:1: TPASS: x\n\nSummary:\npassed   7\nfailed   2\nbroken   0\nskipped  1\nwarnings 0\n",
        );
        let counts = [Verdict::Pass, Verdict::Fail, Verdict::Skip].map(|verdict| output.count(verdict));
        assert_eq!(counts, [7, 2, 1]);
        assert_eq!(LtpOutput::read("passed 7\n").count(Verdict::Pass), 0);
    }

    #[test]
    fn the_librarys_own_time_limit_is_seen() {
        assert!(LtpOutput::read("Test timeouted, sending SIGKILL!\n").timed_out);
        assert!(LtpOutput::read("tst_test.c:1500: TBROK: Test killed! (timeout?)\n").timed_out);
    }

    proptest! {
        #[test]
        fn any_output_is_taken(output in "([a-z.]{0,5}|:|[0-9]{0,12}|[ \\n]|TFAIL|TPASS|Summary:|timeout per run is |[hmsé]){0,60}") {
            let output = LtpOutput::read(&output);
            prop_assert!(output.lines.len() <= LINES_MAX);
        }
    }
}
