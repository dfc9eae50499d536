//! Which sequences of events are repeated.

use serde_json::{Value, json};
use viewer::patterns::{Difference, Pattern};

use crate::figures::count;
use crate::safe::safe_line;
use crate::table::Table;

/// Events of a pattern that are printed.
const PRINTED_MAX: usize = 8;

/// A line for each pattern in a trace of so many events.
#[must_use]
pub fn text(patterns: &[Pattern], events: u64) -> String {
    let covered = patterns.iter().map(Pattern::covered).sum();
    let head = format!(
        "{} events, {} of them in patterns that are repeated\n",
        count(events),
        share(covered, events)
    );
    let rows = patterns.iter().map(|pattern| {
        let covered = pattern.covered();
        let figures = [count(covered), share(covered, events), count(pattern.times)];
        let [covered_text, share, times] = figures;
        (covered, [covered_text, share, times, line(&pattern.comm, &pattern.events)])
    });
    head + &Table::sorted(["EVENTS", "SHARE", "TIMES", "THREAD AND PATTERN"], 1, rows).text()
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share(part: u64, of: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}

/// `cat: sys_enter_read > sys_exit_read`.
fn line(comm: &str, events: &[String]) -> String {
    let name = |event: &String| safe_line(event.split_once(':').map_or(event.as_str(), |(_, name)| name));
    let names: Vec<String> = events.iter().take(PRINTED_MAX).map(name).collect();
    let rest = events.len().saturating_sub(PRINTED_MAX);
    let rest = if rest > 0 { format!(" > ... {rest} more") } else { String::new() };
    format!("{}: {}{rest}", safe_line(comm), names.join(" > "))
}

/// The same for programs, with all events.
#[must_use]
pub fn json(patterns: &[Pattern], events: u64) -> Value {
    let patterns = patterns.iter().map(|pattern| {
        json!({ "comm": pattern.comm, "events": pattern.events, "times": pattern.times, "covered": pattern.covered() })
    });
    json!({ "events": events, "patterns": patterns.collect::<Vec<_>>() })
}

/// Patterns of which one of two recordings has more.
pub(super) fn differences(differences: &[Difference]) -> Table<4> {
    let rows = differences.iter().map(|row| {
        let [one, other] = row.times;
        let sign = if other > one { "+" } else { "-" };
        let difference = format!("{sign}{}", count(one.abs_diff(other)));
        (row.by(), [count(one), count(other), difference, line(&row.comm, &row.events)])
    });
    Table::sorted(["FIRST", "SECOND", "DIFFERENCE", "THREAD AND PATTERN"], 1, rows)
}

/// The same for programs.
pub(super) fn differences_json(differences: &[Difference]) -> Value {
    let row = |row: &Difference| json!({ "comm": row.comm, "events": row.events, "times": row.times });
    differences.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|at| format!("sched:event_{at}\u{1b}")).collect()
    }

    #[test]
    fn patterns_are_ordered_by_what_belongs_to_them() {
        let pattern =
            |comm: &str, length, times| Pattern { comm: comm.to_owned(), events: names(length), times };
        let patterns = [pattern("cat", 2, 4000), pattern("kworker", 11, 17)];
        insta::assert_snapshot!(text(&patterns, 10_000));
        insta::assert_snapshot!("no_patterns", text(&[], 0));
    }

    #[test]
    fn differences_say_which_has_more() {
        let difference = |times| Difference { comm: "cat".to_owned(), events: names(2), times };
        insta::assert_snapshot!(differences(&[difference([3, 0]), difference([10, 1200])]).text());
    }
}
