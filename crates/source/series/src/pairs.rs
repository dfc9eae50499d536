//! Which patch of one revision became which of another.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::assemble::Assembled;
use crate::compose::Composed;
use crate::patch_id::{changes, readable};

/// How alike two patches without a common name must be to be the same one, from 0 to 1.
const ALIKE: f64 = 0.5;

/// Most patches on each side that are compared with all of the other side, and the longest of them in bytes.
const COMPARED_MAX: usize = 50;
const LENGTH_MAX: usize = 64 << 10;

/// A patch as a person compares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Its place in its series.
    pub number: u32,
    /// Its subject.
    pub subject: String,
    /// Author, message and changes, without numbers of lines.
    pub text: String,
    changes: Vec<u8>,
}

/// What became of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// In the older revision; nothing if the patch is new.
    pub older: Option<Side>,
    /// In the newer one; nothing if it is gone.
    pub newer: Option<Side>,
}

impl Pair {
    /// Whether it is the same in both.
    pub fn is_same(&self) -> bool {
        self.older.as_ref().map(|side| &side.text) == self.newer.as_ref().map(|side| &side.text)
    }
}

/// Pairs the patches of two revisions: those that change the same, then those with the same subject, then those that are
/// most alike. In the order of the newer one; what is gone stands where it was.
pub fn pairs(older: &Assembled<'_>, newer: &Assembled<'_>) -> Vec<Pair> {
    let (older, newer) = (sides(older), sides(newer));
    let mut found: Vec<Option<usize>> = vec![None; newer.len()];
    let mut is_free = vec![true; older.len()];
    let by_changes = |one: &Side, other: &Side| !one.changes.is_empty() && one.changes == other.changes;
    let by_subject = |one: &Side, other: &Side| one.subject.eq_ignore_ascii_case(&other.subject);
    for matches in [&by_changes as &dyn Fn(&Side, &Side) -> bool, &by_subject] {
        for (index, new) in
            newer.iter().enumerate().filter(|(index, _)| found[*index].is_none()).collect::<Vec<_>>()
        {
            let old = older.iter().enumerate().position(|(at, old)| is_free[at] && matches(old, new));
            found[index] = old.inspect(|&at| is_free[at] = false);
        }
    }
    pair_alike(&older, &newer, &mut found, &mut is_free);
    ordered(older, newer, &found)
}

fn sides(assembled: &Assembled<'_>) -> Vec<Side> {
    let side = |(&number, patch): (&u32, &crate::assemble::Patch<'_>)| {
        let composed = Composed::of(patch.mail);
        let changed = readable(&composed.patch);
        let text = format!(
            "From: {}\nSubject: {}\n\n{}\n\n{changed}",
            composed.author, composed.subject, composed.message
        );
        Side { number, changes: changes(&composed.patch), subject: composed.subject, text }
    };
    assembled.patches.iter().map(side).collect()
}

/// The most alike first.
fn pair_alike(older: &[Side], newer: &[Side], found: &mut [Option<usize>], is_free: &mut [bool]) {
    let is_short = |side: &Side| side.text.len() <= LENGTH_MAX;
    let olds: Vec<usize> =
        (0..older.len()).filter(|&at| is_free[at] && is_short(&older[at])).take(COMPARED_MAX).collect();
    let news = (0..newer.len()).filter(|&at| found[at].is_none() && is_short(&newer[at])).take(COMPARED_MAX);
    let mut scores = Vec::new();
    for new in news {
        scores.extend(olds.iter().map(|&old| (ratio_of_lines(&older[old].text, &newer[new].text), old, new)));
    }
    scores.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (score, old, new) in scores {
        if score >= ALIKE && is_free[old] && found[new].is_none() {
            is_free[old] = false;
            found[new] = Some(old);
        }
    }
}

/// The share of lines that two texts have in common.
fn ratio_of_lines(one: &str, other: &str) -> f64 {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.lines().collect(), other.lines().collect());
    let common = |operation: &DiffOp| if let DiffOp::Equal { len, .. } = operation { *len } else { 0 };
    let equal: usize = capture_diff_slices(Algorithm::Myers, &one, &other).iter().map(common).sum();
    2.0 * equal as f64 / (one.len() + other.len()).max(1) as f64
}

fn ordered(older: Vec<Side>, newer: Vec<Side>, found: &[Option<usize>]) -> Vec<Pair> {
    let mut older: Vec<Option<Side>> = older.into_iter().map(Some).collect();
    let mut pairs = Vec::new();
    let mut next = 0;
    for (new, old) in newer.into_iter().zip(found) {
        // What is gone stands before the first patch that came after it.
        let until = old.map_or(next, |old| old.max(next));
        pairs.extend(gone(&mut older[next..until], next, found));
        next = until;
        pairs.push(Pair { older: old.and_then(|old| older[old].take()), newer: Some(new) });
    }
    pairs.extend(gone(&mut older[next..], next, found));
    pairs
}

/// Those of some patches that have become no other.
fn gone(older: &mut [Option<Side>], first: usize, found: &[Option<usize>]) -> Vec<Pair> {
    let is_gone = |at: usize| !found.contains(&Some(first + at));
    let of = |(at, side): (usize, &mut Option<Side>)| if is_gone(at) { side.take() } else { None };
    older.iter_mut().enumerate().filter_map(of).map(|side| Pair { older: Some(side), newer: None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::{Choice, assemble};
    use crate::series::series;
    use crate::tests::{Letter, threads};

    /// `old=new` for what is the same, `old!new` for what has changed.
    fn shown(older: &[(&str, &str)], newer: &[(&str, &str)]) -> String {
        let total = |list: &[(&str, &str)]| list.len();
        let subjects = |prefix: &str, list: &[(&str, &str)]| -> Vec<String> {
            let each = list.iter().enumerate();
            each.map(|(at, (subject, _))| format!("[PATCH{prefix} {}/{}] {subject}", at + 1, total(list)))
                .collect()
        };
        let (first, second) = (subjects("", older), subjects(" v2", newer));
        let ids: Vec<String> = (0..20).map(|id| format!("{id}@x")).collect();
        let letter = |at: usize, subject, change| Letter {
            id: &ids[at],
            subject,
            change,
            parent: "0@x",
            is_patch: true,
            ..Letter::default()
        };
        let mut letters: Vec<Letter<'_>> = Vec::new();
        for (at, (subject, (_, change))) in first.iter().zip(older).enumerate() {
            letters.push(letter(at + 1, subject, change));
        }
        for (at, (subject, (_, change))) in second.iter().zip(newer).enumerate() {
            letters.push(letter(at + 10, subject, change));
        }
        let threads = threads(&letters);
        let all = series(&threads);
        let of = |revision| {
            assemble(&threads, &all[0], Choice { revision: Some(revision), ..Choice::default() })
                .expect("there")
        };
        let number =
            |side: &Option<Side>| side.as_ref().map_or("-".to_owned(), |side| side.number.to_string());
        let show = |pair: &Pair| {
            format!(
                "{}{}{}",
                number(&pair.older),
                if pair.is_same() { '=' } else { '!' },
                number(&pair.newer)
            )
        };
        pairs(&of(1), &of(2)).iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn patches_are_known_by_changes_then_by_name_then_by_likeness() {
        assert_eq!(shown(&[("a", "1"), ("b", "2")], &[("a", "1"), ("b", "2")]), "1=1 2=2");
        assert_eq!(shown(&[("a", "1"), ("b", "2")], &[("b", "2"), ("a", "1")]), "2=1 1=2");
        assert_eq!(shown(&[("a", "1"), ("b", "2")], &[("new name", "1"), ("b", "3")]), "1!1 2!2");
        assert_eq!(shown(&[("a", "1"), ("b", "2")], &[("c", "3"), ("d", "4")]), "1!1 2!2");
    }

    #[test]
    fn what_is_gone_and_what_is_new_is_shown_where_it_was() {
        let long = "1\n+x\n+y\n+z\n+w\n+v\n+u\n+t\n+s\n+r\n+q\n+p\n+o\n+n\n+m";
        assert_eq!(shown(&[("a", "1"), ("b", "2"), ("c", "3")], &[("a", "1"), ("c", "3")]), "1=1 2!- 3=2");
        assert_eq!(shown(&[("a", "1"), ("b", "2")], &[("a", "1"), (long, long), ("b", "2")]), "1=1 -!2 2=3");
        assert_eq!(shown(&[("a", "1"), ("b", "2")], &[("a", "1")]), "1=1 2!-");
    }
}
