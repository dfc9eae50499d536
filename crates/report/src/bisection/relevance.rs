//! Which changes say something of what was asked.

use std::collections::BTreeSet;

use bisect::Question;

/// Characters of a word at least: of a shorter one there are pieces in everything.
const WORD_MIN: usize = 3;

/// How much more a word says where it stands in the name of a subsystem.
const SUBSYSTEM: f64 = 2.0;

/// What a change must say at least, of what the best one says.
const SHARE: f64 = 0.5;

/// The changes that come close to the question, by number, the closest first. Each word of the question counts by its
/// rarity, ln(N/n) where n of N changes have it (Spärck Jones, "A statistical interpretation of term specificity and
/// its application in retrieval", Journal of Documentation 28 (1972), 11-21).
pub(super) fn closest(question: &Question, changes: &[String]) -> Vec<usize> {
    let changes: Vec<String> = changes.iter().map(|change| change.to_lowercase()).collect();
    let words = words(question);
    let weights: Vec<(&str, f64)> = words.iter().map(|word| (&**word, rarity(word, &changes))).collect();
    let scores: Vec<f64> = changes.iter().map(|change| score(change, &weights)).collect();
    let best = scores.iter().copied().fold(0.0, f64::max);
    let mut closest: Vec<usize> = (0..scores.len()).collect();
    closest.retain(|&number| scores[number] > 0.0 && scores[number] >= SHARE * best);
    closest.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    closest
}

/// The words of a question. A number alone is none: it would be found in those of CVEs.
fn words(question: &Question) -> BTreeSet<String> {
    let text = match question {
        Question::Case(text) | Question::Program(text) | Question::Log(text) => text,
        Question::Metric { name, .. } => name,
        Question::Boot | Question::Build => return BTreeSet::new(),
    };
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let says = |word: &String| word.chars().count() >= WORD_MIN && word.chars().any(char::is_alphabetic);
    words.filter(says).collect()
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

    fn found(question: &Question) -> Vec<usize> {
        closest(question, &CHANGES.map(str::to_owned))
    }

    fn program(name: &str) -> Question {
        Question::Program(name.to_owned())
    }

    #[test]
    fn the_subsystem_counts_most_and_rare_words_more() {
        assert_eq!(found(&program("xfs-reflink-race.c")), [6, 4]);
        let metric = |name: &str| Question::Metric { name: name.into(), worse_by: None, timed: false };
        assert_eq!(found(&metric("poll/epoll-wait-100")), [3, 7, 1, 2, 11]);
        assert_eq!(found(&Question::Case("posix/timers-exec".into())), [10]);
        assert_eq!(found(&Question::Log("BUG: in EVENTPOLL".into())), [3, 7]);
    }

    #[test]
    fn a_question_without_words_has_no_answer() {
        for question in [Question::Boot, Question::Build, program("100-46135 is no"), program("zram")] {
            assert_eq!(found(&question), [0; 0], "{question:?}");
        }
        // What all have in common says nothing of one.
        assert_eq!(closest(&program("race"), &["a race".into(), "race: b".into()]), [0; 0]);
        assert_eq!(closest(&program("race"), &[]), [0; 0]);
    }

    proptest! {
        #[test]
        fn each_is_named_once(asked in "[a-c/: -]{0,9}", changes in prop::collection::vec("[a-cA-C: é]{0,9}", 0..9)) {
            let mut closest = closest(&program(&asked), &changes);
            closest.sort_unstable();
            prop_assert!(closest.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(closest.last().is_none_or(|last| *last < changes.len()));
        }
    }
}
