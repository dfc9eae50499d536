//! Commits with merges.

use bisect::{Conclusion, Point};

use crate::fake::{ALWAYS, FakeAxis, NEVER, Seen, World, culprits};

/// A main line 0 1 2 5 7 8 9 with the side branch 3 4, which 5 merges, and 6, which forked off before all and which 8
/// merges.
fn merges() -> FakeAxis {
    FakeAxis::graph(&[&[], &[0], &[1], &[0], &[3], &[2, 4], &[], &[5], &[6, 7], &[8]])
}

/// The points just before the culprit, as the proof has them.
fn before(world: &mut World) -> Vec<Point> {
    let proof = world.bisect().unwrap().proof;
    let before = proof.into_iter().filter(|check| check.what.starts_with("just before"));
    before.map(|check| check.state.unwrap().point).collect()
}

#[test]
fn each_commit_of_a_graph_is_found() {
    for culprit in 0..10 {
        let mut world = World::with_culprit(merges(), culprit);
        assert_eq!(world.culprits(), [culprit]);
        let bisection = world.bisect().unwrap();
        assert!(bisection.steps.taken <= 6, "{culprit}: {:?}", bisection.steps);
        assert!(bisection.proof.iter().all(|check| check.holds), "{:?}", bisection.proof);
    }
}

#[test]
fn each_commit_that_fixed_it_is_found() {
    for culprit in 0..10 {
        let truth = move |axis: &FakeAxis, point: &Point| crate::fake::shows(!axis.has(point, culprit));
        assert_eq!(World::new(merges(), truth).fixed().culprits(), [culprit]);
    }
}

#[test]
fn all_that_a_merge_stands_on_is_in_the_proof() {
    assert_eq!(before(&mut World::with_culprit(merges(), 5)), [Point::After(2), Point::After(4)]);
    assert_eq!(before(&mut World::with_culprit(merges(), 4)), [Point::After(3)]);
    assert_eq!(before(&mut World::with_culprit(merges(), 6)), [Point::First]);
}

#[test]
fn the_last_commit_is_not_tested_twice_under_two_names() {
    let mut world = World::with_culprit(merges(), 9);
    assert_eq!(world.culprits(), [9]);
    assert!(!world.asked().contains(&Point::After(9)), "{:?}", world.asked());
}

#[test]
fn an_intermittent_failure_is_found_in_a_graph() {
    let mut wrong = 0;
    for seed in 0..20 {
        let culprit = usize::try_from(seed % 10).unwrap();
        let bisection = World::with_rate(merges(), culprit, 0.4).seed(seed).bisect().unwrap();
        wrong += u32::from(culprits(&bisection) != [culprit]);
    }
    assert!(wrong <= 2, "{wrong}");
}

#[test]
fn a_point_that_the_axis_does_not_have_is_passed_over() {
    for absent in 0..9 {
        for culprit in 0..10 {
            for jobs in [1, 2] {
                let mut world =
                    World::with_culprit(merges().without(Point::After(absent)), culprit).jobs(jobs);
                match world.bisect().unwrap().conclusion {
                    Conclusion::Culprits { numbers, .. } => assert_eq!(numbers, [culprit]),
                    Conclusion::Suspects { numbers, .. } => {
                        assert!(numbers.contains(&culprit) && numbers.contains(&absent), "{numbers:?}");
                    }
                    other => panic!("{absent} {culprit}: {other:?}"),
                }
                assert!(!world.asked().contains(&Point::After(absent)));
            }
        }
    }
}

#[test]
fn what_shows_only_at_an_end_that_is_no_state_of_any_commit_is_not_searched_for_ever() {
    let mut world = World::new(FakeAxis::graph(&[&[], &[], &[], &[]]), |_, point| match point {
        Point::First => NEVER,
        Point::Last => ALWAYS,
        _ => Seen::Thousands,
    });
    match world.bisect().unwrap().conclusion {
        Conclusion::Contradiction { why } => assert!(why.contains("do not determine"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert!(world.calls.len() < 20, "{}", world.calls.len());
}
