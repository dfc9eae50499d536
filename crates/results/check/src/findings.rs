//! Findings of static analysis that are new, fixed, or were there before.

use std::collections::{HashMap, VecDeque};

use judge::signature::masked;
use kbuild::analysis::{Finding, Tool};

/// What became of the findings of two analyses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Matched {
    /// Only after.
    pub(crate) new: Vec<Finding>,
    /// Only before.
    pub(crate) fixed: Vec<Finding>,
    /// In both, as they are after.
    pub(crate) outstanding: Vec<Finding>,
}

/// What a finding is known by: lines move, and so do the numbers in a text.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    tool: Tool,
    rule: Option<String>,
    /// Nothing where code may have moved from file to file.
    file: Option<String>,
    text: String,
    code: String,
}

/// Matches findings by their line of code, wherever that is now: in the same file first, then in any.
pub(crate) fn matched(before: Vec<Finding>, after: Vec<Finding>) -> Matched {
    let mut matched = Matched { new: after, fixed: before, outstanding: Vec::new() };
    matched.take_alike(|finding| Some(key(finding, finding.file.clone())));
    matched.take_alike(|finding| (!finding.code.is_empty()).then(|| key(finding, None)));
    matched
}

fn key(finding: &Finding, file: Option<String>) -> Key {
    let Finding { tool, rule, text, code, .. } = finding;
    let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
    Key { tool: *tool, rule: rule.clone(), file, text: masked(text), code }
}

impl Matched {
    /// Of those with the same key the first goes with the first.
    fn take_alike(&mut self, key: impl Fn(&Finding) -> Option<Key>) {
        let mut known: HashMap<Key, VecDeque<usize>> = HashMap::new();
        for (at, finding) in self.fixed.iter().enumerate() {
            key(finding).into_iter().for_each(|key| known.entry(key).or_default().push_back(at));
        }
        let mut gone = vec![true; self.fixed.len()];
        let (new, known): (Vec<Finding>, Vec<Finding>) =
            std::mem::take(&mut self.new).into_iter().partition(|finding| {
                let twin = key(finding).and_then(|key| known.get_mut(&key)?.pop_front());
                twin.inspect(|at| gone[*at] = false).is_none()
            });
        let mut gone = gone.into_iter();
        self.fixed.retain(|_| gone.next().unwrap_or(true));
        self.new = new;
        self.outstanding.extend(known);
    }
}

#[cfg(test)]
mod tests {
    use kbuild::diagnostics::Severity;

    use super::*;

    fn finding(file: &str, line: u32, text: &str, code: &str) -> Finding {
        Finding {
            file: Some(file.to_owned()),
            line: Some(line),
            code: code.to_owned(),
            ..Finding::new(Tool::Sparse, Severity::Warning, text)
        }
    }

    fn before() -> Vec<Finding> {
        vec![
            finding("fs/x.c", 10, "incorrect type", "a = b;"),
            finding("fs/x.c", 20, "incorrect type", "a = c;"),
            finding("fs/x.c", 30, "freed on line 25", "return p;"),
        ]
    }

    fn lines(findings: &[Finding]) -> Vec<Option<u32>> {
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn moved_code_is_neither_new_nor_fixed() {
        let after = vec![
            finding("fs/x.c", 7, "freed on line 2", "return  p;"),
            finding("fs/x.c", 110, "incorrect type", "a = b;"),
            finding("fs/y.c", 1, "incorrect type", "a = c;"),
        ];
        let matched = matched(before(), after);
        assert_eq!((matched.new, matched.fixed), (vec![], vec![]));
        assert_eq!(lines(&matched.outstanding), [Some(7), Some(110), Some(1)]);
    }

    #[test]
    fn the_same_once_more_is_new_and_the_same_once_less_is_fixed() {
        let mut after = before();
        after.push(finding("fs/x.c", 40, "incorrect type", "a = b;"));
        let more = matched(before(), after.clone());
        assert_eq!(
            (lines(&more.new), lines(&more.fixed), more.outstanding.len()),
            (vec![Some(40)], vec![], 3)
        );
        let less = matched(after, before());
        assert_eq!(
            (lines(&less.new), lines(&less.fixed), less.outstanding.len()),
            (vec![], vec![Some(40)], 3)
        );
    }

    #[test]
    fn another_line_of_code_text_rule_or_analyser_is_another_finding() {
        let one = || finding("fs/x.c", 10, "incorrect type", "a = b;");
        let others = [
            finding("fs/x.c", 10, "incorrect type", "a = d;"),
            finding("fs/x.c", 10, "other type", "a = b;"),
            Finding { rule: Some("rule".to_owned()), ..one() },
            Finding { tool: Tool::Gcc, ..one() },
        ];
        for other in others {
            let matched = matched(vec![one()], vec![other.clone()]);
            assert_eq!((matched.new, matched.fixed), (vec![other], vec![one()]));
        }
    }

    #[test]
    fn what_has_no_code_is_told_by_its_file() {
        let of = |file: &str| vec![finding(file, 1, "odd", "")];
        assert_eq!(matched(of("fs/x.c"), of("fs/x.c")).outstanding.len(), 1);
        assert_eq!(matched(of("fs/x.c"), of("fs/y.c")).new.len(), 1);
    }

    proptest::proptest! {
        /// Whatever comes, each finding is in one place.
        #[test]
        fn nothing_is_lost(before in some(), after in some()) {
            let matched = matched(before.clone(), after.clone());
            proptest::prop_assert_eq!(matched.new.len() + matched.outstanding.len(), after.len());
            proptest::prop_assert_eq!(matched.fixed.len() + matched.outstanding.len(), before.len());
            for new in &matched.new {
                proptest::prop_assert!(!matched.fixed.contains(new));
            }
        }

        /// Code that moves within a file, and with it the order of findings, changes nothing.
        #[test]
        fn moving_is_no_news(before in some(), shift in 0u32..1000) {
            let mut after: Vec<Finding> =
                before.iter().map(|it| Finding { line: it.line.map(|line| line + shift), ..it.clone() }).collect();
            after.reverse();
            let matched = matched(before, after);
            proptest::prop_assert!(matched.new.is_empty() && matched.fixed.is_empty());
        }
    }

    fn some() -> impl proptest::strategy::Strategy<Value = Vec<Finding>> {
        use proptest::prelude::*;
        let one = ("fs/[xy]\\.c", 1u32..50, "(odd|even) [0-9]", "|a = b;|c  = d;");
        let one = one.prop_map(|(file, line, text, code)| finding(&file, line, &text, &code));
        prop::collection::vec(one, 0..12)
    }
}
