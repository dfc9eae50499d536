//! The order in which kernels came out, read from their labels.
//!
//! A label is the name of a release in any of the ways in use: `2.6.14-rc2-mm1`, `v6.12-rc3`, `6.1.192-2`,
//! `6.12.117+deb12-cloud-amd64`, `2.6.15-mm3+p20692`. From the start of both labels on, the first part in which
//! they differ decides. Where one of them has ended, what the other goes on with says which is older:
//!
//! 1. `~`, as Debian marks what comes before a version
//! 2. `-rc1`: a candidate comes before its release
//! 3. nothing: the release itself
//! 4. `+p20692`: a patch on top of it
//! 5. `+deb12` and other additions
//! 6. `-2`, `-git3`, `-mm1`, `-amd64`: revisions, snapshots, trees made from it, then flavours
//! 7. `.1`: the next level
//!
//! Labels of different distributions are compared all the same, but an ABI number (`6.1.0-56`) and an upstream
//! level (`6.1.192`) count different things.

use std::cmp::Ordering;

/// Compares two labels: which kernel came out first. Any text has a place; versions come before other words.
///
/// Patches on one base are siblings, whose numbers say nothing about their order: they compare equal, so that a
/// stable sort leaves them as they were given. Whoever needs every label in one fixed place compares the texts
/// where this says [`Ordering::Equal`].
pub fn compare(left: &str, right: &str) -> Ordering {
    key(left).cmp(&key(right))
}

/// A part with what stands before it. The order of the kinds is the order of labels that are equal up to there.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Before(Atom<'a>),
    Candidate(Number<'a>),
    End,
    Patch,
    Plus(Atom<'a>),
    /// Follows without a sign: the 1 of `mm1`.
    Joined(Atom<'a>),
    Dash(Atom<'a>),
    Dot(Atom<'a>),
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Atom<'a> {
    Number(Number<'a>),
    Word(&'a str),
}

/// Digits without leading zeros, compared by value however many there are.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Number<'a> {
    length: usize,
    digits: &'a str,
}

impl<'a> Number<'a> {
    fn new(text: &'a str) -> Self {
        let digits = text.trim_start_matches('0');
        Self { length: digits.len(), digits }
    }
}

/// The parts of a label, with the end as the last.
fn key(label: &str) -> Vec<Part<'_>> {
    let label = label.trim();
    let tagged = label.strip_prefix('v').filter(|rest| rest.starts_with(is_digit));
    let label = tagged.unwrap_or(label);
    let levels = label.find(|c| !is_digit(c) && c != '.').unwrap_or(label.len());
    let (levels, rest) = label.split_at(levels);
    // 6.12-rc1 calls itself 6.12.0-rc1.
    let mut parts: Vec<_> = parts(levels.trim_end_matches(".0")).chain(parts(rest)).collect();
    parts.push(Part::End);
    parts
}

fn parts(mut text: &str) -> impl Iterator<Item = Part<'_>> {
    std::iter::from_fn(move || {
        let part;
        (part, text) = next(text)?;
        Some(part)
    })
}

/// The first part of a text and what follows it.
fn next(text: &str) -> Option<(Part<'_>, &str)> {
    let sign = text.chars().next()?;
    let known = matches!(sign, '~' | '+' | '-' | '.');
    let body = if known { &text[1..] } else { text };
    let word = body.split(is_end_of_word).next().unwrap_or_default();
    let digits = body.split(|c| !is_digit(c)).next().unwrap_or_default();
    let after_word = &body[word.len()..];
    let number = after_word.split(|c| !is_digit(c)).next().unwrap_or_default();
    if !number.is_empty() {
        let after = &after_word[number.len()..];
        match (sign, word) {
            ('-' | '~', "rc") => return Some((Part::Candidate(Number::new(number)), after)),
            ('+', "p") => return Some((Part::Patch, after)),
            _ => {}
        }
    }
    let (atom, after) = match digits {
        "" => (Atom::Word(word), after_word),
        digits => (Atom::Number(Number::new(digits)), &body[digits.len()..]),
    };
    let part = match sign {
        '~' => Part::Before(atom),
        '+' => Part::Plus(atom),
        '-' => Part::Dash(atom),
        '.' => Part::Dot(atom),
        _ => Part::Joined(atom),
    };
    Some((part, after))
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

/// Everything else belongs to words, so that no character is without a place.
fn is_end_of_word(character: char) -> bool {
    is_digit(character) || matches!(character, '~' | '+' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::subsequence;

    /// The kernels of a series of benchmarks from 2005 and 2006, oldest first.
    const SERIES: [&str; 54] = [
        "2.6.13",
        "2.6.13-mm1",
        "2.6.13-mm3",
        "2.6.14-rc1",
        "2.6.14-rc1-mm1",
        "2.6.14-rc2",
        "2.6.14-rc2-mm1",
        "2.6.14-rc2-mm2",
        "2.6.14-rc4",
        "2.6.14-rc4-mm1",
        "2.6.14-rc5",
        "2.6.14-rc5-mm1",
        "2.6.14",
        "2.6.14-mm1",
        "2.6.14.1",
        "2.6.15-rc1",
        "2.6.15-rc1-mm1",
        "2.6.15-rc1-mm2",
        "2.6.15-rc2",
        "2.6.15-rc2-mm1",
        "2.6.15-rc3",
        "2.6.15-rc3-mm1",
        "2.6.15-rc4",
        "2.6.15-rc5",
        "2.6.15-rc5-mm1",
        "2.6.15-rc5-mm3+p19087",
        "2.6.15-rc6",
        "2.6.15-rc7",
        "2.6.15",
        "2.6.15-mm1+p19887",
        "2.6.15-mm3",
        "2.6.15-mm3+p20545",
        "2.6.15-mm3+p20692",
        "2.6.15-mm3+p20440",
        "2.6.15-mm3+p20935",
        "2.6.15-mm4",
        "2.6.15-mm4+p20933",
        "2.6.15.1",
        "2.6.15.2",
        "2.6.15.3",
        "2.6.15.4",
        "2.6.15.6",
        "2.6.16-rc1",
        "2.6.16-rc1-mm1+p20948",
        "2.6.16-rc1-mm2+p21163",
        "2.6.16-rc1-mm2+p21319",
        "2.6.16-rc1-mm3+p21467",
        "2.6.16-rc1-mm4",
        "2.6.16-rc1-mm4+p21704",
        "2.6.16-rc1-mm5",
        "2.6.16-rc1-mm5+p22169",
        "2.6.16-rc2",
        "2.6.16-rc2-mm1",
        "2.6.16-rc3",
    ];

    /// What a patch point was made from; nothing for a release.
    fn base(label: &str) -> Option<&str> {
        label.split_once("+p").map(|(base, _)| base)
    }

    #[track_caller]
    fn ascending(labels: &[&str]) {
        for (at, left) in labels.iter().enumerate() {
            for right in &labels[at + 1..] {
                assert_eq!(compare(left, right), Ordering::Less, "{left} {right}");
            }
        }
    }

    #[test]
    fn candidates_snapshots_and_levels_stand_around_their_release() {
        ascending(&[
            "2.6.13.4",
            "2.6.14-rc1",
            "2.6.14-rc1-git2",
            "2.6.14-rc1-git10",
            "2.6.14-rc1-mm1",
            "2.6.14-rc10",
            "2.6.14",
            "2.6.14+p5",
            "2.6.14-git1",
            "2.6.14-git1-mm1",
            "2.6.14-mm1",
            "2.6.14.1-rc1",
            "2.6.14.1",
            "v3.0-rc1",
            "3.0",
            "6.1.2",
            "6.1.192",
            "6.12-rc1",
            "v6.12-rc1-3-gabcdef",
            "6.12.0-rc1-next-20241001",
            "6.12.0-rc2",
            "v6.12",
            "6.12.1",
            "next-20241001",
        ]);
    }

    #[test]
    fn packages_of_debian_and_ubuntu() {
        ascending(&[
            "6.1.0-47-amd64",
            "6.1.0-56-amd64",
            "6.1.0-56-cloud-amd64",
            "6.1.0-56-rt-amd64",
            "6.1.0-100-amd64",
            "6.1.176-1",
            "6.1.192-1",
            "6.1.192-2~bpo12+1",
            "6.1.192-2",
            "6.8.0-9-generic",
            "6.8.0-31-generic",
            "6.8.0-31-lowlatency",
            "6.8.0-1001-azure",
            "6.12~rc1-1~exp1",
            "6.12.9+bpo-amd64",
            "6.12.100+deb12-amd64",
            "6.12.117+deb12-amd64",
            "6.12.117+deb12-cloud-amd64",
            "6.12.117-1~deb12u1",
            "6.12.117-1",
        ]);
    }

    #[test]
    fn writings_of_one_version_are_equal() {
        for (left, right) in [
            ("v6.12-rc1", "6.12.0-rc1"),
            ("6.12", "6.12.0"),
            ("6.12~rc2", "6.12-rc2"),
            ("6.01", "6.1"),
            (" 6.1\n", "6.1"),
        ] {
            assert_eq!(compare(left, right), Ordering::Equal, "{left} {right}");
        }
        assert_ne!(compare("6.10", "6.1"), Ordering::Equal);
    }

    #[test]
    fn patches_on_one_base_are_siblings() {
        let group: Vec<&str> = SERIES.into_iter().filter(|label| base(label) == Some("2.6.15-mm3")).collect();
        assert_eq!(group.len(), 4);
        assert!(group.iter().all(|label| compare(label, group[0]) == Ordering::Equal));
        ascending(&["2.6.15-mm3", group[0], "2.6.15-mm4"]);
    }

    /// Anything that looks like a label, and anything else.
    fn labels() -> impl Strategy<Value = String> {
        let piece = proptest::sample::select(vec![
            "v", "6", ".1", ".0", "0", "-rc", "~rc", "-mm1", "-git", "+p7", "+", "~", "-", ".", "-amd64",
            "um", "é", "12",
        ]);
        let made = proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
        prop_oneof![made, any::<String>(), proptest::sample::select(SERIES.to_vec()).prop_map(str::to_owned)]
    }

    proptest! {
        #[test]
        fn any_permutation_sorts_back(order in Just(SERIES.to_vec()).prop_shuffle()) {
            // Siblings have no order among themselves, so they keep the one in which they were tested.
            let mut sorted = order.clone();
            let place = |label: &str| SERIES.iter().position(|known| *known == label);
            let mut siblings: Vec<&str> = order.into_iter().filter(|label| base(label).is_some()).collect();
            siblings.sort_by_key(|label| (base(label), place(label)));
            for label in sorted.iter_mut().filter(|label| base(label).is_some()) {
                *label = siblings.remove(0);
            }
            sorted.sort_by(|left, right| compare(left, right));
            prop_assert_eq!(sorted, SERIES);
        }

        #[test]
        fn a_part_of_the_series_in_order_stays_so(part in subsequence(SERIES.to_vec(), 0..54)) {
            let mut sorted = part.clone();
            sorted.sort_by(|left, right| compare(left, right));
            prop_assert_eq!(sorted, part);
        }

        #[test]
        fn the_order_is_total(a in labels(), b in labels(), c in labels()) {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            prop_assert_eq!(compare(&a, &a), Ordering::Equal);
            if compare(&a, &b) != Ordering::Greater && compare(&b, &c) != Ordering::Greater {
                prop_assert_ne!(compare(&a, &c), Ordering::Greater);
            }
            if compare(&a, &b) == Ordering::Equal {
                prop_assert_eq!(compare(&a, &c), compare(&b, &c));
            }
        }
    }
}
