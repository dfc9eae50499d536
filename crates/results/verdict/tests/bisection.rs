//! What a bisection does with changes of which the culprit is known.
//!
//! The table of `docs/statistics.md` is printed by
//! `cargo test -p verdict --test bisection -- --ignored --nocapture`.

#![expect(clippy::unwrap_used, reason = "clippy takes only the test functions themselves for tests")]

use std::collections::HashSet;
use std::ops::Range;

use verdict::bisection::{Belief, Order, Search, Settings, Standing, State};
use verdict::statistics::Random;

/// What is played.
#[derive(Debug, Clone)]
struct Play {
    order: Order,
    /// How often the failure shows at states that have it.
    rate: f64,
    settings: Settings,
    jobs: usize,
    /// What the first run of a state costs; a repeat costs 1.
    build: f64,
    /// So many of all states cannot be tested.
    broken: f64,
}

/// A world in which one candidate is the culprit.
struct World {
    play: Play,
    random: Random,
    culprit: usize,
    /// The candidates that each state contains.
    contained: Vec<HashSet<usize>>,
    broken: HashSet<usize>,
    built: Vec<bool>,
    cost: f64,
    runs: u32,
    /// Tests of new states.
    steps: u32,
    rounds: u32,
}

/// How a bisection ended.
#[derive(Debug, Default)]
struct End {
    right: bool,
    suspects: usize,
    cost: f64,
    runs: u32,
    /// Tests of new states, until the search believed that it was done, and all.
    steps: u32,
    all_steps: u32,
    rounds: u32,
    verify: u32,
}

fn uniform(random: &mut Random) -> f64 {
    (random.bits() >> 11) as f64 / (1_u64 << 53) as f64
}

fn contained(order: &Order) -> Vec<HashSet<usize>> {
    let Order::Graph(parents) = order else { return Vec::new() };
    let mut sets: Vec<HashSet<usize>> = Vec::new();
    for (at, parents) in parents.iter().enumerate() {
        let mut set: HashSet<usize> =
            parents.iter().flat_map(|&parent| sets[parent].iter().copied()).collect();
        set.insert(at);
        sets.push(set);
    }
    sets
}

fn count(order: &Order) -> usize {
    match order {
        Order::Line(count) => *count,
        Order::Graph(parents) => parents.len(),
    }
}

impl World {
    fn new(play: &Play, seed: u64) -> Self {
        let mut random = Random::new(!seed);
        let count = count(&play.order);
        let culprit = random.below(count);
        // The last stands for the second end.
        let broken = (0..count - 1).filter(|_| uniform(&mut random) < play.broken).collect();
        let contained = contained(&play.order);
        let built = vec![false; count + 2];
        let play = play.clone();
        Self { play, random, culprit, contained, broken, built, cost: 0.0, runs: 0, steps: 0, rounds: 0 }
    }

    fn contains(&self, state: State) -> bool {
        match (state, &self.play.order) {
            (State::Before, _) => false,
            (State::All, _) => true,
            (State::After(at), Order::Line(_)) => self.culprit <= at,
            (State::After(at), Order::Graph(_)) => self.contained[at].contains(&self.culprit),
        }
    }

    fn place(&self, state: State) -> usize {
        match state {
            State::After(at) => at,
            State::Before => self.built.len() - 2,
            State::All => self.built.len() - 1,
        }
    }

    fn cost(&self, state: State) -> f64 {
        if self.built[self.place(state)] { 1.0 } else { self.play.build }
    }

    /// One run; nothing if the state cannot be tested.
    fn run(&mut self, state: State) -> Option<bool> {
        self.cost += self.cost(state);
        self.runs += 1;
        if matches!(state, State::After(at) if self.broken.contains(&at)) {
            return None;
        }
        let place = self.place(state);
        self.steps += u32::from(!std::mem::replace(&mut self.built[place], true));
        let Settings { fixed, false_alarm, .. } = self.play.settings;
        let chance = if self.contains(state) == fixed { false_alarm } else { self.play.rate };
        Some(uniform(&mut self.random) < chance)
    }

    fn observe(&mut self, search: &mut Search, state: State) -> bool {
        match self.run(state) {
            Some(failures) => {
                search.observe(state, failures.into(), (!failures).into());
                failures
            }
            None => {
                let State::After(at) = state else { unreachable!() };
                search.cannot_test(at);
                false
            }
        }
    }

    /// Both ends: the bad one until it is known how often the failure shows, the good one until it can hardly be missed.
    fn verify(&mut self, search: &mut Search) {
        let (bad, good) = match self.play.settings.fixed {
            true => (State::Before, State::All),
            false => (State::All, State::Before),
        };
        let (mut failures, mut runs) = (0, 0);
        while runs < 5 || failures < runs && failures < 3 && runs < 60 {
            failures += u32::from(self.observe(search, bad));
            runs += 1;
        }
        let rate = search.rate(Belief::Sceptical).estimate().unwrap();
        let mut missed = 1.0;
        while missed > 1.0 - self.play.settings.confidence {
            self.observe(search, good);
            missed *= (1.0 - rate).min(0.95);
        }
        self.steps = 0;
    }

    fn search(&mut self, search: &mut Search, belief: Belief) -> Standing {
        loop {
            let standing = search.standing(belief);
            if standing != Standing::Open {
                return standing;
            }
            let tests = search.next(self.play.jobs, belief, &|state| self.cost(state));
            assert!(!tests.is_empty() && self.runs < 20_000, "{:?}", self.play);
            for &state in &tests {
                self.observe(search, state);
            }
            self.rounds += 1;
        }
    }

    fn bisect(mut self) -> End {
        let mut search = Search::new(self.play.order.clone(), self.play.settings).unwrap();
        self.verify(&mut search);
        let verify = self.runs;
        self.search(&mut search, Belief::Working);
        let (steps, rounds) = (self.steps, self.rounds);
        let standing = self.search(&mut search, Belief::Sceptical);
        let end = End {
            steps,
            all_steps: self.steps,
            rounds,
            cost: self.cost,
            runs: self.runs,
            verify,
            ..End::default()
        };
        match standing {
            Standing::Found { candidate, .. } => End { right: candidate == self.culprit, ..end },
            Standing::Suspects { candidates, .. } => {
                End { right: candidates.contains(&self.culprit), suspects: candidates.len(), ..end }
            }
            Standing::Open | Standing::Contradiction => end,
        }
    }
}

/// What many bisections came to.
#[derive(Debug)]
struct Summary {
    right: f64,
    runs: f64,
    cost: f64,
    /// The most tests of new states before the proof.
    worst: u32,
    /// Tests of new states, on average.
    all_steps: f64,
    rounds: f64,
    verify: f64,
    suspects: f64,
}

fn many(times: u64, play: &Play) -> Summary {
    let half = |seeds: Range<u64>| seeds.map(|seed| World::new(play, seed).bisect()).collect::<Vec<End>>();
    let ends = std::thread::scope(|scope| {
        let second = scope.spawn(|| half(times / 2..times));
        let mut ends = half(0..times / 2);
        ends.extend(second.join().unwrap());
        ends
    });
    let mean = |of: &dyn Fn(&End) -> f64| ends.iter().map(of).sum::<f64>() / times as f64;
    Summary {
        right: mean(&|end| f64::from(u8::from(end.right))),
        runs: mean(&|end| end.runs.into()),
        cost: mean(&|end| end.cost),
        worst: ends.iter().map(|end| end.steps).max().unwrap_or(0),
        all_steps: mean(&|end| end.all_steps.into()),
        rounds: mean(&|end| end.rounds.into()),
        verify: mean(&|end| end.verify.into()),
        suspects: mean(&|end| end.suspects as f64),
    }
}

fn line(count: usize, rate: f64) -> Play {
    Play { order: Order::Line(count), rate, settings: Settings::default(), jobs: 1, build: 1.0, broken: 0.0 }
}

/// A history with branches of a few commits each, of which some grow at a time and which are merged again.
fn history(count: usize, seed: u64) -> Order {
    let mut random = Random::new(seed);
    let mut parents: Vec<Vec<usize>> = vec![vec![]];
    let mut heads = vec![0];
    while parents.len() + 1 < count {
        let new = parents.len();
        let on = random.below(heads.len());
        if heads.len() > 1 && random.below(6) == 0 {
            let merged = heads.swap_remove(on);
            let into = random.below(heads.len());
            parents.push(vec![heads[into], merged]);
            heads[into] = new;
        } else if heads.len() < 5 && random.below(6) == 0 {
            parents.push(vec![random.below(new)]);
            heads.push(new);
        } else {
            parents.push(vec![heads[on]]);
            heads[on] = new;
        }
    }
    parents.push(heads);
    Order::Graph(parents)
}

/// The smallest share that chance lets pass for the promise in so many tries, but for one time in a thousand.
fn promise(play: &Play, times: u64) -> f64 {
    let confidence = play.settings.confidence;
    confidence - 3.1 * (confidence * (1.0 - confidence) / times as f64).sqrt()
}

/// Runs of halving in which each state is run so often that all steps together are right with this confidence.
fn fixed_repeats(count: usize, rate: f64, confidence: f64) -> u32 {
    let steps = count.next_power_of_two().ilog2();
    let is_enough = |repeats: &u32| {
        let right = 1.0 - (1.0 - rate).powf(f64::from(*repeats));
        right.powf(f64::from(steps)) >= confidence
    };
    steps * (1..).find(is_enough).unwrap()
}

fn fixed() -> Settings {
    Settings { fixed: true, ..Settings::default() }
}

fn with_alarms() -> Settings {
    Settings { false_alarm: 0.05, ..Settings::default() }
}

#[test]
fn a_failure_that_always_shows_takes_no_more_steps_than_halving() {
    let summary = many(500, &line(4096, 1.0));
    assert!(summary.right == 1.0 && summary.worst == 12, "{summary:?}");
    // What the proof takes: repeats of what is built.
    assert!(summary.runs - summary.verify < 16.0 && summary.all_steps < 12.1, "{summary:?}");
}

/// Seen: 99.2 % right, 105.7 runs after those of the ends; 240 are those of halving with 20 runs of each state.
#[test]
fn an_intermittent_failure_takes_less_than_half_of_halving_with_fixed_repeats() {
    let play = line(4096, 0.3);
    let halving = fixed_repeats(4096, 0.3, 0.99);
    assert_eq!(halving, 240);
    let summary = many(500, &play);
    assert!(summary.right >= promise(&play, 500), "{summary:?}");
    assert!(summary.runs - summary.verify < f64::from(halving) / 2.0, "{summary:?}");
}

#[test]
fn the_culprit_is_right_at_the_stated_confidence() {
    let low = Settings { confidence: 0.9, ..Settings::default() };
    let plays = [
        line(128, 0.05),
        line(256, 0.9),
        Play { settings: fixed(), ..line(256, 0.3) },
        Play { settings: with_alarms(), ..line(256, 0.9) },
        Play { settings: low, ..line(256, 0.3) },
        Play { order: history(200, 1), ..line(1, 0.3) },
        Play { order: history(200, 2), settings: fixed(), ..line(1, 0.9) },
    ];
    for play in plays {
        let summary = many(200, &play);
        assert!(summary.right >= promise(&play, 200), "{play:?}: {summary:?}");
    }
}

#[test]
fn two_side_by_side_take_fewer_rounds() {
    let two = many(50, &Play { jobs: 2, ..line(4096, 1.0) });
    // The logarithm of 4096 to the base of 3 is 7.6.
    assert!(two.right == 1.0 && two.rounds < 8.1, "{two:?}");
    let one = many(100, &line(256, 0.3));
    let two = many(100, &Play { jobs: 2, ..line(256, 0.3) });
    assert!(two.rounds < 0.6 * one.rounds && two.right > 0.95, "{one:?} {two:?}");
}

#[test]
fn what_is_dear_to_build_is_repeated_instead() {
    let cheap = many(50, &line(512, 0.3));
    let dear = many(50, &Play { build: 20.0, ..line(512, 0.3) });
    assert!(dear.all_steps < 0.5 * cheap.all_steps && dear.runs > cheap.runs, "{cheap:?} {dear:?}");
    // What it would cost to test as if builds were for nothing: each build 19 more than a repeat.
    assert!(dear.cost < cheap.cost + 19.0 * cheap.all_steps, "{cheap:?} {dear:?}");
}

#[test]
fn what_cannot_be_tested_is_worked_around() {
    for rate in [1.0, 0.3] {
        let play = Play { broken: 0.2, ..line(256, rate) };
        let summary = many(200, &play);
        assert!(summary.right >= promise(&play, 200), "{summary:?}");
        // Of those around the culprit a fifth are broken; seldom are there more than a few together.
        assert!((0.2..2.0).contains(&summary.suspects), "{summary:?}");
        let play = Play { broken: 0.2, order: history(200, 3), ..play };
        let summary = many(100, &play);
        assert!(summary.right >= promise(&play, 100), "{summary:?}");
    }
}

#[test]
#[ignore = "prints the table of docs/statistics.md"]
fn print_the_table() {
    let plays = [
        ("always", line(4096, 1.0)),
        ("always, two at a time", Play { jobs: 2, ..line(4096, 1.0) }),
        ("90 %", line(4096, 0.9)),
        ("30 %", line(4096, 0.3)),
        ("30 %, two at a time", Play { jobs: 2, ..line(512, 0.3) }),
        ("30 %, a new state costs 20 runs", Play { build: 20.0, ..line(512, 0.3) }),
        ("30 %, fixed", Play { settings: fixed(), ..line(512, 0.3) }),
        ("30 %, a fifth cannot be tested", Play { broken: 0.2, ..line(512, 0.3) }),
        ("90 %, false alarms of 5 %", Play { settings: with_alarms(), ..line(512, 0.9) }),
        ("10 %", line(256, 0.1)),
        ("5 %", line(256, 0.05)),
        ("always, graph", Play { order: history(400, 1), ..line(1, 1.0) }),
        ("30 %, graph", Play { order: history(400, 1), ..line(1, 0.3) }),
    ];
    for (name, play) in plays {
        println!("{name}: {:.3?}", many(500, &play));
    }
}
