//! Compares the strategies on the synthetic races: `strategies [SECONDS [SEEDS [NAME]]]`.
//!
//! Each race is run for SECONDS with each strategy and each of SEEDS seeds, the strategies in turn, so that what else the
//! machine does meets all of them. NAME selects the races whose names contain it; those below `order` are left out
//! otherwise.

use std::io::Write;
use std::time::Duration;

use protocol::race::{RaceReport, Strategy};
use race::clock::Clock;
use race::synthetic::{Synthetic, all};
use race::tally::Tally;
use race::{Plan, Runner};

const STRATEGIES: [(&str, Strategy); 6] = [
    ("plain", Strategy::Plain),
    ("published", Strategy::Published),
    ("aligned", Strategy::Aligned),
    ("uniform", Strategy::Uniform),
    ("low-discrepancy", Strategy::LowDiscrepancy),
    ("mixture", Strategy::Mixture),
];

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: f64| {
        arguments.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(default)
    };
    let time = Duration::from_secs_f64(number(0, 2.0).clamp(0.01, 3600.0));
    let seeds = number(1, 5.0).clamp(1.0, 1000.0) as u64;
    let wanted = arguments.get(2).map_or("", String::as_str);
    let is_wanted = |race: &Synthetic| {
        race.name.contains(wanted) && (!wanted.is_empty() || !race.name.contains("/order/"))
    };
    let (clock, mut output) = (Clock::best(), std::io::stdout());
    writeln!(output, "{clock:?}, {time:?} a run, {seeds} seeds")?;
    for race in all().iter().filter(|race| is_wanted(race)) {
        writeln!(output, "\n{}: {}", race.name, race.about)?;
        writeln!(
            output,
            "{:16} {:>12} {:>9} {:>11} {:>10} {:>22} {:>9}",
            "strategy", "rounds", "hits", "hits/round", "hits/s", "rounds to first hit", "disturbed"
        )?;
        let mut reports: Vec<Vec<RaceReport>> = vec![Vec::new(); STRATEGIES.len()];
        for seed in 0..seeds {
            for (reports, (_, strategy)) in reports.iter_mut().zip(STRATEGIES) {
                let plan = Plan { strategy, hits: u64::MAX, seed, ..Plan::new(time) };
                let tally = Tally::new();
                if race.run(&Runner::new(plan, clock, &tally)).is_ok() {
                    reports.push(tally.report(&plan));
                }
            }
        }
        for ((name, _), reports) in STRATEGIES.iter().zip(&reports) {
            writeln!(output, "{}", line(name, reports))?;
        }
    }
    Ok(())
}

fn line(name: &str, reports: &[RaceReport]) -> String {
    let sum = |of: fn(&RaceReport) -> u64| reports.iter().map(of).sum::<u64>();
    let (rounds, hits) = (sum(|report| report.rounds), sum(|report| report.hits));
    let seconds = sum(|report| report.elapsed_us) as f64 / 1e6;
    let (per_round, per_second) = (hits as f64 / rounds.max(1) as f64, hits as f64 / seconds.max(1e-9));
    let (first, disturbed) = (first_hits(reports), sum(|report| report.disturbed));
    format!(
        "{name:16} {rounds:>12} {hits:>9} {per_round:>11.2e} {per_second:>10.2} {first:>22} {disturbed:>9}"
    )
}

/// The median over all seeds, and how many of them had a hit. A seed without one counts with all its rounds.
fn first_hits(reports: &[RaceReport]) -> String {
    let mut rounds: Vec<(u64, bool)> = reports
        .iter()
        .map(|report| report.first_hit.map_or((report.rounds, false), |hit| (hit.round, true)))
        .collect();
    let with_hit = rounds.iter().filter(|(_, is_hit)| *is_hit).count();
    rounds.sort_unstable();
    let (median, is_hit) = rounds.get(rounds.len() / 2).copied().unwrap_or_default();
    format!("{}{median} ({with_hit}/{})", if is_hit { "" } else { ">" }, reports.len())
}
