//! Some patches of a series.

use std::str::FromStr;

use globset::{Glob, GlobMatcher};

/// Which patches to take, as b4's `-P` has it: `1,3,5-7,9-`, `-1` for the last, `*pattern*` for subjects.
#[derive(Debug, Clone)]
pub struct Pick {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Range { first: u32, last: Option<u32> },
    FromEnd(u32),
    Subject(GlobMatcher),
}

impl FromStr for Pick {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Result<Vec<Part>, String> = text.split(',').map(str::trim).map(part).collect();
        Ok(Self { parts: parts? })
    }
}

fn part(text: &str) -> Result<Part, String> {
    let wrong = || {
        format!(
            "{text}: give numbers of patches, such as 1,3,5-7,9- or -1, or a pattern of their subjects, such as '*mm*'"
        )
    };
    let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
    if text.contains('*') {
        let glob = Glob::new(text).map_err(|_| wrong())?;
        return Ok(Part::Subject(glob.compile_matcher()));
    }
    let found = match text.split_once('-') {
        None => number(text).map(|first| Part::Range { first, last: Some(first) }),
        Some(("", from_end)) => number(from_end).map(Part::FromEnd),
        Some((first, "")) => number(first).map(|first| Part::Range { first, last: None }),
        Some((first, last)) => match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => Some(Part::Range { first, last: Some(last) }),
            _ => None,
        },
    };
    found.ok_or_else(wrong)
}

impl Pick {
    /// Whether patch `number` of `total` with this subject is taken.
    pub fn takes(&self, number: u32, total: u32, subject: &str) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Range { first, last } => *first <= number && last.is_none_or(|last| number <= last),
            Part::FromEnd(back) => total.checked_sub(back - 1) == Some(number),
            Part::Subject(glob) => glob.is_match(subject),
        })
    }

    /// The single numbers that a series of `total` patches does not have.
    pub fn beyond(&self, total: u32) -> Option<u32> {
        self.parts.iter().find_map(|part| match part {
            Part::Range { first: number, .. } | Part::FromEnd(number) if *number > total => Some(*number),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_picked_by_number_or_subject() {
        for (text, expected) in [
            ("2", "2"),
            ("1,3", "13"),
            ("2-4", "234"),
            ("4-", "45"),
            ("-1", "5"),
            ("-5, 2", "12"),
            ("*mm:*", "24"),
            ("*x*", ""),
        ] {
            let pick: Pick = text.parse().expect(text);
            let subject = |number: u32| if number.is_multiple_of(2) { "mm: it" } else { "net: it" };
            let taken: String = (1..=5)
                .filter(|&number| pick.takes(number, 5, subject(number)))
                .map(|number| number.to_string())
                .collect();
            assert_eq!(taken, expected, "{text}");
        }
        assert_eq!("3-7".parse::<Pick>().expect("a range").beyond(2), Some(3));
        assert_eq!("1-7".parse::<Pick>().expect("a range").beyond(2), None);
    }

    #[test]
    fn what_is_no_choice_is_refused() {
        for text in ["", "0", "a", "3-1", "1-2-3", "--", "1,,2", "*[", "4294967296"] {
            assert!(text.parse::<Pick>().is_err(), "{text}");
        }
    }
}
