//! What the rules of timed comparisons do with data of which the truth is known.
//!
//! The tables of `docs/statistics.md` are printed by
//! `cargo test -p verdict --test simulation -- --ignored --nocapture --test-threads 1`.

#![expect(clippy::unwrap_used, reason = "clippy takes only the test functions themselves for tests")]

use verdict::Verdict;
use verdict::statistics::{Differences, Random};
use verdict::timed::{Decision, Design, Pair, decide};

/// What boots of one Kernel draw from.
#[derive(Clone, Copy)]
struct Noise {
    /// The standard deviation of the logarithm.
    width: f64,
    /// The share of boots that take a fifth more.
    outliers: f64,
}

const QUIET: Noise = Noise { width: 0.01, outliers: 0.0 };
const LOUD: Noise = Noise { width: 0.03, outliers: 0.0 };
const STILL: Noise = Noise { width: 0.001, outliers: 0.0 };
const WILD: Noise = Noise { width: 0.01, outliers: 0.05 };

impl Noise {
    fn draw(self, random: &mut Random, change: f64) -> f64 {
        let mut uniform = || random.uniform();
        // G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates", 1958.
        let normal = (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let outlier = if uniform() < self.outliers { 1.2 } else { 1.0 };
        1e6 * (1.0 + change) * outlier * (self.width * normal).exp()
    }

    fn boots(self, random: &mut Random, change: f64, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.draw(random, change)).collect()
    }
}

/// What the values are drawn from: not what the intervals of the same seed are drawn from.
fn data(seed: u64) -> Random {
    Random::new(!seed)
}

/// Where one metric came to its end.
struct End {
    decision: Decision,
    boots: u32,
    /// Whether the interval missed the truth at some look.
    missed: bool,
}

/// Boots of two kernels until one metric is decided.
fn compare(base_noise: Noise, new_noise: Noise, change: f64, design: &Design) -> End {
    let mut random = data(design.seed);
    let (mut base, mut new, mut missed) = (Vec::new(), Vec::new(), false);
    let mut end = None;
    for &look in &design.looks {
        let more = look as usize - base.len();
        base.extend(base_noise.boots(&mut random, 0.0, more));
        new.extend(new_noise.boots(&mut random, change, more));
        let decision = decide(&[Pair::of_times(&base, &new)], design)[0];
        missed |= decision.interval.is_some_and(|(low, high)| change < low || high < change);
        let is_decided = decision.verdict != Verdict::Undecided;
        end = Some(End { decision, boots: look, missed });
        if is_decided {
            break;
        }
    }
    end.unwrap()
}

/// What many comparisons came to.
struct Summary {
    worse: f64,
    better: f64,
    same: f64,
    /// Mean boots of each kernel.
    boots: f64,
    /// Mean error of the estimate at the end, in percent, of all and of those called worse or better.
    bias: f64,
    bias_of_claims: f64,
    /// The share in which no look's interval missed the truth.
    covered: f64,
}

fn many(count: u32, base: Noise, new: Noise, change: f64, design: &Design) -> Summary {
    let ends: Vec<End> = (0..count)
        .map(|seed| compare(base, new, change, &Design { seed: u64::from(seed), ..design.clone() }))
        .collect();
    let mean = |of: &dyn Fn(&End) -> f64| ends.iter().map(of).sum::<f64>() / f64::from(count);
    let share = |of: &dyn Fn(&End) -> bool| mean(&|end| f64::from(u8::from(of(end))));
    let claims = share(&|end| is_claim(&end.decision));
    let error = |end: &End| (end.decision.change - change) * 100.0;
    Summary {
        worse: share(&|end| end.decision.verdict == Verdict::Worse),
        better: share(&|end| end.decision.verdict == Verdict::Better),
        same: share(&|end| end.decision.verdict == Verdict::Same),
        boots: mean(&|end| f64::from(end.boots)),
        bias: mean(&error),
        bias_of_claims: mean(&|end| if is_claim(&end.decision) { error(end) } else { 0.0 }) / claims,
        covered: share(&|end| !end.missed),
    }
}

fn is_claim(decision: &Decision) -> bool {
    matches!(decision.verdict, Verdict::Worse | Verdict::Better)
}

/// The largest share that chance lets pass for 5 % in so many tries, but for one time in a million.
fn five_percent_of(count: u32) -> f64 {
    0.05 + 4.9 * (0.05 * 0.95 / f64::from(count)).sqrt()
}

#[test]
fn a_kernel_against_itself_gives_no_more_false_alarms_than_promised() {
    for noise in [LOUD, WILD] {
        // Any difference is of interest, so that only the tests hold alarms back.
        let design = Design { min_effect: 0.0, looks: vec![5, 8, 12], ..Design::new(0) };
        let Summary { worse, better, same, covered, .. } = many(1000, noise, noise, 0.0, &design);
        let alarms = worse + better;
        assert!((0.005..=0.05).contains(&alarms), "{alarms}");
        assert!(1.0 - covered <= 0.05, "{covered}");
        assert!(same == 0.0, "{same}");
    }
}

#[test]
fn differences_are_found() {
    for (noise, change, least) in
        [(QUIET, 0.02, 0.99), (QUIET, -0.05, 0.99), (LOUD, 0.05, 0.95), (WILD, 0.02, 0.9)]
    {
        let Summary { worse, better, same, boots, .. } = many(200, noise, noise, change, &Design::new(0));
        let (found, wrong) = if change > 0.0 { (worse, better) } else { (better, worse) };
        assert!(found >= least && wrong == 0.0 && same == 0.0, "{change}: {found} found after {boots} boots");
    }
}

#[test]
fn a_kernel_against_itself_is_the_same_where_the_noise_allows_it() {
    let Summary { worse, better, same, .. } = many(100, QUIET, QUIET, 0.0, &Design::new(0));
    assert!(same >= 0.85 && worse + better <= 0.05, "{same}");
    let Summary { same, .. } = many(30, LOUD, LOUD, 0.0, &Design::new(0));
    assert!(same == 0.0, "{same}");
}

#[test]
fn a_difference_at_the_limit_is_seldom_called_the_same() {
    let Summary { same, .. } = many(200, QUIET, QUIET, 0.01, &Design::new(0));
    assert!(same <= 0.025 + 4.9 * (0.025 * 0.975 / 200.0_f64).sqrt(), "{same}");
}

#[test]
fn to_stop_early_moves_the_estimate_by_little() {
    for (noise, change) in [(QUIET, 0.01), (QUIET, 0.02), (LOUD, 0.05)] {
        let Summary { bias, covered, .. } = many(100, noise, noise, change, &Design::new(0));
        // In percent; the width of the noise is a fraction of 1.
        assert!(bias.abs() < 25.0 * noise.width, "{change}: {bias} %");
        assert!(1.0 - covered <= five_percent_of(100), "{change}: {covered}");
    }
}

/// A kernel against another: some metrics differ by 3 %, and the others do not.
struct Mixture {
    metrics: usize,
    changed: usize,
    /// So many of the others differ by less than what is of interest, as everybody sees who looks.
    slight: usize,
}

impl Mixture {
    /// The share of false ones among what is called worse or better, and the share of the changed that is.
    fn judge(&self, seed: u64) -> (f64, f64) {
        let Self { metrics, changed, slight } = *self;
        let design = Design { looks: vec![12], ..Design::new(seed) };
        let mut random = data(seed);
        let values: Vec<_> = (0..metrics)
            .map(|metric| {
                let (noise, change) = match metric {
                    _ if metric < changed => (QUIET, 0.03),
                    _ if metric < changed + slight => (STILL, 0.005),
                    _ => (LOUD, 0.0),
                };
                (noise.boots(&mut random, 0.0, 12), noise.boots(&mut random, change, 12))
            })
            .collect();
        let pairs: Vec<Pair> = values.iter().map(|(base, new)| Pair::of_times(base, new)).collect();
        let decisions = decide(&pairs, &design);
        let claims =
            |decisions: &[Decision]| decisions.iter().filter(|decision| is_claim(decision)).count() as f64;
        let wrong = claims(&decisions[changed..]);
        (wrong / claims(&decisions).max(1.0), claims(&decisions[..changed]) / changed.max(1) as f64)
    }

    /// The means over so many experiments.
    fn mean(&self, experiments: u32) -> (f64, f64) {
        let sums = (0..experiments)
            .map(|seed| self.judge(seed.into()))
            .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        (sums.0 / f64::from(experiments), sums.1 / f64::from(experiments))
    }
}

#[test]
fn among_many_metrics_the_share_of_false_discoveries_is_as_promised() {
    for (metrics, changed, slight) in [(20, 0, 0), (20, 3, 0), (20, 10, 0), (40, 0, 20)] {
        let (wrong, found) = Mixture { metrics, changed, slight }.mean(50);
        assert!(wrong <= five_percent_of(50), "{changed} and {slight}: {wrong}");
        assert!(changed == 0 || found > 0.95, "{changed} and {slight}: {found}");
    }
}

/// How often three kinds of intervals of one look contain the truth: of ranks, of the bootstrap, the wider of both.
fn coverage(count: usize, tries: u32, base: f64, new: f64) -> [f64; 3] {
    let error = Design::new(0).error_of_look() / 2.0;
    let mut held = [0.0; 3];
    for seed in 0..tries {
        let mut random = data(u64::from(seed));
        let mut draw = |width| {
            let values = Noise { width, outliers: 0.0 }.boots(&mut random, 0.0, count);
            values.into_iter().map(f64::ln).collect::<Vec<f64>>()
        };
        let differences = Differences::of(&draw(base), &draw(new)).unwrap();
        let ranks = differences.rank_interval(error).unwrap();
        let drawn = differences.bootstrap_interval(error, u64::from(seed));
        let wider = (ranks.0.min(drawn.0), ranks.1.max(drawn.1));
        for (held, (low, high)) in held.iter_mut().zip([ranks, drawn, wider]) {
            *held += f64::from(u8::from(low <= 0.0 && 0.0 <= high)) / f64::from(tries);
        }
    }
    held
}

#[test]
fn the_wider_of_two_intervals_holds_where_one_of_them_does_not() {
    let promised = 1.0 - Design::new(0).error_of_look();
    let [ranks, drawn, wider] = coverage(5, 2000, 0.01, 0.01);
    assert!(ranks > promised - 0.006 && wider >= ranks, "{ranks} {wider}");
    assert!(drawn < promised - 0.02, "the bootstrap alone would do: {drawn}");
}

#[test]
#[ignore = "takes minutes"]
fn table_of_comparisons() {
    println!(
        "\nnoise, change, smallest effect: worse, better, same, undecided; boots; bias, of claims; covered"
    );
    for (name, base, new) in [
        ("1 %", QUIET, QUIET),
        ("3 %", LOUD, LOUD),
        ("1 % and outliers", WILD, WILD),
        ("1 % against 3 %", QUIET, LOUD),
    ] {
        for (change, min_effect) in
            [(0.0, 0.0), (0.0, 0.01), (0.01, 0.005), (0.01, 0.01), (0.02, 0.01), (0.05, 0.01)]
        {
            let all = many(1000, base, new, change, &Design { min_effect, ..Design::new(0) });
            let Summary { worse, better, same, covered, .. } = all;
            let [a, b, c, d, e] =
                [worse, better, same, 1.0 - worse - better - same, covered].map(|share| share * 100.0);
            let (change, min_effect) = (change * 100.0, min_effect * 100.0);
            print!("{name:>16} {change:+.1} % {min_effect:.1} %: {a:5.1} {b:5.1} {c:5.1} {d:5.1}; ");
            println!("{:4.1}; {:+.2} {:+.2}; {e:5.1}", all.boots, all.bias, all.bias_of_claims);
            assert!(1.0 - covered <= five_percent_of(1000));
            assert!(change != 0.0 || worse + better <= five_percent_of(1000));
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn table_of_intervals() {
    println!("\nboots, widths: coverage of ranks, bootstrap, the wider of both, where 99.2 % is promised");
    for (base, new) in [(0.01, 0.01), (0.01, 0.03)] {
        for count in Design::LOOKS {
            let [ranks, drawn, wider] = coverage(count as usize, 4000, base, new).map(|share| share * 100.0);
            println!("{count:>4} ({base}, {new}): {ranks:5.1} {drawn:5.1} {wider:5.1}");
            assert!(wider > 97.5);
        }
    }
}

#[test]
#[ignore = "takes minutes"]
fn table_of_false_discoveries() {
    println!("\nof 100 metrics: differ by 3 %, by 0.5 %: false discoveries, found");
    for (changed, slight) in [(0, 0), (1, 0), (5, 0), (20, 0), (50, 0), (0, 50), (5, 50)] {
        let (wrong, found) = Mixture { metrics: 100, changed, slight }.mean(300);
        println!("{changed:>4} {slight:>4}: {:5.2} % {:5.1} %", wrong * 100.0, found * 100.0);
        assert!(wrong <= five_percent_of(300));
    }
}
