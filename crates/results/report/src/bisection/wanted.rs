//! Words by which changes are found that may have to do with what was asked and seen.

use std::collections::BTreeSet;

use bisect::{Bisection, Question};

use super::functions::changed;
use super::sides::{Sides, sides};

/// Characters of a word at least: of a shorter one there are pieces in everything.
const WORD_MIN: usize = 3;

/// The words of the question, the functions in which a counted metric differs, and those in which the kernel found
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
        Question::Metric { name, .. } => name,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: impl IntoIterator<Item = String>) -> Vec<String> {
        words.into_iter().collect()
    }

    #[test]
    fn a_question_has_words() {
        let of = |question: Question| list(of_question(&question));
        assert_eq!(of(Question::Program("xfs-reflink-race.c".into())), ["race", "reflink", "xfs"]);
        let metric = |name: &str| Question::Metric { name: name.into(), worse_by: None, timed: false };
        assert_eq!(of(metric("poll/epoll-wait-100")), ["epoll", "poll", "wait"]);
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
}
