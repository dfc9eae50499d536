//! How much of a kernel a load reached.

use std::fmt::Write;

use protocol::stress::coverage::{Reached, count as reached};
use protocol::stress::{Coverage, StressReport};

use super::table;
use crate::columns::Columns;
use crate::figures::{count, number};
use crate::safe::safe_line;
use crate::words::counted;

const TABLE: Columns<6> = Columns {
    head: ["stressor", "points", "functions", "lines", "functions/s CPU", "lines/s CPU"],
    right: &[1, 2, 3, 4, 5],
    spared: &[],
};

/// A table, the union, and what is missing; nothing if coverage was not asked for.
pub(super) fn text(report: &StressReport) -> String {
    let covered: Vec<(String, &Coverage)> = report
        .instances
        .iter()
        .filter_map(|it| Some((safe_line(&it.stressor), it.coverage.as_ref()?)))
        .collect();
    let rows: Vec<_> = covered.iter().map(|(name, coverage)| row(name, coverage)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}", table(&TABLE, &rows));
    let mut line = |text: String| {
        // Writing into a text cannot fail.
        let _ = writeln!(out, "{text}");
    };
    let (functions, lines) = reached(&report.sources);
    let files = counted(report.sources.len(), "file");
    line(format!("all together: {} functions, {} lines of {files}", count(functions), count(lines)));
    for (name, coverage) in &covered {
        if coverage.in_modules > 0 {
            line(format!("{name}: {} points in modules, without lines", count(coverage.in_modules.into())));
        }
        if coverage.overflowed {
            line(format!("{name}: a buffer of the kernel was full at times: points may be missing"));
        }
    }
    out + "\n"
}

fn row(name: &str, coverage: &Coverage) -> [String; 6] {
    let of = |figure: fn(&Reached) -> Option<String>| {
        coverage.reached.as_ref().and_then(figure).unwrap_or_else(|| "-".to_owned())
    };
    [
        name.to_owned(),
        count(coverage.points.len() as u64),
        of(|it| Some(count(it.functions))),
        of(|it| Some(count(it.lines))),
        of(|it| it.functions_per_cpu_second.map(number)),
        of(|it| it.lines_per_cpu_second.map(number)),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use protocol::stress::InstanceReport;
    use protocol::stress::coverage::Source;

    use super::*;

    #[test]
    fn coverage_is_a_table_and_its_union() {
        let source =
            Source { functions: BTreeSet::from(["pipe_read".into()]), lines: BTreeSet::from([7, 9]) };
        let sources = [("fs/pipe.c".to_owned(), source)].into();
        let known =
            Coverage { reached: Some(Reached::of(&sources, 500_000_000)), ..Coverage::of(&[8, 9].into()) };
        let unknown = Coverage { overflowed: true, in_modules: 3, ..Coverage::default() };
        let instance = |stressor: &str, coverage| InstanceReport {
            stressor: stressor.to_owned(),
            coverage: Some(coverage),
            ..InstanceReport::default()
        };
        let report = StressReport {
            instances: vec![instance("pipe", known), instance("sock", unknown)],
            sources,
            ..StressReport::default()
        };
        insta::assert_snapshot!(text(&report));
        assert_eq!(text(&StressReport::default()), "");
    }
}
