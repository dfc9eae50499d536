//! The form of the change log: keepachangelog.com.

use super::Finding;

const PATH: &str = "CHANGELOG.md";
const KINDS: &[&str] = &["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

/// Lines that are not of the form.
pub(super) fn look(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut complain =
        |line: usize, advice: &str| findings.push(Finding::new(PATH, line, "changelog", advice));
    if !text.starts_with("# Changelog\n") {
        complain(1, "begins with `# Changelog`");
    }
    let versions: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    if versions.first() != Some(&"[Unreleased]") {
        complain(1, "the first version is `## [Unreleased]`");
    }
    for (index, line) in text.lines().enumerate() {
        if let Some(kind) = line.strip_prefix("### ") {
            if !KINDS.contains(&kind) {
                complain(index + 1, "one of Added, Changed, Deprecated, Removed, Fixed, Security");
            }
        } else if let Some(version) = line.strip_prefix("## ")
            && !(version == "[Unreleased]" || is_release(version))
        {
            complain(index + 1, "a version is `## [1.2.3] - 2026-01-31`");
        }
    }
    findings
}

/// Whether a heading is `[1.2.3] - 2026-01-31`.
fn is_release(text: &str) -> bool {
    let numbers = |text: &str, mark: char, count: usize| {
        let parts: Vec<&str> = text.split(mark).collect();
        parts.len() == count && parts.iter().all(|part| part.parse::<u32>().is_ok())
    };
    let parts = text.strip_prefix('[').and_then(|rest| rest.split_once("] - "));
    parts.is_some_and(|(version, date)| numbers(version, '.', 3) && numbers(date, '-', 3) && date.len() == 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_checked() {
        assert_eq!(
            look("# Changelog\n\n## [Unreleased]\n\n### Added\n\n- x\n\n## [0.1.0] - 2026-01-31\n"),
            []
        );
        let lines = |text: &str| look(text).into_iter().map(|finding| finding.line).collect::<Vec<_>>();
        assert_eq!(lines("# Changelog\n## [Unreleased]\n### New\n## 0.1\n"), [3, 4]);
        assert_eq!(lines("# Changes\n"), [1, 1]);
    }
}
