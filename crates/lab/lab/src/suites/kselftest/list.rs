//! `kselftest-list.txt`: a test a line, `GROUP:TEST`.

use thiserror::Error;

/// A test of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// The folder it is in, such as `timers` or `net/forwarding`.
    pub group: String,
    /// The name of its program there.
    pub name: String,
}

/// A line that is no test.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {why}")]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub why: &'static str,
}

/// Reads a list. A test that is named twice is kept once.
///
/// # Errors
///
/// At the first line that names no file below the folder of the list.
pub fn parse(text: &str) -> Result<Vec<Test>, Malformed> {
    let mut tests = Vec::new();
    let mut known = std::collections::HashSet::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let malformed = |why| Malformed { line: index + 1, why };
        let (group, name) = line.split_once(':').ok_or(malformed("is not of the form GROUP:TEST"))?;
        let is_name = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !group.split('/').all(is_name) || !is_name(name) || name.contains('/') {
            return Err(malformed("names no file of a group"));
        }
        if line.contains(char::is_control) {
            return Err(malformed("holds control characters"));
        }
        if known.insert(line) {
            tests.push(Test { group: group.to_string(), name: name.to_string() });
        }
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn groups_may_be_nested() {
        let tests =
            parse("timers:posix_timers\nnet/forwarding:tc_actions.sh\n\ntimers:posix_timers\n").unwrap();
        let pairs: Vec<_> = tests.iter().map(|test| (test.group.as_str(), test.name.as_str())).collect();
        assert_eq!(pairs, [("timers", "posix_timers"), ("net/forwarding", "tc_actions.sh")]);
    }

    #[test]
    fn nothing_leads_out() {
        for line in ["x", "..:x", "a/../..:x", "a:../x", "a:b/c", "/a:b", ":b", "a:", "a:\x1b"] {
            assert_eq!(parse(&format!("ok:ok\n{line}\n")).unwrap_err().line, 2, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "[a-c/.:\\n\\t]{0,60}") {
            for test in parse(&text).unwrap_or_default() {
                let path = format!("{}/{}", test.group, test.name);
                prop_assert!(path.split('/').all(|part| part != ".."));
            }
        }
    }
}
