//! What `kiln findings` prints.

use std::collections::BTreeMap;
use std::io::{self, Write};

use check::trend::{Counts, Step};
use kbuild::analysis::Tool;

use crate::columns::fit;
use crate::json::line;
use crate::safe::safe_line;

/// Columns of a subject.
const SUBJECT: usize = 48;

/// Characters of a folder's name that say when: day, hour and minute.
const WHEN: usize = 16;

/// Prints a line for each check of a tree, the oldest first, and the sums of each analyser.
///
/// # Errors
///
/// When `out` does not take it.
pub fn findings_table(steps: &[Step], mut out: impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{:WHEN$}  {:SUBJECT$}  {:>5}  {:>5}  {:>6}",
        "check", "last patch", "new", "fixed", "before"
    )?;
    let mut sums: BTreeMap<Tool, Counts> = BTreeMap::new();
    for step in steps {
        let when: String = safe_line(&step.check).chars().take(WHEN).collect();
        let subject = fit(&safe_line(&step.subject), SUBJECT);
        let sum = |count: fn(&Counts) -> usize| step.tools.iter().map(count).sum::<usize>();
        let (new, fixed, outstanding) = (sum(|it| it.new), sum(|it| it.fixed), sum(|it| it.outstanding));
        writeln!(out, "{when:WHEN$}  {subject:SUBJECT$}  {new:>5}  {fixed:>5}  {outstanding:>6}")?;
        step.tools.iter().for_each(|counts| add(&mut sums, counts));
    }
    writeln!(out)?;
    for Counts { tool, new, fixed, .. } in sums.values() {
        writeln!(out, "{:WHEN$}  {:SUBJECT$}  {new:>5}  {fixed:>5}", tool.name(), "all checks")?;
    }
    out.flush()
}

fn add(sums: &mut BTreeMap<Tool, Counts>, counts: &Counts) {
    let sum = sums.entry(counts.tool).or_insert(Counts { new: 0, fixed: 0, outstanding: 0, ..*counts });
    sum.new += counts.new;
    sum.fixed += counts.fixed;
}

/// Prints a JSON object a line for each check.
///
/// # Errors
///
/// When `out` does not take it.
pub fn findings_json(steps: &[Step], mut out: impl Write) -> io::Result<()> {
    for step in steps {
        out.write_all(line(step)?.as_bytes())?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(check: &str, new: usize) -> Step {
        let counts = |tool, new| Counts { tool, new, fixed: 1, outstanding: 14 };
        Step {
            check: check.to_owned(),
            base: "0123456789ab".to_owned(),
            subject: format!("fs: {} \u{1b}[31m", "long ".repeat(20)),
            patches: 3,
            tools: vec![counts(Tool::Sparse, new), counts(Tool::Gcc, 0)],
        }
    }

    #[test]
    fn checks_stand_in_lines_of_a_width_with_their_sums() {
        let mut out = Vec::new();
        findings_table(&[step("2026-11-25T10-11-12Z-1", 2), step("2026-11-26T10-11-12Z-1", 0)], &mut out)
            .unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("2026-11-25T10-11  fs: long "), "{text}");
        assert!(
            lines[1].ends_with("      2      2      28") && lines[2].ends_with("      0      2      28"),
            "{text}"
        );
        assert!(lines[4].starts_with("sparse ") && lines[4].ends_with("      2      2"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn programs_get_a_line_for_each_check() {
        let mut out = Vec::new();
        let odd = Step { subject: "\u{9b}31m\u{202e}".to_owned(), ..step("2026", 2) };
        findings_json(&[odd], &mut out).unwrap();
        assert!(out.is_ascii(), "{out:?}");
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            (read["tools"][0]["tool"].as_str(), read["tools"][0]["new"].as_u64()),
            (Some("sparse"), Some(2))
        );
    }
}
