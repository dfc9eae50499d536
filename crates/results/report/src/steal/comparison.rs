//! Two set-ups, passes in turns.

use protocol::steal::{Pass, Side, StealReport};
use verdict::statistics::Differences;

use super::line;
use super::pass::Figure;

/// The interval holds the true difference but for this probability on each side.
const ERROR: f64 = 0.025;

/// By how much more the second set-up steals, with its interval.
pub(super) fn text(report: &StealReport) -> String {
    let [first, second] = report.sides.as_slice() else { return String::new() };
    let figures: [Figure; 2] = [("by gaps", Pass::stolen_by_gaps), ("by work", Pass::stolen_by_work)];
    let lines: String = figures
        .into_iter()
        .filter_map(|(name, figure)| Some(line(name, &difference(first, second, figure)?)))
        .collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\nStolen with {} less that with {}:\n{lines}", second.setup, first.setup)
}

fn difference(first: &Side, second: &Side, figure: fn(&Pass) -> Option<f64>) -> Option<String> {
    let [first, second] =
        [first, second].map(|side| side.passes.iter().filter_map(figure).collect::<Vec<f64>>());
    let differences = Differences::of(&first, &second)?;
    let shift = points(differences.shift());
    let interval = differences.rank_interval(ERROR).map_or_else(
        || "too few passes for an interval".to_owned(),
        |(low, high)| format!("95 % interval {} to {}", points(low), points(high)),
    );
    Some(format!("{shift} points of the CPU, {interval}"))
}

/// A difference of shares: `+12.3`.
fn points(share: f64) -> String {
    format!("{:+.1}", share * 100.0)
}
