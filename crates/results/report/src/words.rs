//! Durations, counts and names as text.

use std::time::Duration;

use bisect::Kind;
use judge::{Blame, Outcome, Run, Summary};
use lab::event::Session;
use measure::Subject;

use crate::safe::safe_line;

/// For people: `412 us`, `3 ms`, `1.2 s`, `2 min 3 s`, `1 h 2 min`.
pub(crate) fn span(duration: Duration) -> String {
    let (micros, millis) = (duration.as_micros(), duration.as_millis());
    let (tenths, seconds) = ((millis + 50) / 100, (millis + 500) / 1000);
    match () {
        () if micros < 1000 => format!("{micros} us"),
        () if millis < 1000 => format!("{millis} ms"),
        () if tenths < 600 => format!("{}.{} s", tenths / 10, tenths % 10),
        () if seconds < 3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        () => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// For columns: `0.003 s`.
#[must_use]
pub fn seconds(duration: Duration) -> String {
    format!("{:.3} s", duration.as_secs_f64())
}

/// For a clock that runs: `0:07`, `12:34`, `1:02:03`.
#[must_use]
pub fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// What is not zero, the worst first; cases that were never run come last.
pub(crate) fn tally(summary: Summary) -> Vec<(Option<Outcome>, String)> {
    let outcomes = Outcome::ALL.map(|outcome| (Some(outcome), summary.of(outcome), outcome.name()));
    let all = outcomes.into_iter().chain([(None, summary.not_run, "not run")]);
    all.filter(|(_, count, _)| *count > 0)
        .map(|(outcome, count, name)| (outcome, format!("{count} {name}")))
        .collect()
}

/// What is not zero, the worst first: `1 crash, 96 pass`.
#[must_use]
pub fn tally_text(summary: Summary) -> String {
    tally(summary).into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

/// `1 kernel`, `2 kernels`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `1 case`, `2 cases`.
pub(crate) fn cases(count: usize) -> String {
    counted(count, "case")
}

/// Area and rest of a case's name; a program's name has no area.
pub(crate) fn split(case: &str) -> (Option<&str>, &str) {
    match case.split_once('/') {
        Some((area, rest)) if !area.is_empty() && !rest.is_empty() => (Some(area), rest),
        _ => (None, case),
    }
}

/// Who broke it and why, or just why.
#[must_use]
pub fn why(run: &Run) -> String {
    let reason = safe_line(&run.reason);
    match run.blame {
        Some(blame) => format!("by {}: {reason}", culprit(blame)),
        None => reason,
    }
}

fn culprit(blame: Blame) -> &'static str {
    match blame {
        Blame::Case => "the case",
        Blame::Machine => "the machine",
        Blame::Host => "the host",
        Blame::Kiln => "kiln",
    }
}

/// What was tested: the locator and, where it is known, the release.
pub(crate) fn kernel(session: &Session) -> String {
    let release = session.release.as_ref().map(|release| format!(" ({})", safe_line(release)));
    format!("{}{}", safe_line(&session.locator), release.unwrap_or_default())
}

/// What was measured: the label and, where that does not say it, the release.
pub(crate) fn named(subject: &Subject) -> String {
    let (label, release) = (safe_line(&subject.label), safe_line(&subject.release));
    if label.contains(&release) { label } else { format!("{label} ({release})") }
}

/// `3 of 14 runs`.
pub(crate) fn runs(bad: u32, good: u32) -> String {
    let all = u64::from(bad) + u64::from(good);
    format!("{bad} of {all} {}", if all == 1 { "run" } else { "runs" })
}

/// A name in one line; a commit by as much of its hash as kernel people write.
pub(crate) fn brief(name: &str) -> String {
    let name = safe_line(name);
    if is_hash(&name) { name[..12].to_owned() } else { name }
}

/// Whether this is the whole hash of a commit, of SHA-1 or SHA-256.
pub(crate) fn is_hash(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `1 commit`, `40 commits`.
pub(crate) fn many(kind: Kind, count: usize) -> String {
    match (kind, count) {
        (_, 1) => format!("1 {}", kind.noun()),
        (Kind::Patches, _) => format!("{count} patches"),
        _ => format!("{count} {}s", kind.noun()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_choose_their_unit() {
        let texts = [0, 999, 1_000, 999_999, 1_000_000, 59_949_999, 59_950_000, 3_599_499_000, 3_600_000_000]
            .map(|micros| span(Duration::from_micros(micros)));
        let expected =
            ["0 us", "999 us", "1 ms", "999 ms", "1.0 s", "59.9 s", "1 min 0 s", "59 min 59 s", "1 h 0 min"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn clocks_show_hours_only_when_there_are_some() {
        assert_eq!(clock(Duration::from_secs(7)), "0:07");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }

    #[test]
    fn only_whole_hashes_are_shortened() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(brief(hash), "0123456789ab");
        assert_eq!(brief(&hash.repeat(2)[..64]), "0123456789ab");
        for name in [&hash[1..], "6.1.0-47-cloud-amd64-0123456789abcdef0123", "v6.1"] {
            assert_eq!(brief(name), name);
        }
        assert_eq!([runs(0, 1), runs(3, 11)], ["0 of 1 run", "3 of 14 runs"]);
    }

    #[test]
    fn only_a_name_with_two_parts_has_an_area() {
        assert_eq!(split("pipe/full/two"), (Some("pipe"), "full/two"));
        for name in ["true", "/bin/true", "odd/"] {
            assert_eq!(split(name).0, None, "{name}");
        }
    }
}
