//! How often comparisons of an experiment on a kernel with itself call something worse or better, and how many boots it
//! takes to find what differs.
//!
//! The table of `docs/statistics.md` is printed by
//! `cargo test -p verdict --test recorded -- --ignored --nocapture`.

use std::collections::BTreeMap;
use std::time::Duration;

use judge::Outcome;
use measure::{Boot, Kind, Measurement, Metric, OwnUnit, Ran, Subject, Unit, Value};
use verdict::statistics::Random;
use verdict::{Against, Design, Sequential, Verdict, compare_recorded};

/// A metric of the experiment.
#[derive(Debug, Clone, Copy)]
enum Figure {
    /// Counted, and the same in each boot.
    Constant(f64),
    /// Counted: 1 more with this probability.
    Drawn(f64),
    /// Sampled, around this value with a standard deviation of 1 %.
    Noisy(f64),
}

/// What an experiment does on a kernel.
#[derive(Debug, Clone)]
struct World {
    figures: Vec<Figure>,
    /// The share of the runs that fail.
    fails: f64,
}

/// As many constants as metrics of other kinds, and runs of which some fail.
fn usual(fails: f64) -> World {
    let drawn = [0.5, 0.5, 0.1].map(Figure::Drawn);
    let noisy = [100.0, 2.5, 0.001].map(Figure::Noisy);
    let constant = [0.0, 1.0, 7.0, 100.0, 1000.0, 123_456.0].map(Figure::Constant);
    World { figures: [&drawn[..], &noisy, &constant].concat(), fails }
}

/// The sum of twelve uniform numbers less 6 is near enough to a normal one.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0
}

impl World {
    fn draw(figure: Figure, random: &mut Random) -> f64 {
        match figure {
            Figure::Constant(value) => value,
            Figure::Drawn(odds) => f64::from(u8::from(random.uniform() < odds)),
            Figure::Noisy(value) => value * (1.0 + 0.01 * normal(random)),
        }
    }

    /// Before the first boot.
    fn nothing(&self) -> Measurement {
        let metric = |(number, figure): (usize, &Figure)| Metric {
            name: format!("m{number}"),
            about: String::new(),
            unit: Unit::Own(OwnUnit {
                name: "things".to_string(),
                more_is_better: false,
                is_timed: matches!(figure, Figure::Noisy(_)),
            }),
            values: Vec::new(),
            samples: Vec::new(),
            not_measured: None,
            detail: None,
        };
        Measurement {
            subject: Subject::default(),
            kind: Kind::Recorded,
            procedure: String::new(),
            boots: Vec::new(),
            metrics: self.figures.iter().enumerate().map(metric).collect(),
            code: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// More boots, until there are so many.
    fn boot(&self, measured: &mut Measurement, boots: u32, random: &mut Random) {
        for boot in u32::try_from(measured.boots.len()).unwrap_or(u32::MAX)..boots {
            for (metric, figure) in measured.metrics.iter_mut().zip(&self.figures) {
                let value = Self::draw(*figure, random);
                metric.values.push(Value {
                    boot,
                    min: value,
                    median: value,
                    max: value,
                    repetitions: 1,
                    left_out: 0,
                });
            }
            let outcome = if random.uniform() < self.fails { Outcome::Fail } else { Outcome::Pass };
            let run = Some(Ran { outcome, reason: String::new() });
            measured.boots.push(Boot { seed: 0, took: Duration::ZERO, conditions: None, run });
        }
    }
}

/// Boots of two kernels until all is decided; the boots of each, and what they come to.
fn compare(base: &World, new: &World, design: &Design) -> (u32, Against) {
    // Not what the intervals of the same seed are drawn from.
    let mut random = Random::new(!design.seed);
    let (mut of_base, mut of_new) = (base.nothing(), new.nothing());
    let mut sequential = Sequential::new(design);
    let mut end = (0, compare_recorded(&of_base, &of_new, design));
    while let Some(look) = sequential.next_look() {
        base.boot(&mut of_base, look, &mut random);
        new.boot(&mut of_new, look, &mut random);
        end = (look, compare_recorded(&of_base, &of_new, design));
        sequential.looked(std::slice::from_ref(&end.1));
    }
    end
}

fn is_claim(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Worse | Verdict::Better)
}

/// The share of so many comparisons that `is_so`.
fn share(count: u32, design: &Design, of: impl Fn(&Design) -> bool) -> f64 {
    let designs = (0..count).map(|seed| Design { seed: seed.into(), ..design.clone() });
    f64::from(u32::try_from(designs.filter(|design| of(design)).count()).unwrap_or(u32::MAX))
        / f64::from(count)
}

/// The share of comparisons of a kernel with itself in which something is called worse or better.
fn alarms(count: u32, world: &World, looks: &[u32]) -> f64 {
    // Any difference is of interest, so that only the tests hold alarms back.
    let design = Design { min_effect: 0.0, looks: looks.to_vec(), ..Design::new(0) };
    share(count, &design, |design| compare(world, world, design).1.verdicts().any(is_claim))
}

/// The largest share that chance lets pass for 5 % in so many tries, but for one time in a million.
fn five_percent_of(count: u32) -> f64 {
    0.05 + 4.9 * (0.05 * 0.95 / f64::from(count)).sqrt()
}

/// Designs: the usual looks, as far as they do not take long, and one look after so many boots.
const DESIGNS: [&[u32]; 5] = [&[5, 8, 12], &[2], &[3], &[4], &[8]];

#[test]
fn an_experiment_on_one_kernel_twice_gives_no_more_false_alarms_than_promised() {
    for looks in DESIGNS {
        let found = alarms(60, &usual(0.3), looks);
        assert!(found <= five_percent_of(60), "{looks:?}: {found}");
    }
    // Without intervals it takes no time.
    let counted = World { figures: vec![Figure::Drawn(0.5)], fails: 0.5 };
    for looks in [&[4][..], &[5]] {
        let found = alarms(400, &counted, looks);
        assert!(found <= five_percent_of(400), "{looks:?}: {found}");
    }
}

/// The usual world with one more metric.
fn with(figure: Figure, fails: f64) -> World {
    let mut world = usual(fails);
    world.figures.push(figure);
    world
}

#[test]
fn a_constant_that_changed_is_found_by_eight_boots_however_small_it_is() {
    let [base, new] = [1_000_000.0, 1_000_001.0].map(|value| with(Figure::Constant(value), 0.0));
    let found = share(20, &Design { looks: vec![5, 8], ..Design::new(0) }, |design| {
        let (_, against) = compare(&base, &new, design);
        let row = against.rows.iter().find(|row| row.metric == "m12").expect("it is there");
        row.verdict == Verdict::Worse && row.difference == 1.0
    });
    assert_eq!(found, 1.0);
}

#[test]
fn an_experiment_that_fails_on_one_kernel_only_is_found_by_eight_boots() {
    let [base, new] = [0.0, 1.0].map(|fails| World { figures: vec![Figure::Constant(7.0)], fails });
    for (base, new, expected) in [(&base, &new, Verdict::Worse), (&new, &base, Verdict::Better)] {
        let (boots, against) = compare(base, new, &Design::new(1));
        let runs = against.runs.expect("an experiment has runs");
        // Of two tests one needs more than the first look.
        assert_eq!((boots, runs.verdict, against.rows[0].verdict), (8, expected, Verdict::Same));
        assert!(runs.p.is_some_and(|p| p < 0.01), "{runs:?}");
    }
    let few = Design { looks: vec![2], ..Design::new(1) };
    let (_, against) = compare(&base, &new, &few);
    let runs = against.runs.expect("an experiment has runs");
    assert_eq!((runs.verdict, runs.is_lost()), (Verdict::Undecided, true));
}

#[test]
#[ignore = "takes minutes"]
fn table_of_alarms() {
    println!("\nlooks, share of runs that fail: comparisons with a false verdict");
    for looks in [&[5, 8, 12, 18, 27, 40][..], &[5, 8, 12], &[2], &[3], &[4], &[5], &[8]] {
        for fails in [0.0, 0.3] {
            let found = alarms(1000, &usual(fails), looks);
            println!("{looks:?} {fails}: {:.1} %", found * 100.0);
            assert!(found <= five_percent_of(1000));
        }
    }
}

/// What is worse in one way only, in an experiment with six constant metrics.
fn changes() -> [(&'static str, [World; 2]); 8] {
    let quiet = |fails| World { figures: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(Figure::Constant).into(), fails };
    let more = |figures: [Figure; 2]| {
        figures.map(|figure| World { figures: [&quiet(0.0).figures[..], &[figure]].concat(), fails: 0.0 })
    };
    let drawn = |base, new| more([Figure::Drawn(base), Figure::Drawn(new)]);
    let noisy = |new| more([Figure::Noisy(100.0), Figure::Noisy(new)]);
    let failing = |base, new| [quiet(base), quiet(new)];
    [
        ("a constant count, +1", more([Figure::Constant(100.0), Figure::Constant(101.0)])),
        ("a count of 0 or 1, 1 in 10 to 9 in 10", drawn(0.1, 0.9)),
        ("a time with 1 % noise, +2 %", noisy(102.0)),
        ("a time with 1 % noise, +5 %", noisy(105.0)),
        ("failures, none to all", failing(0.0, 1.0)),
        ("failures, none to half", failing(0.0, 0.5)),
        ("failures, none to 2 in 10", failing(0.0, 0.2)),
        ("failures, 2 in 10 to 8 in 10", failing(0.2, 0.8)),
    ]
}

#[test]
#[ignore = "takes minutes"]
fn table_of_power() {
    println!("\nwhat is worse: found, boots of each kernel");
    for (name, [base, new]) in changes() {
        let (mut found, mut boots) = (0, 0);
        for seed in 0..300 {
            let (took, against) = compare(&base, &new, &Design::new(seed));
            found += u32::from(against.verdicts().any(|verdict| verdict == Verdict::Worse));
            boots += took;
        }
        println!("{name}: {:.0} %, {:.1}", f64::from(found) / 3.0, f64::from(boots) / 300.0);
        assert!(found * 10 > 300, "{name}");
    }
}
