//! Whether two Runs ended in the same way.

use crate::outcome::Outcome;
use crate::run::Run;

/// Stands for a number.
const NUMBER: char = '#';

/// Fewest digits of an address that has no `0x` before it, as `%p` of the kernel prints it.
const ADDRESS_DIGITS: usize = 8;

/// What a shell exits with that cannot execute a command, or does not find it: dash(1).
const NOT_RUN: &[&str] = &["exit status 126", "exit status 127"];

/// The way in which a Run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Way {
    outcome: Outcome,
    reason: String,
}

impl Way {
    /// The way of a Run with this Outcome for this reason. Two Runs ended in the same way if they have the same
    /// Outcome, for reasons that differ in nothing but numbers and addresses.
    ///
    /// Numbers are times, processes and counts more often than they are what went wrong, so that two failures which
    /// differ only in a number are taken for one. But a shell that ran nothing is not a program that failed.
    #[must_use]
    pub fn of(outcome: Outcome, reason: &str) -> Self {
        let reason = if NOT_RUN.contains(&reason) { reason.to_string() } else { masked(reason) };
        Self { outcome, reason }
    }
}

impl Run {
    /// What this failure has in common with the same failure on another kernel; none if nothing failed.
    ///
    /// The title of the kernel's report, where that is the reason and names a place: the same defect may meet several cases.
    /// Else the case and its reason, without numbers and addresses.
    #[must_use]
    pub fn signature(&self) -> Option<String> {
        if !self.outcome.is_failure() {
            return None;
        }
        if self.defects().is_some() {
            return Some(without_line(&self.reason));
        }
        let Way { outcome, reason } = Way::of(self.outcome, &self.reason);
        let what = if self.is_boot { "the boot" } else { &self.case };
        Some(format!("{what}: {}: {reason}", outcome.name()))
    }
}

/// The title of a report without the number of a line at its end, which is another one in each version: `kernel BUG at
/// fs/pipe.c:42`.
fn without_line(title: &str) -> String {
    match title.rsplit_once(':') {
        Some((place, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{place}:{NUMBER}")
        }
        _ => title.to_owned(),
    }
}

/// `text` with a mark in the place of each number and address.
#[must_use]
pub fn masked(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, after) = rest.split_at(end);
        if is_address(word) {
            masked.push(NUMBER);
        } else {
            push_digits_masked(&mut masked, word);
        }
        rest = after;
    }
    masked
}

fn is_address(word: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match word.strip_prefix("0x") {
        Some(digits) => !digits.is_empty() && is_hex(digits),
        // `defaced` is a word.
        None => {
            word.len() >= ADDRESS_DIGITS && is_hex(word) && word.bytes().any(|byte| byte.is_ascii_digit())
        }
    }
}

fn push_digits_masked(masked: &mut String, word: &str) {
    for c in word.chars() {
        if !c.is_ascii_digit() {
            masked.push(c);
        } else if !masked.ends_with(NUMBER) {
            masked.push(NUMBER);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel_report::{KernelReport, Kind};

    fn alike(a: &str, b: &str) -> bool {
        Way::of(Outcome::Fail, a) == Way::of(Outcome::Fail, b)
    }

    #[test]
    fn a_defect_with_a_place_is_the_same_in_each_case() {
        let run = |case: &str, reason: &str, title: &str| Run {
            case: case.to_owned(),
            outcome: Outcome::Fail,
            reason: reason.to_owned(),
            kernel_reports: vec![KernelReport {
                kind: Kind::Warning,
                title: title.to_owned(),
                lines: Vec::new(),
            }],
            ..Run::unstarted()
        };
        let signature =
            |case: &str, reason: &str, title: &str| run(case, reason, title).signature().expect("a failure");
        let warning = "WARNING in foo";
        assert_eq!(signature("a", warning, warning), warning);
        assert_eq!(signature("b", warning, warning), warning);
        let bug = |line: u32| format!("kernel BUG at fs/pipe.c:{line}");
        assert_eq!(signature("a", &bug(42), &bug(42)), signature("b", &bug(57), &bug(57)));
        assert_eq!(signature("a", "is 7, expected 9", warning), "a: fail: is #, expected #");
        let panic = "Kernel panic: Fatal exception";
        assert_eq!(signature("a", panic, panic), format!("a: fail: {panic}"), "two defects may end so");
        let boot = Run { is_boot: true, ..run("boot", "no init", warning) };
        assert_eq!(boot.signature().as_deref(), Some("the boot: fail: no init"));
        let passed = Run { outcome: Outcome::Pass, ..run("a", "", warning) };
        assert_eq!(passed.signature(), None);
    }

    #[test]
    fn a_command_that_was_not_run_is_no_other_failure() {
        assert!(alike("exit status 1", "exit status 2"));
        assert!(!alike("exit status 1", "exit status 127") && !alike("exit status 126", "exit status 127"));
        assert!(alike("exit status 127", "exit status 127"));
    }

    #[test]
    fn numbers_and_addresses_do_not_matter() {
        for (a, b) in [
            (
                "offset: is 0, expected 4096 (cases/splice.rs:42)",
                "offset: is 512, expected 4096 (cases/splice.rs:42)",
            ),
            (
                "BUG: unable to handle page fault at ffff888100a0b0c0",
                "BUG: unable to handle page fault at ffffea0000000008",
            ),
            ("pipe_lock+0x12/0x20", "pipe_lock+0xab/0xcd"),
            ("CPU#1 stuck for 26s! [kworker/0:1:99]", "CPU#12 stuck for 123s! [kworker/1:0:7]"),
            ("", ""),
        ] {
            assert!(alike(a, b), "{a:?} and {b:?}");
        }
    }

    #[test]
    fn words_matter() {
        for (a, b) in [
            ("WARNING in pipe_read", "WARNING in pipe_write"),
            ("BUG in defaced", "BUG in effaced"),
            ("BUG in facadefeed", "BUG in deafbeefed"),
            ("exit status 3", "exit status"),
            ("exit status 3", "killed by signal 3"),
            ("größe 1", "große 1"),
        ] {
            assert!(!alike(a, b), "{a:?} and {b:?}");
        }
        assert_ne!(Way::of(Outcome::Fail, "x"), Way::of(Outcome::Crash, "x"));
    }

    proptest! {
        #[test]
        fn any_number_is_as_good_as_another(words in "\\PC{0,20}", a in any::<u64>(), b in any::<u64>()) {
            let texts = |n: u64| [format!("{words} {n} {words}"), format!("{words} {n:#x}"), format!("{n:016x}-{words}")];
            for (a, b) in texts(a).iter().zip(&texts(b)) {
                prop_assert!(alike(a, b), "{a} {b}");
            }
        }

        #[test]
        fn each_text_is_like_itself_whatever_it_is(text in any::<String>(), other in any::<String>()) {
            prop_assert!(alike(&text, &text));
            prop_assert_eq!(alike(&text, &other), alike(&other, &text));
            prop_assert!(masked(&text).chars().all(|c| !c.is_ascii_digit()));
        }
    }
}
