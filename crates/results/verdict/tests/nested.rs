//! How often the interval of a rate contains the true one, and what is decided at boot.
//!
//! The table of `docs/statistics.md` is printed by
//! `cargo test -p verdict --test nested -- --ignored --nocapture`.

use verdict::statistics::Random;
use verdict::{BootRuns, Nested};

/// Where a failure is decided.
#[derive(Debug, Clone, Copy)]
enum Decided {
    InTheRun,
    /// Half of the boots never show it.
    InBoth,
    AtBoot,
}

fn boot(rate: f64, decided: Decided, runs: u32, random: &mut Random) -> BootRuns {
    let chance = match decided {
        Decided::InTheRun => rate,
        Decided::InBoth if random.uniform() < 0.5 => 0.0,
        Decided::InBoth => 2.0 * rate,
        Decided::AtBoot if random.uniform() < rate => 1.0,
        Decided::AtBoot => 0.0,
    };
    let failures = (0..runs).map(|_| u32::from(random.uniform() < chance)).sum();
    BootRuns { failures, passes: runs - failures }
}

/// The share of intervals that contain the true rate.
fn coverage(rate: f64, decided: Decided, (boots, runs): (u32, u32), times: u32) -> f64 {
    let mut random = Random::new(1);
    let covered = (0..times).filter(|_| {
        let boots: Vec<BootRuns> = (0..boots).map(|_| boot(rate, decided, runs, &mut random)).collect();
        let estimate = Nested::of(&boots).estimate();
        (estimate.low..=estimate.high).contains(&rate)
    });
    covered.count() as f64 / f64::from(times)
}

const DESIGNS: [(u32, u32); 4] = [(5, 4), (5, 20), (20, 1), (20, 5)];

#[test]
fn intervals_contain_the_rate_wherever_it_is_decided() {
    for rate in [0.05, 0.3, 0.5] {
        for decided in [Decided::InTheRun, Decided::InBoth, Decided::AtBoot] {
            for design in DESIGNS {
                let covered = coverage(rate, decided, design, 100);
                assert!(covered > 0.85, "{rate} {decided:?} {design:?}: {covered}");
            }
        }
    }
}

#[test]
#[ignore = "prints the table of docs/statistics.md"]
fn intervals_of_many_contain_the_rate_wherever_it_is_decided() {
    println!("| rate | decided | 5 boots of 4 | 5 of 20 | 20 of 1 | 20 of 5 |");
    println!("|---|---|---|---|---|---|");
    for rate in [0.05, 0.3, 0.5] {
        for decided in [Decided::InTheRun, Decided::InBoth, Decided::AtBoot] {
            let shares = DESIGNS.map(|design| coverage(rate, decided, design, 2000));
            let texts = shares.map(|share| format!("{:.1} %", 100.0 * share));
            println!("| {} % | {decided:?} | {} |", rate * 100.0, texts.join(" | "));
            // The prior is not this rate: 92.2 % was the lowest share.
            assert!(shares.iter().all(|&share| share > 0.91), "{rate} {decided:?}: {shares:?}");
        }
    }
}
