//! How often a bisection is right, and what it costs: the product's own procedure, from the ends to the proof, stopped
//! now and then and gone on with.
//!
//! The table of `docs/statistics.md` is printed by
//! `SIMULATIONS=500 cargo test --release -p bisect --test procedure simulation -- --ignored --nocapture`.

use std::ops::Range;

use bisect::{Bisection, Conclusion, Error, Point};
use verdict::statistics::Random;

use crate::fake::{CALLS_MAX, FakeAxis, NEVER, Seen, World};

/// How a failure shows where it is.
#[derive(Debug, Clone, Copy)]
enum How {
    /// In the share of the runs.
    InRuns(f64),
    /// In the share of the boots, in all of their runs.
    AtBoot(f64),
    /// In the share of the runs, in half of the boots.
    Mixed(f64),
}

/// What is played many times.
#[derive(Debug, Clone, Copy)]
struct Play {
    name: &'static str,
    count: usize,
    how: How,
    /// False alarms among the runs of states without the failure.
    alarms: f64,
    /// The share of states that cannot be tested, in stretches of four.
    broken: f64,
    fixed: bool,
    jobs: usize,
    /// Interrupted after so many calls, again and again.
    calls: usize,
    /// The ends are not what they should be.
    ends: Ends,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Ends {
    Right,
    /// The failure is at both.
    Both,
    /// At neither.
    Neither,
    Swapped,
}

/// How one ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Right,
    Wrong,
    /// It names no candidate: in doubt, a contradiction, ends that are refused.
    Open,
}

#[derive(Debug, Clone, Copy)]
struct Result {
    end: End,
    runs: f64,
    boots: f64,
    seconds: f64,
}

/// A boot takes 3 s, a run 0.3 s, a kernel that was not tested yet 5 s more.
const COSTS: [u64; 3] = [5_000, 3_000, 300];

impl Play {
    const fn of(name: &'static str, how: How) -> Self {
        let (count, alarms, broken, calls) = (256, 0.0, 0.0, CALLS_MAX);
        Self { name, count, how, alarms, broken, fixed: false, jobs: 1, calls, ends: Ends::Right }
    }

    fn world(self, seed: u64) -> (World, usize) {
        let mut random = Random::new(!seed);
        let culprit = random.below(self.count);
        let stretches = self.count.div_ceil(4);
        let is_broken: Vec<bool> =
            (0..stretches).map(|_| (random.below(1000) as f64) < self.broken * 1000.0).collect();
        let Self { how, fixed, ends, .. } = self;
        let truth = move |axis: &FakeAxis, point: &Point| {
            let has_it = match ends {
                Ends::Right => axis.has(point, culprit) != fixed,
                Ends::Both => true,
                Ends::Neither => false,
                Ends::Swapped => axis.has(point, culprit) == fixed,
            };
            match point {
                Point::After(number) if is_broken[number / 4] => Seen::Broken,
                _ if !has_it => NEVER,
                _ => match how {
                    How::InRuns(rate) => Seen::Rate(rate),
                    How::AtBoot(rate) => Seen::AtBoot(rate),
                    How::Mixed(rate) => Seen::Mixed(0.5, 2.0 * rate),
                },
            }
        };
        let mut world = World::new(FakeAxis::line(self.count), truth).seed(seed).jobs(self.jobs);
        world.settings.fixed = fixed;
        world.alarms = self.alarms;
        world.costs = COSTS;
        (world, culprit)
    }

    fn one(self, seed: u64) -> Result {
        let (mut world, culprit) = self.world(seed);
        let result = loop {
            world.calls_left = self.calls;
            match world.bisect() {
                Err(Error::Interrupted) if world.calls.len() < CALLS_MAX => {}
                result => break result,
            }
        };
        let end = match &result {
            Ok(bisection) => end(bisection, culprit, self.ends == Ends::Right),
            Err(Error::Interrupted) => panic!("{self:?} goes on for ever with {seed}"),
            Err(_) => End::Open,
        };
        let runs: u32 = world.made.values().sum();
        let boots = world.made.len();
        let states: std::collections::BTreeSet<&Point> = world.made.keys().map(|(point, _)| point).collect();
        let [state, boot, run] = COSTS.map(|cost| cost as f64 / 1000.0);
        let seconds = states.len() as f64 * state + boots as f64 * boot + f64::from(runs) * run;
        Result { end, runs: runs.into(), boots: boots as f64, seconds }
    }

    fn many(self, seeds: Range<u64>) -> Vec<Result> {
        let middle = seeds.start.midpoint(seeds.end);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| (middle..seeds.end).map(|seed| self.one(seed)).collect::<Vec<_>>());
            let first = (seeds.start..middle).map(|seed| self.one(seed));
            let mut all: Vec<Result> = first.collect();
            all.extend(second.join().unwrap());
            all
        })
    }
}

/// Whether it names the culprit, or suspects of which it is one; one that is in doubt names nobody.
fn end(bisection: &Bisection, culprit: usize, is_there: bool) -> End {
    match &bisection.conclusion {
        _ if bisection.is_in_doubt() => End::Open,
        Conclusion::Culprits { numbers, .. } | Conclusion::Suspects { numbers, .. } => {
            if is_there && numbers.contains(&culprit) { End::Right } else { End::Wrong }
        }
        Conclusion::Contradiction { .. } => End::Open,
    }
}

/// Halving that runs each state until it fails, at most so often that all steps together miss nothing in 99 %: it knows
/// the rate beforehand, and where the failure is decided. Seconds, on average.
fn halving(play: Play) -> f64 {
    let steps = (play.count as f64).log2().ceil();
    let allowed = 1.0 - 0.99_f64.powf(1.0 / (steps / 2.0));
    let [state, boot, run] = COSTS.map(|cost| cost as f64 / 1000.0);
    // The price of a try and the chance that it fails: a boot with the best number of runs.
    let (price, chance) = match play.how {
        How::InRuns(1.0) | How::AtBoot(1.0) => return steps * (state + boot + run),
        How::InRuns(rate) => (run, rate),
        How::AtBoot(rate) => (boot + run, rate),
        How::Mixed(rate) => {
            let of = |runs: i32| (boot + f64::from(runs) * run, 0.5 * (1.0 - (1.0 - 2.0 * rate).powi(runs)));
            let worth = |(price, chance): (f64, f64)| -(1.0 - chance).ln() / price;
            (1..60).map(of).max_by(|a, b| worth(*a).total_cmp(&worth(*b))).unwrap()
        }
    };
    let tries = (allowed.ln() / (1.0 - chance).ln()).ceil();
    let until_failure = (1.0 - (1.0 - chance).powf(tries)) / chance;
    let first = if matches!(play.how, How::InRuns(_)) { boot } else { 0.0 };
    steps * (state + first + price * f64::midpoint(tries, until_failure))
}

const PLAYS: [Play; 22] = [
    Play::of("always", How::InRuns(1.0)),
    Play { count: 4096, ..Play::of("always, 4,096 candidates", How::InRuns(1.0)) },
    Play { jobs: 2, ..Play::of("always, two at a time", How::InRuns(1.0)) },
    Play { alarms: 0.01, ..Play::of("always, 1 % false alarms", How::InRuns(1.0)) },
    Play::of("90 % of the runs", How::InRuns(0.9)),
    Play::of("90 % of the boots", How::AtBoot(0.9)),
    Play { alarms: 0.01, ..Play::of("90 %, 1 % false alarms", How::InRuns(0.9)) },
    Play::of("30 % of the runs", How::InRuns(0.3)),
    Play::of("30 % of the boots", How::AtBoot(0.3)),
    Play::of("30 %: 60 % of the runs in half of the boots", How::Mixed(0.3)),
    Play { alarms: 0.01, ..Play::of("30 %, 1 % false alarms", How::InRuns(0.3)) },
    Play { fixed: true, ..Play::of("30 %, with `--fixed`", How::InRuns(0.3)) },
    Play { broken: 0.2, ..Play::of("30 %, a fifth cannot be tested", How::InRuns(0.3)) },
    Play { calls: 3, ..Play::of("30 %, stopped after every third test", How::InRuns(0.3)) },
    Play::of("10 % of the runs", How::InRuns(0.1)),
    Play::of("10 % of the boots", How::AtBoot(0.1)),
    Play::of("10 %: 20 % of the runs in half of the boots", How::Mixed(0.1)),
    Play::of("5 % of the runs", How::InRuns(0.05)),
    Play::of("5 % of the boots", How::AtBoot(0.05)),
    Play { ends: Ends::Both, ..Play::of("30 %, at both ends", How::InRuns(0.3)) },
    Play {
        ends: Ends::Neither,
        alarms: 0.01,
        ..Play::of("at neither end, 1 % false alarms", How::InRuns(0.3))
    },
    Play { ends: Ends::Swapped, ..Play::of("30 %, ends swapped", How::InRuns(0.3)) },
];

struct Summary {
    right: f64,
    wrong: f64,
    runs: f64,
    boots: f64,
    seconds: f64,
}

fn summary(results: &[Result]) -> Summary {
    let mean = |of: &dyn Fn(&Result) -> f64| results.iter().map(of).sum::<f64>() / results.len() as f64;
    let share = |end: End| mean(&|result| f64::from(u8::from(result.end == end)));
    Summary {
        right: share(End::Right),
        wrong: share(End::Wrong),
        runs: mean(&|result| result.runs),
        boots: mean(&|result| result.boots),
        seconds: mean(&|result| result.seconds),
    }
}

#[test]
fn one_of_a_hundred_names_a_wrong_candidate() {
    let is_quick = |play: &&Play| !play.name.starts_with("5 %") && !play.name.starts_with("10 %");
    for play in PLAYS.iter().filter(is_quick) {
        let play = Play { count: 32, ..*play };
        let Summary { wrong, right, .. } = summary(&play.many(0..12));
        // Of 12 at 99 %, more than one are wrong with a chance of 0.6 %.
        assert!(wrong <= 1.0 / 12.0, "{play:?}: {right} {wrong}");
        assert!(right >= 9.0 / 12.0 || play.ends != Ends::Right, "{play:?}: {right} {wrong}");
    }
}

/// How many bisections of each play the table is made of, unless `SIMULATIONS` says more.
const SIMULATIONS: u64 = 60;

/// How many of so many that name a candidate may name a wrong one, where 99 % is stated: one of fifty, and by chance a few
/// more where there are not many.
fn wrong_allowed(named: f64) -> f64 {
    0.02 * named + if named < 300.0 { 2.0 } else { 0.0 }
}

#[test]
#[ignore = "prints the table of docs/statistics.md"]
fn hardly_any_of_many_names_a_wrong_candidate() {
    let simulations = std::env::var("SIMULATIONS").map_or(SIMULATIONS, |text| text.parse().unwrap());
    println!("| the failure shows | right | wrong | open | runs | boots | time | halving |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut misleading = Vec::new();
    for play in PLAYS {
        let Summary { right, wrong, runs, boots, seconds } = summary(&play.many(0..simulations));
        let all = simulations as f64;
        if wrong * all > wrong_allowed((right + wrong) * all) {
            misleading.push(play.name);
        }
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let halving =
            if play.ends == Ends::Right { format!("{:.0}", halving(play)) } else { "-".to_string() };
        println!(
            "| {} | {} | {} | {} | {runs:.1} | {boots:.1} | {seconds:.0} | {halving} |",
            play.name,
            percent(right),
            percent(wrong),
            percent(1.0 - right - wrong),
        );
    }
    assert!(misleading.is_empty(), "{misleading:?}");
}
