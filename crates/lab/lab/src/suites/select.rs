//! Choosing cases.

use globset::{GlobBuilder, GlobMatcher};
use machine::catalogue;
use protocol::catalogue::{Case, Cases, Operation};
use thiserror::Error;

/// The suite that runs when no other is asked for.
pub const DEFAULT: &str = "smoke";

/// The suite of collisions that kernels had to survive.
pub const RACES: &str = "races";

/// A wish for cases that do not exist.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UnknownCase {
    /// No such suite.
    #[error("unknown suite {0:?}; the suites are {all}; write a folder with a slash, such as ./tests", all = catalogue::cases().suites.join(", "))]
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
            let hint = elsewhere(catalogue::cases(), suite, &pattern).unwrap_or(hint);
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
    let compiled: Vec<Pattern> = patterns.iter().map(|pattern| Pattern::new(pattern)).collect();
    let none = |pattern: &&Pattern| !all.iter().any(|one| pattern.matches(name(one)));
    if let Some(Pattern { text: pattern, .. }) = compiled.iter().find(none) {
        let names: Vec<&str> = all.iter().map(&name).collect();
        let (suite, pattern) = (suite.to_string(), pattern.clone());
        let hint = hint(&pattern, &names);
        return Err(UnknownCase::Pattern { suite, pattern, hint });
    }
    let wanted = |one: &T| compiled.is_empty() || compiled.iter().any(|pattern| pattern.matches(name(one)));
    Ok(all.into_iter().filter(wanted).collect())
}

/// The suite that has what the pattern asks for, or the area of that name; the chosen `suite` before others.
fn elsewhere(cases: &Cases, suite: &str, pattern: &str) -> Option<String> {
    if let Some(found) = having(cases, suite, pattern) {
        return Some(format!(" (suite {found} has it)"));
    }
    let area = area(pattern);
    let found = having(cases, suite, &area)?;
    let place = if found == suite { String::new() } else { format!(" suite {found} has it") };
    Some(format!(" (did you mean '{area}'?{place})"))
}

/// The suite that has a case of such a name; the chosen `suite` before others.
fn having<'a>(cases: &'a Cases, suite: &'a str, pattern: &str) -> Option<&'a str> {
    let pattern = Pattern::new(pattern);
    let has = |suite: &&str| {
        cases.suite(suite).is_some_and(|all| all.iter().any(|case| pattern.matches(&case.name)))
    };
    std::iter::once(suite).chain(cases.suites.iter().map(String::as_str)).find(has)
}

/// All cases of the area of that name.
fn area(name: &str) -> String {
    format!("{}/*", name.trim_end_matches('/'))
}

/// The area of that name, or the names that share most words with the pattern.
fn hint(pattern: &str, all: &[&str]) -> String {
    let area = area(pattern);
    if all.iter().any(|name| matches(&area, name)) {
        return format!(" (did you mean '{area}'?)");
    }
    let words: Vec<&str> = pattern.split(['/', '-', '*', '?']).filter(|word| word.len() > 2).collect();
    let shared = |name: &str| words.iter().filter(|word| name.contains(*word)).count();
    let mut close: Vec<&str> = all.iter().copied().filter(|name| shared(name) > 0).collect();
    close.sort_by_key(|name| std::cmp::Reverse(shared(name)));
    close.truncate(3);
    if close.is_empty() { String::new() } else { format!(" (did you mean {}?)", close.join(", ")) }
}

/// A pattern for names: `*` stands for any text, slashes included, and `?` for one character; all else for itself.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    /// Nothing of a pattern that is too large.
    glob: Option<GlobMatcher>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl Pattern {
    /// A pattern, as the user wrote it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut glob = String::new();
        for c in text.chars() {
            match c {
                // Two of them have a meaning of their own in globset.
                '*' if glob.ends_with('*') => {}
                // A case may have brackets and braces in its name.
                '[' | ']' | '{' | '}' | '\\' => glob.extend(['\\', c]),
                _ => glob.push(c),
            }
        }
        let glob = GlobBuilder::new(&glob).backslash_escape(true).build().ok();
        Self { text: text.to_owned(), glob: glob.map(|glob| glob.compile_matcher()) }
    }

    /// Whether a name has this form.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.text == name || self.glob.as_ref().is_some_and(|glob| glob.is_match(name))
    }
}

/// Whether `name` has the form of the [`Pattern`] `pattern`.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    Pattern::new(pattern).matches(name)
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
            ("*", "", true),
            ("", "a", false),
            ("a*c", "abbc", true),
            ("a*c", "abcd", false),
            ("a?c", "abc", true),
            ("a?", "a", false),
            ("?", "", false),
            ("*b*", "abc", true),
            ("b*", "ab", false),
            ("a**", "a", true),
            ("ä*", "äb", true),
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

    #[test]
    fn an_area_is_suggested_also_where_only_another_suite_has_it() {
        let in_suites = |name: &str, suites: &[&str]| Case {
            name: name.to_string(),
            about: String::new(),
            needs: Vec::new(),
            limit: std::time::Duration::from_secs(1),
            expects: Vec::new(),
            suites: suites.iter().map(ToString::to_string).collect(),
        };
        let cases = Cases {
            suites: ["smoke", "full"].map(String::from).into(),
            cases: vec![in_suites("fs/a", &["smoke", "full"]), in_suites("lock/a", &["full"])],
        };
        let hint = |suite: &str, pattern: &str| elsewhere(&cases, suite, pattern).unwrap_or_default();
        for (suite, pattern, expected) in [
            ("smoke", "fs", " (did you mean 'fs/*'?)"),
            ("smoke", "fs/", " (did you mean 'fs/*'?)"),
            ("full", "fs", " (did you mean 'fs/*'?)"),
            ("full", "lock", " (did you mean 'lock/*'?)"),
            ("smoke", "lock", " (did you mean 'lock/*'? suite full has it)"),
            ("smoke", "lock/a", " (suite full has it)"),
            ("smoke", "nothing", ""),
        ] {
            assert_eq!(hint(suite, pattern), expected, "{suite} {pattern}");
        }
        let error = select(DEFAULT, &["fs".into()]).unwrap_err().to_string();
        assert!(error.contains(" (did you mean 'fs/*'?);"), "{error}");
        assert!(operations(&["pipe".into()]).unwrap_err().to_string().contains("did you mean 'pipe/*'?"));
    }

    /// The meaning of a pattern, by its definition.
    fn by_definition(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'*', rest)) => (0..=name.len()).any(|at| by_definition(rest, &name[at..])),
            Some((sign, rest)) => name.split_first().is_some_and(|(first, others)| {
                (*sign == b'?' || sign == first) && by_definition(rest, others)
            }),
        }
    }

    proptest! {
        #[test]
        fn a_pattern_means_what_its_definition_says(pattern in "[ab/.*?!^,\\[\\]{}\\\\-]{0,8}", name in "[ab/.,\\[\\]{}\\\\-]{0,8}") {
            let expected = by_definition(pattern.as_bytes(), name.as_bytes());
            prop_assert_eq!(matches(&pattern, &name), expected);
        }

        #[test]
        fn every_name_matches_itself_and_its_beginnings(name in "[a-z/]{0,20}", cut in 0usize..20) {
            prop_assert!(matches(&name, &name));
            let cut = cut.min(name.len());
            let pattern = format!("{}*", &name[..cut]);
            prop_assert!(matches(&pattern, &name));
        }
    }
}
