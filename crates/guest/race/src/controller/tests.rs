//! Races of sections that are simulated: what a round comes to depends on nothing but its delay, noise and the seed.

use super::*;

/// Two sections that last so long and collide when B begins within `window` of the start of A.
#[derive(Debug, Clone)]
struct World {
    a: i64,
    b: i64,
    window: (i64, i64),
    /// Delays are kept up to so much.
    noise: i64,
    /// It is known who was late.
    is_judged: bool,
    random: Random,
}

impl World {
    fn round(&mut self, delay: i64) -> (Round, Judgement) {
        let starts = delay + between(-self.noise, self.noise + 1, self.random.next_u64());
        let judgement = match (starts < self.window.0, starts >= self.window.1) {
            (false, false) => Judgement::Hit,
            (true, _) if self.is_judged => Judgement::Early,
            (_, true) if self.is_judged => Judgement::Late,
            _ => Judgement::Miss,
        };
        (Round::simulated(delay, (0, self.a), (starts, self.b)), judgement)
    }
}

const WORLD: World = World {
    a: 50_000,
    b: 10_000,
    window: (38_000, 38_010),
    noise: 20,
    is_judged: false,
    random: Random::new(0),
};

fn controller(strategy: Strategy, seed: u64) -> Controller {
    Controller::new(strategy, seed, Clock::MONOTONIC, false)
}

/// The next round, and what it came to.
fn step(controller: &mut Controller, world: &mut World) -> (i64, Judgement, Learnt) {
    let delay = controller.delay();
    let (round, judgement) = world.round(delay);
    (delay, judgement, controller.observe(&round, judgement, false))
}

/// The delays after sampling.
fn delays(strategy: Strategy, seed: u64, count: usize) -> Vec<i64> {
    let (mut controller, mut world) = (controller(strategy, seed), WORLD);
    let mut steps = std::iter::repeat_with(|| step(&mut controller, &mut world));
    assert!(steps.any(|(_, _, learnt)| learnt == Learnt::Known { settled: true }));
    steps.take(count).map(|(delay, ..)| delay).collect()
}

/// The round of the first hit, from 1.
fn first_hit(strategy: Strategy, seed: u64, mut world: World) -> usize {
    world.random = Random::new(seed ^ 0xabcd);
    let mut controller = controller(strategy, seed);
    (1..).find(|_| step(&mut controller, &mut world).1 == Judgement::Hit).expect("it goes on until then")
}

fn median_of_first_hits(strategy: Strategy, world: &World) -> usize {
    let mut rounds: Vec<_> = (0..21).map(|seed| first_hit(strategy, seed, world.clone())).collect();
    rounds.sort_unstable();
    rounds[10]
}

#[test]
fn delays_lie_where_the_sections_overlap() {
    for strategy in [Strategy::Uniform, Strategy::LowDiscrepancy, Strategy::Mixture] {
        for seed in 0..20 {
            let delays = delays(strategy, seed, 1000);
            let (least, most) = (delays.iter().min().expect("some"), delays.iter().max().expect("some"));
            assert!((-12_000..-9_500).contains(least), "{strategy:?} {seed}: {least}");
            assert!((49_500..52_000).contains(most), "{strategy:?} {seed}: {most}");
        }
    }
    assert!(delays(Strategy::Aligned, 1, 1000).iter().all(|&delay| delay == 0));
}

#[test]
fn the_same_seed_gives_the_same_delays() {
    for strategy in [Strategy::Uniform, Strategy::LowDiscrepancy, Strategy::Mixture] {
        assert_eq!(delays(strategy, 7, 500), delays(strategy, 7, 500));
        assert_ne!(delays(strategy, 7, 500), delays(strategy, 8, 500));
    }
}

#[test]
fn half_of_a_mixture_is_aligned_and_half_is_spread() {
    let delays = delays(Strategy::Mixture, 3, 2000);
    let halves = [0, 1].map(|half| delays.iter().copied().skip(half).step_by(2).collect::<Vec<_>>());
    let is_close = |half: &Vec<i64>| half.iter().all(|delay| delay.abs() <= 60_000 / JITTER + 1);
    let spread = halves.iter().find(|half| !is_close(half)).expect("one half is spread");
    assert_eq!(halves.iter().filter(|half| is_close(half)).count(), 1);
    let mut parts = [0; 50];
    spread.iter().for_each(|delay| parts[((delay + 12_000) * 50 / 64_000) as usize] += 1);
    assert!(parts[3..48].iter().all(|count| (18..=22).contains(count)), "{parts:?}");
}

#[test]
fn a_narrow_window_is_hit_as_soon_as_the_spread_allows() {
    // One in 6,400 delays hits: aligned starts never do, and of a mixture every other round is spread.
    let spread = median_of_first_hits(Strategy::LowDiscrepancy, &WORLD);
    let mixture = median_of_first_hits(Strategy::Mixture, &WORLD);
    assert!(spread < 10_000 && mixture < 20_000, "{spread} {mixture}");
    let equal = World { a: 10_000, b: 10_000, window: (-5, 5), ..WORLD };
    assert!(median_of_first_hits(Strategy::Mixture, &equal) < 50);
}

#[test]
fn knowing_who_was_late_finds_it_a_hundred_times_faster() {
    let judged = World { is_judged: true, ..WORLD };
    let rounds = median_of_first_hits(Strategy::Mixture, &judged);
    assert!(rounds * 100 < median_of_first_hits(Strategy::Uniform, &WORLD), "{rounds}");
}

#[test]
fn rounds_near_known_hits_hit_more_often() {
    let (mut controller, mut world) = (controller(Strategy::Mixture, 5), WORLD);
    world.window = (38_000, 38_100);
    let mut hits = std::iter::repeat_with(|| step(&mut controller, &mut world).1 == Judgement::Hit);
    assert!(hits.any(|is_hit| is_hit));
    assert!(hits.take(1000).filter(|&is_hit| is_hit).count() > 300);
}

#[test]
fn sections_that_overlap_only_with_a_delay_soon_do() {
    // Before, in and after the critical section, as the 24 synthetic races have it.
    for [a, b] in
        crate::synthetic::PAIRS.map(|pair| pair.map(|it| it.map(|length| length.pow(3) as i64 * 260)))
    {
        let window = (a[0] - b[0] - b[1] - 30, a[0] + a[1] - b[0] + 30);
        let [a, b] = [a, b].map(|lengths| lengths.iter().sum());
        let mut world = World { a, b, window, is_judged: true, ..WORLD };
        let mut controller = controller(Strategy::Mixture, 1);
        let hits = (0..1000).filter(|_| step(&mut controller, &mut world).1 == Judgement::Hit).count();
        assert!(hits > 400, "{window:?}: {hits} of 1000");
    }
}

#[test]
fn disturbed_rounds_are_discarded() {
    let (mut controller, mut world) = (controller(Strategy::Mixture, 2), World { is_judged: true, ..WORLD });
    while controller.lengths().is_none() {
        step(&mut controller, &mut world);
    }
    let (lengths, flip) = (controller.lengths(), controller.flip);
    for number in 0..1000 {
        let delay = controller.delay();
        let (round, judgement) = world.round(delay);
        if number % 3 == 0 {
            let late = Round { late: 500_000, ..round };
            assert_eq!(controller.observe(&late, Judgement::Late, false), Learnt::Disturbed);
        } else {
            // Useless, so that only the disturbed ones could move the flip.
            assert_ne!(judgement, Judgement::Useless);
            assert_eq!(controller.observe(&round, Judgement::Useless, false), Learnt::Tried);
        }
    }
    assert_eq!((controller.lengths(), controller.flip), (lengths, flip));
}

#[test]
fn on_one_cpu_none_is_disturbed() {
    let mut controller = Controller::new(Strategy::Mixture, 2, Clock::MONOTONIC, true);
    let mut world = WORLD;
    for _ in 0..1000 {
        let delay = controller.delay();
        let (round, judgement) = world.round(delay);
        let late = Round { late: 500_000, is_missed: true, is_preempted: true, ..round };
        assert_ne!(controller.observe(&late, judgement, false), Learnt::Disturbed);
    }
}

#[test]
fn sections_that_have_changed_are_sampled_anew() {
    let (mut controller, mut world) = (controller(Strategy::Mixture, 2), WORLD);
    (0..500).for_each(|_| _ = step(&mut controller, &mut world));
    let (_, most) = controller.range().expect("it is known");
    assert!(most < 60_000);
    world.a *= 10;
    (0..500).for_each(|_| _ = step(&mut controller, &mut world));
    let (_, most) = controller.range().expect("it is known again");
    assert!((490_000..600_000).contains(&most), "{most}");
}

#[test]
fn late_rounds_are_never_samples() {
    let (mut controller, mut world) = (controller(Strategy::Mixture, 2), WORLD);
    for number in 0..1000 {
        let delay = controller.delay();
        let (round, judgement) = world.round(delay);
        let late = Round { late: if number % 10 < 9 { 500_000 } else { 0 }, ..round };
        controller.observe(&late, judgement, number > 500);
    }
    let lengths = controller.lengths().expect("a tenth of the rounds was enough");
    assert_eq!((lengths.a.median, lengths.b.median), (WORLD.a, WORLD.b));
}

#[test]
fn where_all_rounds_are_late_they_have_to_do() {
    let (mut controller, mut world) = (controller(Strategy::Mixture, 2), WORLD);
    for _ in 0..1000 {
        let delay = controller.delay();
        let (round, judgement) = world.round(delay);
        controller.observe(&Round { late: 500_000, ..round }, judgement, false);
    }
    assert!(controller.range().is_some());
}

#[test]
fn sampling_ends_when_time_is_short() {
    let (mut controller, mut world) = (controller(Strategy::Mixture, 2), WORLD);
    for _ in 0..4 {
        step(&mut controller, &mut world);
    }
    let (round, judgement) = world.round(0);
    assert_eq!(controller.observe(&round, Judgement::Useless, true), Learnt::Sampled);
    assert_eq!(controller.observe(&round, judgement, true), Learnt::Known { settled: false });
}
