//! Races with real threads, of which nothing depends on how fast they are.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::time::Duration;

use harness::check::{Stop, broken};
use protocol::race::{Ended, RaceReport};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::*;
use crate::race::Judgement;

const STRATEGIES: [Strategy; 6] = [
    Strategy::Mixture,
    Strategy::Aligned,
    Strategy::Uniform,
    Strategy::LowDiscrepancy,
    Strategy::Plain,
    Strategy::Published,
];

fn plan(strategy: Strategy, rounds: u64) -> Plan {
    Plan { strategy, rounds, hits: u64::MAX, ..Plan::new(Duration::from_secs(3600)) }
}

fn run<A, B: Send>(plan: &Plan, race: Race<A, B>) -> Checked<RaceReport> {
    let tally = Tally::new();
    Runner::new(*plan, Clock::best(), &tally).run(race)?;
    Ok(tally.report(plan))
}

#[test]
fn a_round_is_set_ups_sections_and_judgement_in_this_order() {
    for strategy in STRATEGIES {
        let log = AtomicU64::new(0);
        // Each step finds those before it done: sections may come in any order.
        let step = |expected: &[u64], now: u64| {
            let before = log.fetch_add(now, AcqRel);
            assert!(expected.contains(&before), "{strategy:?}: {now:#x} after {before:#x}");
        };
        let race = Race::between(|| step(&[0x11, 0x1011], 0x100), || step(&[0x11, 0x111], 0x1000))
            .setup_a(|| {
                log.store(0, Release);
                step(&[0], 0x1);
                Ok(())
            })
            .setup_b(|| {
                step(&[0x1], 0x10);
                Ok(())
            })
            .judge(|(), ()| {
                step(&[0x1111], 0x10000);
                Ok(Judgement::Miss)
            });
        let report = run(&plan(strategy, 500), race).expect("nothing fails");
        assert_eq!((report.rounds, report.ended), (500, Ended::Rounds), "{strategy:?}");
    }
}

#[test]
fn the_judgement_gets_what_both_sections_returned_and_is_counted() {
    for strategy in STRATEGIES {
        let (round_a, round_b) = (Cell::new(0), AtomicU64::new(0));
        let race = Race::between(|| round_a.replace(round_a.get() + 1), || round_b.fetch_add(1, Relaxed))
            .setup_a(|| Ok(()))
            .judge(|of_a, of_b| {
                assert_eq!(of_a, of_b, "{strategy:?}");
                let all =
                    [Judgement::Hit, Judgement::Miss, Judgement::Early, Judgement::Late, Judgement::Useless];
                Ok(all[*of_a as usize % 5])
            });
        let report = run(&plan(strategy, 500), race).expect("nothing fails");
        let counts = [report.hits, report.early, report.late, report.useless];
        assert_eq!(counts, [100; 4], "{strategy:?}");
        assert_eq!(report.first_hit.map(|hit| hit.round), Some(1));
    }
}

#[test]
fn plain_loops_judge_too() {
    let round = Cell::new(0);
    let a = || round.replace(round.get() + 1);
    let race = Race::between(a, || 7).judge(|of_a, of_b| {
        assert_eq!(*of_b, 7);
        Ok(if of_a % 2 == 1 { Judgement::Hit } else { Judgement::Miss })
    });
    let report = run(&plan(Strategy::Plain, 100), race).expect("nothing fails");
    assert_eq!((report.rounds, report.hits, report.hit_delays), (100, 50, None));
}

#[test]
fn a_race_ends_with_the_hits_that_are_wanted() {
    for strategy in STRATEGIES {
        let plan = Plan { hits: 3, ..plan(strategy, u64::MAX) };
        let race = Race::between(|| (), || ()).judge(|(), ()| Ok(Judgement::Hit));
        let report = run(&plan, race).expect("nothing fails");
        assert_eq!((report.hits, report.rounds, report.ended), (3, 3, Ended::Hits), "{strategy:?}");
    }
}

#[test]
fn a_race_ends_with_its_time() {
    for strategy in STRATEGIES {
        let plan = Plan { time: Duration::from_millis(1), ..plan(strategy, u64::MAX) };
        let report = run(&plan, Race::between(|| (), || ())).expect("nothing fails");
        assert_eq!(report.ended, Ended::Time, "{strategy:?}");
        assert!(report.elapsed_us >= 990, "{strategy:?}: {}", report.elapsed_us);
    }
}

#[test]
fn any_failure_ends_it() {
    type Part = fn() -> Checked;
    let (fine, fails): (Part, Part) = (|| Ok(()), || broken("as planned"));
    for strategy in STRATEGIES {
        for [of_a, of_b, of_judge] in [[fails, fine, fine], [fine, fails, fine], [fine, fine, fails]] {
            let race = Race::between(|| (), || ())
                .setup_a(of_a)
                .setup_b(of_b)
                .judge(|(), ()| of_judge().map(|()| Judgement::Miss));
            let Stop(report) = run(&plan(strategy, 10), race).expect_err("a part fails");
            assert_eq!(report.text, "as planned", "{strategy:?}");
        }
    }
}

#[test]
fn one_cpu_is_enough_and_is_told() {
    let before = sched_getaffinity(None).expect("it can be asked for");
    let first = (0..CpuSet::MAX_CPU).find(|&cpu| before.is_set(cpu)).expect("there is a CPU");
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).expect("it is one of ours");
    for strategy in STRATEGIES {
        let race = Race::between(|| (), || ()).setup_a(|| Ok(())).setup_b(|| Ok(()));
        let report = run(&plan(strategy, 300), race).expect("nothing fails");
        assert_eq!((report.rounds, report.one_cpu), (300, true), "{strategy:?}");
    }
}

#[test]
fn the_lengths_are_known_after_sampling() {
    let plan = Plan { hits: 1, statistics: true, ..plan(Strategy::Mixture, u64::MAX) };
    let tally = Tally::new();
    let is_known = || tally.report(&plan).range.is_some();
    let judge = |(): &(), (): &()| Ok(if is_known() { Judgement::Hit } else { Judgement::Miss });
    Runner::new(plan, Clock::best(), &tally)
        .run(Race::between(|| (), || ()).judge(judge))
        .expect("nothing fails");
    let report = tally.report(&plan);
    assert!((2..=2048).contains(&report.sampling), "{report:?}");
    let range = report.range.expect("it is known");
    assert!(range.from_ns < 0 && range.to_ns > 0, "{range:?}");
    let statistics = report.statistics.expect("they were asked for");
    assert!(statistics.a.median_ns >= 0 && statistics.b.median_ns >= 0, "{statistics:?}");
    assert_eq!(tally.report(&Plan { statistics: false, ..plan }).statistics, None);
}
