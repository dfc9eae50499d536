//! What is known to break a rule. The list can only shrink: an exception that is not needed is a finding.

use anyhow::{Context, Result};

use super::Finding;

/// The list: one exception a line, `PATH: KEY` or `PATH: KEY = SIZE`, a reason after `#`.
pub(super) const PATH: &str = "xtask/tidy-exceptions";

struct Exception<'a> {
    line: usize,
    path: &'a str,
    key: &'a str,
    size: Option<usize>,
    used: bool,
}

/// Takes away the findings that are excepted, and adds the exceptions that are not needed.
pub(super) fn excuse(findings: Vec<Finding>, list: &str) -> Result<Vec<Finding>> {
    let mut exceptions = read(list)?;
    let mut left: Vec<Finding> =
        findings.into_iter().filter(|finding| !is_excused(finding, &mut exceptions)).collect();
    let unused = exceptions.iter().filter(|exception| !exception.used);
    left.extend(unused.map(|exception| {
        let advice = format!("{}: {} is fine by now, or smaller", exception.path, exception.key);
        Finding::new(PATH, exception.line, "needless exception", advice)
    }));
    Ok(left)
}

fn is_excused(finding: &Finding, exceptions: &mut [Exception<'_>]) -> bool {
    let same = exceptions.iter_mut().find(|exception| {
        exception.path == finding.path && exception.key == finding.key && exception.size == finding.size
    });
    same.map(|exception| exception.used = true).is_some()
}

fn read(list: &str) -> Result<Vec<Exception<'_>>> {
    let mut exceptions = Vec::new();
    for (index, line) in list.lines().enumerate() {
        let rule = line.split('#').next().unwrap_or_default().trim();
        if rule.is_empty() {
            continue;
        }
        let (path, key) =
            rule.split_once(": ").with_context(|| format!("{PATH}:{}: PATH: KEY", index + 1))?;
        let (key, size) = match key.rsplit_once(" = ") {
            Some((key, size)) => (key, Some(size.parse().with_context(|| format!("{PATH}:{}", index + 1))?)),
            None => (key, None),
        };
        exceptions.push(Exception { line: index + 1, path, key, size, used: false });
    }
    Ok(exceptions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_holds_for_its_size_only() {
        let finding = || Finding::new("a.rs", 7, "function f", "x").sized(70);
        let left = |list: &str| excuse(vec![finding()], list).unwrap();
        assert_eq!(left("a.rs: function f = 70 # a table"), []);
        assert_eq!(left("a.rs: function f = 80").len(), 2);
        assert_eq!(left("# nothing\n"), [finding()]);
    }

    #[test]
    fn an_exception_that_is_not_needed_is_a_finding() {
        assert_eq!(excuse(Vec::new(), "a.rs: dead file").unwrap()[0].key, "needless exception");
    }
}
