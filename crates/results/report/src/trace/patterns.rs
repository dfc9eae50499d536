//! Which sequences of events are repeated.

use serde_json::{Value, json};
use viewer::patterns::{Difference, Pattern};

use crate::figures::count;
use crate::safe::safe_line;
use crate::table::Table;
use crate::words::counted;

/// Events and system calls of a pattern that are printed.
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
        let line = line(&pattern.comm, &pattern.events);
        (covered, [count(covered), share(covered, events), count(pattern.times), line])
    });
    head + &Table::sorted(["EVENTS", "SHARE", "TIMES", "THREAD AND PATTERN"], 1, rows).text()
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn share(part: u64, of: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / of.max(1) as f64)
}

/// `cat: read() > sched_switch`.
fn line(comm: &str, events: &[String]) -> String {
    let (mut names, mut rest) = (Vec::new(), events);
    while let [event, others @ ..] = rest
        && names.len() < PRINTED_MAX
    {
        let call = name(event).strip_prefix("sys_enter_");
        let is_whole =
            call.is_some() && call == others.first().and_then(|next| name(next).strip_prefix("sys_exit_"));
        names.push(call.filter(|_| is_whole).map_or(safe_line(name(event)), |call| safe_line(call) + "()"));
        rest = if is_whole { &others[1..] } else { others };
    }
    let rest =
        if rest.is_empty() { String::new() } else { format!(" > ... {}", counted(rest.len(), "more event")) };
    format!("{}: {}{rest}", safe_line(comm), names.join(" > "))
}

/// The name of an event without its system.
fn name(event: &str) -> &str {
    event.split_once(':').map_or(event, |(_, name)| name)
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
        let calls = ["syscalls:sys_enter_read", "sched:sched_switch", "syscalls:sys_exit_read"];
        let calls = [&calls[..], &["syscalls:sys_enter_write", "syscalls:sys_exit_write"]].concat();
        let events = calls.iter().map(|name| (*name).to_owned()).collect();
        let calls = Pattern { comm: "dd".to_owned(), events, times: 3 };
        let patterns = [&patterns[..], &[calls]].concat();
        insta::assert_snapshot!(text(&patterns, 10_000));
        insta::assert_snapshot!("no_patterns", text(&[], 0));
    }

    #[test]
    fn differences_say_which_has_more() {
        let difference = |times| Difference { comm: "cat".to_owned(), events: names(2), times };
        insta::assert_snapshot!(differences(&[difference([3, 0]), difference([10, 1200])]).text());
    }
}
