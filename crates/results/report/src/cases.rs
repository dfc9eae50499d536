//! What `kiln cases` prints.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use crate::json;
use crate::safe::safe_line;
use crate::words::span;

/// What is known of a case before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseInfo {
    /// Its name, `area/what`.
    pub name: String,
    /// One line on what it verifies.
    pub about: String,
    /// What it needs to run.
    pub needs: Vec<String>,
    /// The longest that it may take.
    #[serde(serialize_with = "judge::json::seconds::serialize")]
    pub limit: Duration,
}

/// Prints name, limit, needs and purpose in columns, one case per line, in the given order.
///
/// # Errors
///
/// When `out` does not take it.
pub fn cases_table(cases: &[CaseInfo], mut out: impl Write) -> io::Result<()> {
    let rows: Vec<[String; 4]> = cases.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (name_width, limit_width, needs_width) = (width(0), width(1), width(2));
    for [name, limit, needs, about] in &rows {
        let line = format!("{name:<name_width$}  {limit:>limit_width$}  {needs:<needs_width$}  {about}");
        writeln!(out, "{}", line.trim_end())?;
    }
    out.flush()
}

/// Prints one JSON object per case and line.
///
/// # Errors
///
/// When `out` does not take it.
pub fn cases_json(cases: &[CaseInfo], mut out: impl Write) -> io::Result<()> {
    for case in cases {
        out.write_all(json::line(case)?.as_bytes())?;
    }
    out.flush()
}

fn row(case: &CaseInfo) -> [String; 4] {
    let needs = if case.needs.is_empty() { "-".to_string() } else { safe_line(&case.needs.join(",")) };
    [safe_line(&case.name), limit(case.limit), needs, safe_line(&case.about)]
}

/// Limits are round numbers and read best as such.
fn limit(limit: Duration) -> String {
    match limit.as_secs() {
        seconds if limit.subsec_nanos() > 0 || seconds == 0 => span(limit),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Vec<CaseInfo> {
        let case = |name: &str, needs: &[&str], secs| CaseInfo {
            name: name.into(),
            about: format!("about {name}"),
            needs: needs.iter().map(ToString::to_string).collect(),
            limit: Duration::from_secs(secs),
        };
        vec![case("pipe/full", &[], 5), case("mm/uffd-basic", &["USERFAULTFD", "2 CPUs"], 120)]
    }

    #[test]
    fn columns_line_up() {
        let mut out = Vec::new();
        cases_table(&two(), &mut out).unwrap();
        let expected = "pipe/full        5 s  -                   about pipe/full\n\
                        mm/uffd-basic  2 min  USERFAULTFD,2 CPUs  about mm/uffd-basic\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn json_is_one_object_per_line() {
        let mut out = Vec::new();
        cases_json(&two(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let names: Vec<_> = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["name"].clone())
            .collect();
        assert_eq!(names, ["pipe/full", "mm/uffd-basic"]);
    }
}
