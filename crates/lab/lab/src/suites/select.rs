//! Choosing cases.

use machine::catalogue;
use protocol::catalogue::{Case, Operation};
use thiserror::Error;

/// The suite that runs when no other is asked for.
pub const DEFAULT: &str = "smoke";

/// A wish for cases that do not exist.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UnknownCase {
    /// No such suite.
    #[error("there is no suite {0:?}; there are: {all}; a folder is named with a slash, such as ./tests", all = catalogue::cases().suites.join(", "))]
    Suite(String),
    /// A suite of another kind.
    #[error("suite {MICRO} is measured, not run: `kiln measure` and `kiln compare` do that")]
    Measured,
    /// No case has such a name.
    #[error("no case of suite {suite} matches {pattern:?}{hint}; `kiln cases --suite {suite}` lists them")]
    Pattern {
        /// The suite.
        suite: String,
        /// What was asked for.
        pattern: String,
        /// Names that are close, or nothing.
        hint: String,
    },
}

/// The cases of kiln's own `suite` that match one of `patterns`, in the suite's order; all without patterns.
///
/// # Errors
///
/// When there is no such suite, or a pattern matches nothing.
pub fn select(suite: &str, patterns: &[String]) -> Result<Vec<&'static Case>, UnknownCase> {
    if suite == MICRO {
        return Err(UnknownCase::Measured);
    }
    let all = catalogue::cases().suite(suite).ok_or_else(|| UnknownCase::Suite(suite.to_string()))?;
    matching(suite, all, |case| &case.name, patterns).map_err(|error| match error {
        UnknownCase::Pattern { pattern, hint, .. } => {
            let hint = elsewhere(&pattern).unwrap_or(hint);
            UnknownCase::Pattern { suite: suite.to_string(), pattern, hint }
        }
        other => other,
    })
}

/// The suite of operations that are measured.
pub const MICRO: &str = "micro";

/// The operations that match one of `patterns`, in the order in which they are measured; all without patterns.
///
/// # Errors
///
/// When a pattern matches nothing.
pub fn operations(patterns: &[String]) -> Result<Vec<&'static Operation>, UnknownCase> {
    matching(MICRO, catalogue::operations().iter().collect(), |operation| &operation.name, patterns)
}

/// What matches one of `patterns` by its name; all without patterns.
pub(super) fn matching<T>(
    suite: &str,
    all: Vec<T>,
    name: impl Fn(&T) -> &str,
    patterns: &[String],
) -> Result<Vec<T>, UnknownCase> {
    let none = |pattern: &&String| !all.iter().any(|one| matches(pattern, name(one)));
    if let Some(pattern) = patterns.iter().find(none) {
        let names: Vec<&str> = all.iter().map(&name).collect();
        let (suite, pattern) = (suite.to_string(), pattern.clone());
        let hint = hint(&pattern, &names);
        return Err(UnknownCase::Pattern { suite, pattern, hint });
    }
    let wanted = |one: &T| patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, name(one)));
    Ok(all.into_iter().filter(wanted).collect())
}

/// The suite that has what the pattern asks for.
fn elsewhere(pattern: &str) -> Option<String> {
    let cases = catalogue::cases();
    let has = |suite: &&String| {
        cases.suite(suite).is_some_and(|all| all.iter().any(|case| matches(pattern, &case.name)))
    };
    cases.suites.iter().find(has).map(|suite| format!(" (suite {suite} has it)"))
}

/// The names that share most words with the pattern.
fn hint(pattern: &str, all: &[&str]) -> String {
    let words: Vec<&str> = pattern.split(['/', '-', '*', '?']).filter(|word| word.len() > 2).collect();
    let shared = |name: &str| words.iter().filter(|word| name.contains(*word)).count();
    let mut close: Vec<&str> = all.iter().copied().filter(|name| shared(name) > 0).collect();
    close.sort_by_key(|name| std::cmp::Reverse(shared(name)));
    close.truncate(3);
    if close.is_empty() { String::new() } else { format!(" (did you mean {}?)", close.join(", ")) }
}

/// Whether `name` has the form of `pattern`: `*` stands for any text, `?` for one character.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where the last star was, and up to where in the name it reaches.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p).is_some_and(|&byte| byte == b'?' || byte == name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((at, reach)) = star {
            star = Some((at, reach + 1));
            (p, n) = (at + 1, reach + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_are_those_of_a_shell() {
        for (pattern, name, expected) in [
            ("fs/*", "fs/xfs-remembers", true),
            ("*", "a/b", true),
            ("*/full", "pipe/full", true),
            ("pipe/f?ll", "pipe/full", true),
            ("pipe", "pipe/full", false),
            ("*x*y", "axbxcy", true),
            ("*x*y", "axbxc", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_that_matches_nothing_names_close_cases() {
        let error = select(DEFAULT, &["pipe/ful".into()]).expect_err("no such case");
        assert!(error.to_string().contains("did you mean pipe/"), "{error}");
        assert!(select("rough", &[]).is_err());
    }

    #[test]
    fn a_case_of_another_suite_is_pointed_out() {
        let error = select(DEFAULT, &["lock/deadlock".into()]).expect_err("not in the smoke suite");
        assert!(error.to_string().contains("(suite full has it)"), "{error}");
    }

    proptest! {
        #[test]
        fn every_name_matches_itself_and_its_beginnings(name in "[a-z/]{0,20}", cut in 0usize..20) {
            prop_assert!(matches(&name, &name));
            let cut = cut.min(name.len());
            let pattern = format!("{}*", &name[..cut]);
            prop_assert!(matches(&pattern, &name));
        }
    }
}
