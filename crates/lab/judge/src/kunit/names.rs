//! Names that stay the same from boot to boot.

use std::collections::HashMap;

/// Bytes of one part of a name at most.
const PART_MAX: usize = 120;

/// Names that were given.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// How often each was given, with suffixes or without.
    given: HashMap<String, u32>,
}

impl Names {
    /// The name for `path`; one that was given before gets a suffix.
    pub(super) fn give(&mut self, path: &[String]) -> String {
        let plain = path.join("/");
        let mut count = self.given.get(&plain).copied().unwrap_or(0) + 1;
        let mut name = plain.clone();
        // A test may have a name that looks like one with a suffix.
        while count > 1 {
            name = format!("{plain}.{count}");
            if !self.given.contains_key(&name) {
                break;
            }
            count += 1;
        }
        self.given.insert(plain, count);
        self.given.entry(name.clone()).or_insert(1);
        name
    }
}

/// A description as one part of a name.
pub(super) fn part(text: &str) -> String {
    let text = protocol::results::cut(text.trim(), PART_MAX);
    text.chars().map(|c| if c == '/' || c.is_control() { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(parts: &[&str]) -> Vec<String> {
        parts.iter().map(|text| part(text)).collect()
    }

    #[test]
    fn a_second_test_of_the_same_name_gets_a_suffix() {
        let mut names = Names::default();
        let given: Vec<_> =
            ["a", "a", "a.2", "a"].iter().map(|name| names.give(&path(&["s", name]))).collect();
        assert_eq!(given, ["s/a", "s/a.2", "s/a.2.2", "s/a.3"]);
    }

    #[test]
    fn a_slash_in_a_parameter_makes_no_level() {
        assert_eq!(Names::default().give(&path(&["s", "t", " 1/2 of it\n"])), "s/t/1_2 of it");
    }
}
