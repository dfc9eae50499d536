//! How many samples there are of which size.

use protocol::latency::Latencies;

use super::time;
use crate::columns::{Columns, bar};
use crate::figures::count;

const COLUMNS: Columns<3> = Columns { head: ["LATENCY", "SAMPLES", ""], right: &[0, 1], spared: &[] };

/// Buckets that a person can take in, if no width is given.
const BUCKETS: u64 = 20;

/// Buckets that are shown in any case at most.
const BUCKETS_MAX: usize = 100;

/// Columns of the longest bar.
const BAR: u64 = 50;

/// Buckets that are not in the tail of a distribution hold so many thousandths of a percent of it.
const BODY: u32 = 99_900;

/// A bar for each bucket that has samples, and a line for each gap between them.
pub(super) fn bars(latencies: &Latencies, width: Option<u64>) -> String {
    let width = width.unwrap_or_else(|| suitable(latencies)).max(1);
    let buckets = latencies.distribution(width);
    let longest = buckets.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let shown = &buckets[..buckets.len().min(BUCKETS_MAX)];
    let mut rows = Vec::new();
    let mut next = shown.first().map(|(start, _)| *start);
    for (start, samples) in shown {
        if next != Some(*start) {
            rows.push(["...".to_owned(), String::new(), String::new()]);
        }
        rows.push([time(*start), count(*samples), bar(*samples, longest, BAR)]);
        next = start.checked_add(width);
    }
    if rows.is_empty() {
        return String::new();
    }
    let widths = COLUMNS.widths(&rows, None);
    let lines = std::iter::once(&COLUMNS.heads())
        .chain(&rows)
        .map(|row| COLUMNS.line(row, &widths) + "\n")
        .collect::<String>();
    format!("\n{lines}{}", rest(&buckets[shown.len()..], latencies.maximum))
}

/// What is not shown.
fn rest(buckets: &[(u64, u64)], maximum: u64) -> String {
    let Some((first, _)) = buckets.first() else { return String::new() };
    let samples = buckets.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
    format!("and {} from {} to {}: a wider bucket shows them\n", count(samples), time(*first), time(maximum))
}

/// A width by which the body of the distribution has about [`BUCKETS`]: 1, 2 or 5 and zeroes.
fn suitable(latencies: &Latencies) -> u64 {
    let span = latencies.percentile(BODY).unwrap_or(0).saturating_sub(latencies.minimum);
    let least = (span / BUCKETS).max(1);
    let power = 10_u64.pow(least.ilog10());
    [1, 2, 5]
        .map(|digit| digit * power)
        .into_iter()
        .find(|width| *width >= least)
        .unwrap_or(power.saturating_mul(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies(histogram: &[(u64, u64)]) -> Latencies {
        let minimum = histogram.first().map_or(0, |it| it.0);
        let maximum = histogram.last().map_or(0, |it| it.0);
        Latencies { minimum, maximum, histogram: histogram.to_vec(), ..Latencies::default() }
    }

    #[test]
    fn a_gap_is_one_line_and_a_rare_sample_has_a_bar() {
        let text = bars(&latencies(&[(10, 800), (11, 4), (200, 1)]), Some(10));
        let bar = "█".repeat(50);
        let lines = [
            "",
            " LATENCY  SAMPLES",
            &format!("10.00 ns      804  {bar}"),
            "     ...",
            "200.0 ns        1  ▏",
            "",
        ];
        assert_eq!(text, lines.join("\n"));
    }

    #[test]
    fn a_width_is_round_and_suits_the_body() {
        let widths = [0, 19, 30, 410, 999, 50_000].map(|last| suitable(&latencies(&[(0, 500), (last, 500)])));
        assert_eq!(widths, [1, 1, 1, 20, 50, 5_000]);
        suitable(&latencies(&[(0, 1), (u64::MAX, u64::MAX)]));
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let histogram: Vec<(u64, u64)> = (0..2000).map(|value| (value, 2)).collect();
        let text = bars(&latencies(&histogram), Some(1));
        assert_eq!(text.lines().count(), 1 + 1 + BUCKETS_MAX + 1);
        assert!(text.ends_with("and 3,800 from 100.0 ns to 1.999 µs: a wider bucket shows them\n"), "{text}");
        assert_eq!(bars(&Latencies::default(), None), "");
    }
}
