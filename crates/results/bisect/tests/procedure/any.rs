//! Whatever a tester answers, a bisection ends.

use bisect::{Point, Progress, Question};
use proptest::prelude::*;

use crate::fake::{CALLS_MAX, FakeAxis, Seen, World};

fn seen() -> impl Strategy<Value = Seen> {
    prop_oneof![
        4 => Just(Seen::Rate(0.0)),
        4 => Just(Seen::Rate(1.0)),
        2 => (0.05..1.0).prop_map(Seen::Rate),
        2 => (-10.0..10.0).prop_map(Seen::Value),
        1 => (0.0..10.0).prop_map(|by| Seen::About(5.0, by)),
        1 => Just(Seen::Broken),
        1 => Just(Seen::Other),
        1 => Just(Seen::Nothing),
    ]
}

fn axis() -> impl Strategy<Value = FakeAxis> {
    let parents = |count: usize| -> Vec<BoxedStrategy<Vec<usize>>> {
        let of = |at: usize| prop::collection::btree_set(0..at.max(1), 0..3.min(at + 1));
        let list = |set: std::collections::BTreeSet<usize>| set.into_iter().collect();
        (0..count)
            .map(|at| if at == 0 { Just(vec![]).boxed() } else { of(at).prop_map(list).boxed() })
            .collect()
    };
    prop_oneof![
        (1_usize..20).prop_map(FakeAxis::line),
        (1_usize..12).prop_map(FakeAxis::options),
        (1_usize..12).prop_flat_map(parents).prop_map(|mut parents| {
            // The last commit stands on all, as that of git does.
            let last = parents.len() - 1;
            parents[last] =
                (0..last).filter(|at| !parents[..last].iter().flatten().any(|parent| parent == at)).collect();
            let parents: Vec<&[usize]> = parents.iter().map(Vec::as_slice).collect();
            FakeAxis::graph(&parents)
        }),
    ]
}

fn question() -> impl Strategy<Value = Question> {
    let metric = |timed| Question::Metric { name: "pipe".to_string(), worse_by: None, timed };
    prop_oneof![
        4 => Just(Question::Boot),
        1 => Just(Question::Build),
        1 => Just(metric(false)),
        1 => Just(metric(true)),
    ]
}

/// What is seen at points, in turn; a point has its own begin.
fn ends(mut world: World, any: Vec<Seen>, first: Seen, last: Seen) -> Result<(), TestCaseError> {
    let turn = std::cell::Cell::new(0_usize);
    world = World::new(world.axis.clone(), move |_, point| {
        turn.set(turn.get() + 1);
        match point {
            Point::First if turn.get() < 60 => first,
            Point::Last if turn.get() < 60 => last,
            _ => any[turn.get() % any.len()],
        }
    })
    .seed(7)
    .jobs(world.jobs)
    .asks(world.question.clone());
    let result = world.bisect();
    prop_assert!(world.calls.len() < CALLS_MAX, "it goes on for ever: {:?}", &world.calls[CALLS_MAX - 9..]);
    let count = world.axis.candidates.len();
    for progress in &world.events {
        let Progress::Belief(belief) = progress else { continue };
        let sum: f64 = belief.probabilities.iter().sum();
        prop_assert!(
            belief.probabilities.len() == count && (sum == 0.0 || (sum - 1.0).abs() < 1e-9),
            "{sum}"
        );
    }
    if let Ok(bisection) = result {
        prop_assert_eq!(bisection.probabilities.len(), count);
    }
    Ok(())
}

fn world(axis: FakeAxis, question: Question, jobs: usize) -> World {
    World::new(axis, |_, _| Seen::Nothing).asks(question).jobs(jobs)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_answered(
        axis in axis(),
        question in question(),
        jobs in 1_usize..4,
        any in prop::collection::vec(seen(), 1..30),
    ) {
        let metric = question.is_measured();
        let (good, bad) = if metric { (Seen::Value(1.0), Seen::Value(9.0)) } else { (Seen::Rate(0.0), Seen::Rate(0.7)) };
        ends(world(axis, question, jobs), any, good, bad)?;
    }

    #[test]
    fn whatever_is_answered_even_at_the_ends(
        axis in axis(),
        question in question(),
        any in prop::collection::vec(seen(), 1..30),
    ) {
        let first = any[0];
        let last = any[any.len() - 1];
        ends(world(axis, question, 1), any, first, last)?;
    }
}
