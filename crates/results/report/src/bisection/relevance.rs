//! Which changes say something of what was asked and seen.

use std::collections::BTreeSet;

use bisect::{Bisection, Question, RecordedMetric};
use lab::experiment::ExperimentChoice;

use super::functions::changed;
use super::sides::{Sides, sides};

/// Characters of a word at least: of a shorter one there are pieces in everything.
const WORD_MIN: usize = 3;

/// How much more a word says where it stands in the name of a subsystem.
const SUBSYSTEM: f64 = 2.0;

/// What a change must say at least, of what the best one says.
const SHARE: f64 = 0.5;

/// Words by which changes are found: those of the question, the functions in which a counted metric differs, and those in which the kernel found
/// something wrong.
pub(super) fn wanted(bisection: &Bisection) -> BTreeSet<String> {
    let sides = sides(bisection);
    let mut words = of_question(&bisection.question);
    words.extend(changed(sides).into_iter().flat_map(|(name, _)| functions(name)));
    words.extend(titles(sides).flat_map(functions));
    words
}

/// The words of a question. A number alone is none: it would be found in those of CVEs.
fn of_question(question: &Question) -> BTreeSet<String> {
    let text = match question {
        Question::Case(text) | Question::Program(text) | Question::Log(text) => text,
        Question::Metric { name, .. }
        | Question::Recorded(RecordedMetric { name, .. })
        | Question::Experiment(ExperimentChoice { name, .. }) => name,
        Question::Boot | Question::Build => return BTreeSet::new(),
    };
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let says = |word: &String| word.chars().count() >= WORD_MIN && word.chars().any(char::is_alphabetic);
    words.filter(says).collect()
}

/// Names of functions in a text, without what the compiler adds to them (`.isra.0`): what has a low line in the middle,
/// for in the others there are too many words of English.
fn functions(text: &str) -> impl Iterator<Item = String> {
    let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    names.filter(|name| name.trim_matches('_').contains('_')).map(str::to_lowercase)
}

/// Titles of what the kernel reported with the change and not without it.
fn titles<'b>(sides: Sides<'b>) -> impl Iterator<Item = &'b str> {
    let of = |run: Option<&'b judge::Run>| run.into_iter().flat_map(|run| &run.kernel_reports);
    let before: BTreeSet<&str> =
        of(sides.without.evidence.run.as_deref()).map(|report| report.title.as_str()).collect();
    let titles = of(sides.with.evidence.run.as_deref()).map(|report| report.title.as_str());
    titles.filter(move |title| !before.contains(title))
}

/// The changes that come close to some words, by number, the closest first. Each word counts by its rarity,
/// ln(N/n) where n of N changes have it (Spärck Jones, "A statistical interpretation of term specificity and its
/// application in retrieval", Journal of Documentation 28 (1972), 11-21).
pub(super) fn closest(words: &BTreeSet<String>, changes: &[String]) -> Vec<usize> {
    let changes: Vec<String> = changes.iter().map(|change| change.to_lowercase()).collect();
    let weights: Vec<(&str, f64)> = words.iter().map(|word| (&**word, rarity(word, &changes))).collect();
    let scores: Vec<f64> = changes.iter().map(|change| score(change, &weights)).collect();
    let best = scores.iter().copied().fold(0.0, f64::max);
    let mut closest: Vec<usize> = (0..scores.len()).collect();
    closest.retain(|&number| scores[number] > 0.0 && scores[number] >= SHARE * best);
    closest.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    closest
}

fn rarity(word: &str, changes: &[String]) -> f64 {
    let found = changes.iter().filter(|change| change.contains(word)).count();
    if found == 0 { 0.0 } else { (changes.len() as f64 / found as f64).ln() }
}

fn score(change: &str, weights: &[(&str, f64)]) -> f64 {
    // The kernel's people write `subsystem: part: what was done`.
    let (subsystem, _) = change.rsplit_once(": ").unwrap_or_default();
    let found = weights.iter().filter(|(word, _)| change.contains(word));
    found.map(|(word, weight)| if subsystem.contains(word) { SUBSYSTEM * weight } else { *weight }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of Debian's 6.1.180-1.
    const CHANGES: [&str; 12] = [
        "nvmet-tcp: fix race between ICReq handling and queue teardown (CVE-2026-46135)",
        "userfaultfd: gate must_wait writability check on pte_present() (CVE-2026-64100)",
        "ALSA: core: Fix unintuitive behavior of snd_power_ref_and_wait()",
        "eventpoll: split __ep_remove()",
        "xfs: fix unreachable BIGTIME check in dquot flush validation",
        "i2c: core: fix adapter registration race (CVE-2026-53400)",
        "xfs: share the reflink extents (CVE-2026-64600)",
        "eventpoll: fix ep_remove struct eventpoll / struct file UAF (CVE-2026-46242)",
        "proc: rename proc_setattr to proc_nochmod_setattr",
        "f2fs: fix listxattr handling of corrupted xattr entries",
        "posix-cpu-timers: Prevent UAF caused by non-leader exec() race (CVE-2026-64560)",
        "RDMA/hns: Fix warning in poll cq direct mode",
    ];

    fn words(text: &str) -> BTreeSet<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn found(text: &str) -> Vec<usize> {
        closest(&words(text), &CHANGES.map(str::to_owned))
    }

    #[test]
    fn the_subsystem_counts_most_and_rare_words_more() {
        assert_eq!(found("xfs reflink race"), [6, 4]);
        assert_eq!(found("poll epoll wait"), [3, 7, 1, 2, 11]);
        assert_eq!(found("posix timers exec"), [10]);
        assert_eq!(found("poll epoll wait __ep_remove"), [3, 7]);
    }

    #[test]
    fn words_that_say_nothing_find_nothing() {
        assert_eq!(found(""), [0; 0]);
        assert_eq!(found("zram"), [0; 0]);
        // What all have in common says nothing of one.
        assert_eq!(closest(&words("race"), &["a race".into(), "race: b".into()]), [0; 0]);
        assert_eq!(closest(&words("race"), &[]), [0; 0]);
    }

    fn list(words: impl IntoIterator<Item = String>) -> Vec<String> {
        words.into_iter().collect()
    }

    #[test]
    fn a_question_has_words() {
        let of = |question: Question| list(of_question(&question));
        assert_eq!(of(Question::Program("xfs-reflink-race.c".into())), ["race", "reflink", "xfs"]);
        let metric = |name: &str| Question::Metric { name: name.into(), worse_by: None, timed: false };
        assert_eq!(of(metric("poll/epoll-wait-100")), ["epoll", "poll", "wait"]);
        let (folder, mode) = ("/srv/x".into(), script::Mode::Full);
        let choice = ExperimentChoice { name: "usb-dock".into(), folder, mode };
        assert_eq!(of(Question::Experiment(choice)), ["dock", "usb"]);
        assert_eq!(of(Question::Log("BUG: in EVENTPOLL".into())), ["bug", "eventpoll"]);
        assert_eq!(of(Question::Case("100-46135 is".into())), [""; 0]);
        assert_eq!(of(Question::Boot), of(Question::Build));
    }

    #[test]
    fn functions_are_told_from_words() {
        assert_eq!(list(functions("epi_fget.isra.0")), ["epi_fget"]);
        assert_eq!(list(functions("WARNING in __ep_remove+0x12/0x34")), ["__ep_remove"]);
        assert_eq!(list(functions("__schedule and copy")), [""; 0]);
    }

    proptest! {
        #[test]
        fn each_is_named_once(asked in "[a-c/: -]{0,9}", changes in prop::collection::vec("[a-cA-C: é]{0,9}", 0..9)) {
            let mut closest = closest(&words(&asked), &changes);
            closest.sort_unstable();
            prop_assert!(closest.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(closest.last().is_none_or(|last| *last < changes.len()));
        }
    }
}
