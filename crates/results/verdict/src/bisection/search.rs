//! A search under way.

use std::cell::OnceCell;

use super::belief::Belief;
use super::choice::{self, Branch, Choice};
use super::evidence::Evidence;
use super::order::{Axis, Order, State, Unusable};
use super::posterior::Posterior;
use super::settings::Settings;
use super::testable::Testable;
use super::trial::{Boot, Trial};
use crate::nested::BootRuns;

/// The part of the error allowed at which the search stops.
///
/// A probability is right on average over all rates at which the failure may show. At one rate, up to 1.8 times as many
/// culprits were seen to be wrong.
const MARGIN: f64 = 0.5;

/// Candidates that are less probable than the best by this need no further test.
const LIKELY: f64 = 1e-3;

/// What is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// None is sure enough.
    Open,
    /// It is this one.
    Found {
        /// The culprit.
        candidate: usize,
        /// Its probability.
        confidence: f64,
    },
    /// It is one of these, and no test can tell which: what lies between them cannot be tested.
    Suspects {
        /// In their order.
        candidates: Vec<usize>,
        /// The probability that it is one of them.
        confidence: f64,
    },
    /// No candidate explains what was seen: a state that cannot have the failure showed it.
    Contradiction,
}

/// A search for the one candidate that is the culprit.
#[derive(Debug, Clone)]
pub struct Search {
    axis: Axis,
    settings: Settings,
    evidence: Evidence,
    testable: Testable,
    /// What it comes to under each belief, once somebody asked.
    posteriors: [OnceCell<Option<Posterior>>; 2],
}

impl Search {
    /// A search of which nothing is known: each candidate is as probable as any other.
    ///
    /// # Errors
    ///
    /// When there are no candidates, more than 1,048,576 on a line or 32,768 in a graph, parents that do not come before
    /// their children, or fractions that are none.
    pub fn new(order: Order, settings: Settings) -> Result<Self, Unusable> {
        let Settings { confidence, alarms, fixed } = settings;
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(Unusable::Confidence(confidence));
        }
        let axis = Axis::new(order)?;
        let count = axis.count();
        let evidence = Evidence::new(count, alarms, fixed);
        let (testable, posteriors) = (Testable::new(count), Default::default());
        Ok(Self { axis, settings, evidence, testable, posteriors })
    }

    /// Runs of a state in a new boot, or more of them in its last one. A candidate that is not there is passed over.
    pub fn observe(&mut self, trial: Trial, runs: BootRuns) {
        if runs.total() == 0 || !self.has(trial.state) {
            return;
        }
        self.evidence.observe(&self.axis, trial, runs);
        self.posteriors = Default::default();
        if let State::After(at) = trial.state {
            self.testable.set(at, true);
        }
    }

    /// All that is known of a state of which nothing was known.
    pub fn observe_all(&mut self, state: State, boots: &[BootRuns]) {
        boots.iter().for_each(|runs| self.observe(Trial { state, boot: Boot::New }, *runs));
    }

    /// The state after `candidate` does not build or boot. That says nothing about the culprit.
    pub fn cannot_test(&mut self, candidate: usize) {
        if self.has(State::After(candidate)) {
            self.testable.set(candidate, false);
        }
    }

    /// Up to `jobs` runs to be made side by side, at most 4, which together tell most of the culprit for what they cost;
    /// none if no run tells anything. They are meant in this order: the last boot of a state may be one that an earlier of
    /// them begins.
    ///
    /// `cost` is that of a run, in seconds or whatever else is to be saved: in the last boot of a state it is little, in a
    /// new boot more, and most in a state that must be built first. What costs no positive number is not chosen.
    #[must_use]
    pub fn next(&self, jobs: usize, belief: Belief, cost: &dyn Fn(Trial) -> f64) -> Vec<Trial> {
        let Self { axis, settings, evidence, testable, .. } = self;
        let Some(posterior) = self.posterior(belief) else { return Vec::new() };
        let trials = choice::trials(axis, testable, evidence, cost);
        let start = Branch::new(evidence, posterior);
        Choice { axis, start, fixed: settings.fixed, belief, trials }.make(jobs)
    }

    /// What is known under `belief`.
    #[must_use]
    pub fn standing(&self, belief: Belief) -> Standing {
        let Some(Sets { first, probability }) = self.sets(belief) else { return Standing::Contradiction };
        let best = most_probable(&probability);
        let confidence = probability[best];
        let candidates: Vec<usize> = (0..first.len()).filter(|&candidate| first[candidate] == best).collect();
        match candidates[..] {
            _ if 1.0 - confidence > (1.0 - self.settings.confidence) * MARGIN => Standing::Open,
            [candidate] => Standing::Found { candidate, confidence },
            _ => Standing::Suspects { candidates, confidence },
        }
    }

    /// The probability of each candidate; they sum to 1, or are all 0 under a contradiction.
    #[must_use]
    pub fn probabilities(&self, belief: Belief) -> Vec<f64> {
        let posterior = self.posterior(belief);
        posterior.map_or_else(|| vec![0.0; self.axis.count()], Posterior::probabilities)
    }

    /// The tests of new states that halving needs from here, if each tells all: the most, on a line; more where the
    /// merges of a graph allow no halves.
    #[must_use]
    pub fn worst_steps(&self, belief: Belief) -> u32 {
        let probability = self.sets(belief).map_or_else(Vec::new, |sets| sets.probability);
        let most = probability.iter().copied().fold(0.0, f64::max);
        let open = probability.iter().filter(|&&probability| probability > most * LIKELY).count();
        open.max(1).next_power_of_two().ilog2()
    }

    /// The same on average: the entropy of what is known, in bits, which no search can beat.
    #[must_use]
    pub fn expected_steps(&self, belief: Belief) -> f64 {
        let probability = self.sets(belief).map_or_else(Vec::new, |sets| sets.probability);
        let likely = probability.into_iter().filter(|&probability| probability > 0.0);
        likely.map(|probability| -probability * probability.log2()).sum()
    }

    /// The boots of all states that have the failure, if the most probable candidate is the culprit.
    #[must_use]
    pub fn bad_boots(&self, belief: Belief) -> Vec<BootRuns> {
        let best = most_probable(&self.probabilities(belief));
        self.evidence.group().get(best).map_or_else(Vec::new, |&group| self.evidence.bad_boots(group))
    }

    fn has(&self, state: State) -> bool {
        !matches!(state, State::After(at) if at >= self.axis.count())
    }

    fn posterior(&self, belief: Belief) -> Option<&Posterior> {
        let place = &self.posteriors[usize::from(belief == Belief::Sceptical)];
        place.get_or_init(|| Posterior::new(&self.evidence, belief)).as_ref()
    }

    /// Who cannot be told apart, and how probable they are together; nothing under a contradiction.
    fn sets(&self, belief: Belief) -> Option<Sets> {
        let posterior = self.posterior(belief)?;
        let mut first: Vec<usize> = (0..self.axis.count()).collect();
        for (candidate, like) in self.testable.alike(&self.axis) {
            first[candidate] = like;
        }
        let mut probability = vec![0.0; first.len()];
        for (candidate, &first) in first.iter().enumerate() {
            probability[first] += posterior.share(candidate).mass;
        }
        Some(Sets { first, probability })
    }
}

/// Sets of candidates that cannot be told apart.
struct Sets {
    /// For each candidate, the first of its set.
    first: Vec<usize>,
    /// For each first, the probability of its set; 0 for the others.
    probability: Vec<f64>,
}

/// The place of the highest probability; 0 if there is none.
fn most_probable(probabilities: &[f64]) -> usize {
    (0..probabilities.len()).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use Belief::{Sceptical, Working};
    use proptest::prelude::*;

    use super::*;
    use crate::nested::Alarms;

    fn search(order: Order) -> Search {
        Search::new(order, Settings::default()).unwrap()
    }

    fn line(count: usize) -> Search {
        search(Order::Line(count))
    }

    fn graph(parents: &[&[usize]]) -> Search {
        search(Order::Graph(parents.iter().map(|parents| parents.to_vec()).collect()))
    }

    /// So many new boots of one run each.
    fn saw(search: &mut Search, state: State, failures: u32, passes: u32) {
        let runs = |fails, count| (0..count).map(move |_| BootRuns::one(fails));
        let boots: Vec<BootRuns> = runs(true, failures).chain(runs(false, passes)).collect();
        search.observe_all(state, &boots);
    }

    fn new(state: State) -> Trial {
        Trial { state, boot: Boot::New }
    }

    fn found(standing: &Standing) -> Option<usize> {
        match standing {
            Standing::Found { candidate, .. } => Some(*candidate),
            _ => None,
        }
    }

    fn chain(count: usize) -> Order {
        Order::Graph((0..count).map(|at: usize| at.checked_sub(1).into_iter().collect()).collect())
    }

    #[test]
    fn a_failure_that_always_shows_takes_as_many_steps_as_halving() {
        for count in 1..70 {
            for order in [Order::Line(count), chain(count)] {
                for culprit in 0..count {
                    let mut search = search(order.clone());
                    saw(&mut search, State::All, 5, 0);
                    let (most, mut steps) = (search.worst_steps(Working), 0);
                    assert_eq!(most, (count as f64).log2().ceil() as u32);
                    while let Standing::Open = search.standing(Working) {
                        let [Trial { state: State::After(at), boot: Boot::New }] =
                            search.next(1, Working, &|_| 1.0)[..]
                        else {
                            panic!("{search:?}")
                        };
                        search.observe(new(State::After(at)), BootRuns::one(at >= culprit));
                        steps += 1;
                    }
                    assert_eq!(found(&search.standing(Working)), Some(culprit));
                    assert!(steps <= most, "{count} {culprit}: {steps}");
                    assert_eq!(search.worst_steps(Working), 0);
                    assert!(search.expected_steps(Working) < 0.01);
                }
            }
        }
    }

    #[test]
    fn two_side_by_side_split_three_ways() {
        let choose = |count, jobs| {
            let mut search = line(count);
            saw(&mut search, State::All, 5, 0);
            let mut tests: Vec<State> =
                search.next(jobs, Working, &|_| 1.0).into_iter().map(|trial| trial.state).collect();
            tests.sort();
            tests
        };
        assert_eq!(choose(9, 2), [State::After(2), State::After(5)]);
        let [State::After(low), State::After(high)] = choose(300, 2)[..] else { panic!("no two tests") };
        assert!(low.abs_diff(99) < 3 && high.abs_diff(199) < 3, "{low} {high}");
        assert!([0, 1, 2].iter().all(|&at| choose(4, 4).contains(&State::After(at))));
        assert_eq!(choose(1000, 9).len(), 4);
    }

    #[test]
    fn a_repeat_is_made_where_it_tells_more_for_its_cost() {
        let mut search = line(64);
        saw(&mut search, State::All, 3, 7);
        saw(&mut search, State::After(31), 0, 1);
        let repeat = |trial: Trial| if trial.state == State::After(31) { 1.0 } else { 20.0 };
        assert_eq!(search.next(1, Sceptical, &repeat), [new(State::After(31))]);
        let [other] = search.next(1, Sceptical, &|_| 1.0)[..] else { panic!("no test") };
        assert!(other.state != State::After(31));
        let cheap = |trial| if trial == other { 0.1 } else { 20.0 };
        assert_eq!(search.next(1, Sceptical, &cheap), [other]);
    }

    #[test]
    fn what_costs_no_positive_number_is_not_chosen() {
        for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(line(8).next(2, Working, &|_| cost), []);
        }
    }

    #[test]
    fn what_showed_once_is_proved_by_repeats_before_the_culprit() {
        let mut search = line(2);
        saw(&mut search, State::All, 2, 0);
        saw(&mut search, State::After(0), 0, 1);
        assert_eq!(found(&search.standing(Working)), Some(1));
        assert_eq!(search.standing(Sceptical), Standing::Open);
        assert_eq!(search.next(1, Sceptical, &|_| 1.0), [new(State::After(0))]);
        saw(&mut search, State::After(0), 0, 30);
        assert_eq!(found(&search.standing(Sceptical)), Some(1));
        assert_eq!(search.bad_boots(Sceptical), [BootRuns::one(true); 2]);
        saw(&mut search, State::After(0), 1, 0);
        // One of 32 is a false alarm of what shows always, eleven of 42 are none.
        assert_eq!(found(&search.standing(Sceptical)), Some(1));
        saw(&mut search, State::After(0), 10, 0);
        assert_eq!(found(&search.standing(Sceptical)), Some(0));
        assert_eq!(search.bad_boots(Sceptical).len(), 44);
    }

    #[test]
    fn what_cannot_be_tested_is_jumped_away_from_and_not_guessed() {
        let mut search = line(100);
        saw(&mut search, State::All, 5, 0);
        assert_eq!(search.next(1, Working, &|_| 1.0), [new(State::After(49))]);
        search.cannot_test(49);
        let [Trial { state: State::After(next), .. }] = search.next(1, Working, &|_| 1.0)[..] else {
            panic!("no test")
        };
        assert!((3..20).contains(&next.abs_diff(49)), "{next}");
        saw(&mut search, State::After(48), 0, 1);
        saw(&mut search, State::After(51), 3, 0);
        search.cannot_test(50);
        for belief in [Working, Sceptical] {
            saw(&mut search, State::After(48), 0, 30);
            let Standing::Suspects { candidates, confidence } = search.standing(belief) else {
                panic!("{search:?}")
            };
            assert_eq!(candidates, [49, 50, 51]);
            assert!(confidence >= 0.99);
        }
        // It was only the machine.
        saw(&mut search, State::After(50), 0, 30);
        assert_eq!(found(&search.standing(Sceptical)), Some(51));
    }

    #[test]
    fn of_two_branches_the_one_that_has_it_is_found() {
        // 0 - 1 - 2 and 0 - 3 - 4, merged by 5.
        let mut search = graph(&[&[], &[0], &[1], &[0], &[3], &[2, 4]]);
        saw(&mut search, State::All, 5, 0);
        saw(&mut search, State::After(2), 0, 30);
        saw(&mut search, State::After(3), 0, 30);
        saw(&mut search, State::After(4), 1, 0);
        assert_eq!(found(&search.standing(Sceptical)), Some(4));
        search.cannot_test(3);
        let Standing::Suspects { candidates, .. } = search.standing(Sceptical) else { panic!("{search:?}") };
        assert_eq!(candidates, [3, 4]);
    }

    #[test]
    fn what_no_candidate_explains_is_a_contradiction() {
        let certain = Settings { alarms: Alarms::None, ..Settings::default() };
        let with = |order, settings| Search::new(order, settings).unwrap();
        let mut cases = [
            (with(Order::Line(9), certain), vec![State::Before]),
            (with(Order::Line(9), Settings { fixed: true, ..certain }), vec![State::All]),
            // Only together do they fail.
            (
                with(Order::Graph(vec![vec![], vec![], vec![0, 1]]), certain),
                vec![State::After(0), State::After(1)],
            ),
        ];
        for (search, states) in &mut cases {
            states.iter().for_each(|&state| saw(search, state, 1, 0));
            for belief in [Working, Sceptical] {
                assert_eq!(search.standing(belief), Standing::Contradiction);
                assert_eq!(search.next(2, belief, &|_| 1.0), []);
                assert!(search.probabilities(belief).iter().all(|&probability| probability == 0.0));
            }
        }
        let alarms = Settings { alarms: Alarms::Rare, ..Settings::default() };
        let mut search = Search::new(Order::Line(9), alarms).unwrap();
        saw(&mut search, State::Before, 1, 0);
        assert_eq!(search.standing(Working), Standing::Open);
    }

    #[test]
    fn what_cannot_be_searched_is_refused() {
        let of = |order, settings| Search::new(order, settings).map(|_| ()).unwrap_err().to_string();
        let new = |order| of(order, Settings::default());
        assert_eq!(new(Order::Line(0)), "nothing lies between the two ends of the bisection");
        assert_eq!(new(Order::Graph(vec![])), new(Order::Line(0)));
        assert!(new(Order::Line(usize::MAX)).contains("at most 1048576"));
        assert!(new(Order::Graph(vec![vec![]; 32_769])).contains("at most 32768"));
        assert_eq!(
            new(Order::Graph(vec![vec![], vec![1]])),
            "candidate 1 stands on 1, which does not come before it"
        );
        for confidence in [0.0, 1.0, f64::NAN] {
            assert!(
                of(Order::Line(1), Settings { confidence, ..Settings::default() }).contains("confidence")
            );
        }
    }

    #[derive(Debug, Clone)]
    enum Event {
        Observe(Trial, BootRuns),
        Broken(usize),
    }

    fn state(count: usize) -> impl Strategy<Value = State> {
        prop_oneof![Just(State::Before), Just(State::All), (0..count).prop_map(State::After)]
    }

    fn events(count: usize) -> impl Strategy<Value = Vec<Event>> {
        let runs = || prop_oneof![4 => 0..3_u32, 1 => 0..5000_u32];
        let boot = || prop_oneof![Just(Boot::New), Just(Boot::Last)];
        let event = prop_oneof![
            3 => (state(count), boot(), runs(), runs()).prop_map(|(state, boot, failures, passes)| {
                Event::Observe(Trial { state, boot }, BootRuns { failures, passes })
            }),
            1 => (0..count).prop_map(Event::Broken)
        ];
        prop::collection::vec(event, 0..12)
    }

    fn parents(count: usize) -> impl Strategy<Value = Order> {
        let parents = (0..count).map(|at| prop::collection::vec(0..at.max(1), 0..3.min(at + 1)));
        let below =
            |(at, parents): (usize, Vec<usize>)| parents.into_iter().filter(|&parent| parent < at).collect();
        parents
            .collect::<Vec<_>>()
            .prop_map(move |all| Order::Graph(all.into_iter().enumerate().map(below).collect()))
    }

    fn play(mut search: Search, events: &[Event]) -> Search {
        for event in events {
            match *event {
                Event::Observe(trial, runs) => search.observe(trial, runs),
                Event::Broken(at) => search.cannot_test(at),
            }
        }
        search
    }

    fn settings() -> impl Strategy<Value = Settings> {
        let alarms = prop_oneof![Just(Alarms::None), Just(Alarms::Rare), Just(Alarms::Noise)];
        (any::<bool>(), alarms).prop_map(|(fixed, alarms)| Settings { fixed, alarms, ..Settings::default() })
    }

    const COUNT: usize = 20;

    proptest! {
        #[test]
        fn whatever_is_seen_the_probabilities_are_some(
            order in prop_oneof![Just(Order::Line(COUNT)), parents(COUNT)], events in events(COUNT + 2), settings in settings()
        ) {
            let search = play(Search::new(order, settings).unwrap(), &events);
            for belief in [Working, Sceptical] {
                let probabilities = search.probabilities(belief);
                let sum: f64 = probabilities.iter().sum();
                prop_assert!(probabilities.iter().all(|probability| (0.0..=1.0).contains(probability)));
                match search.standing(belief) {
                    Standing::Contradiction => prop_assert!(sum == 0.0),
                    Standing::Open => prop_assert!((sum - 1.0).abs() < 1e-9),
                    Standing::Found { confidence, .. } | Standing::Suspects { confidence, .. } => {
                        prop_assert!((sum - 1.0).abs() < 1e-9 && (0.99..1.0 + 1e-9).contains(&confidence));
                    }
                }
                prop_assert!(search.expected_steps(belief) >= 0.0 && search.worst_steps(belief) <= 5);
                for Trial { state, .. } in search.next(2, belief, &|_| 1.0) {
                    prop_assert!(!search.testable.is_broken(state) && search.has(state));
                }
            }
        }

        #[test]
        fn a_graph_that_is_a_chain_is_a_line(events in events(COUNT), settings in settings()) {
            let line = play(Search::new(Order::Line(COUNT), settings).unwrap(), &events);
            let graph = play(Search::new(chain(COUNT), settings).unwrap(), &events);
            for belief in [Working, Sceptical] {
                prop_assert_eq!(line.probabilities(belief), graph.probabilities(belief));
                prop_assert_eq!(line.standing(belief), graph.standing(belief));
                // Once it is found, rounding decides whether there is still something to learn.
                if line.standing(belief) == Standing::Open {
                    prop_assert_eq!(line.next(1, belief, &|_| 1.0), graph.next(1, belief, &|_| 1.0));
                }
            }
        }

        #[test]
        fn what_fixed_it_is_what_broke_it_read_backwards(events in events(COUNT - 1)) {
            let mirror = |state| match state {
                State::Before => State::All,
                State::All => State::Before,
                State::After(at) => (COUNT - 1).checked_sub(at + 1).map_or(State::Before, State::After),
            };
            let runs = |event: &Event| match *event {
                Event::Observe(..) => Some(event.clone()),
                Event::Broken(_) => None,
            };
            let mirrored = |event: &Event| match *event {
                Event::Observe(Trial { state, boot }, runs) => {
                    Some(Event::Observe(Trial { state: mirror(state), boot }, runs))
                }
                Event::Broken(_) => None,
            };
            let settings = Settings { fixed: true, ..Settings::default() };
            let fixed = Search::new(Order::Line(COUNT), settings).unwrap();
            let fixed = play(fixed, &events.iter().filter_map(runs).collect::<Vec<_>>());
            let broke = play(line(COUNT), &events.iter().filter_map(mirrored).collect::<Vec<_>>());
            let mut backwards = broke.probabilities(Sceptical);
            backwards.reverse();
            for (a, b) in fixed.probabilities(Sceptical).into_iter().zip(backwards) {
                prop_assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        }
    }
}
