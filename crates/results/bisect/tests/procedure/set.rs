//! Changes that can be taken one by one.

use bisect::{Conclusion, Point};

use crate::fake::{FakeAxis, NEVER, Seen, World, culprits, shows};

/// It shows where all of these are.
fn together(count: usize, needed: &'static [usize]) -> World {
    World::new(FakeAxis::options(count), move |axis, point| {
        shows(needed.iter().all(|number| axis.has(point, *number)))
    })
}

/// Found, minimal and proved to be.
fn is_proved(mut world: World, expected: &[usize]) {
    let bisection = world.bisect().unwrap();
    assert_eq!(culprits(&bisection), expected);
    assert!(bisection.proof.iter().all(|check| check.holds), "{:?}", bisection.proof);
    let Conclusion::Culprits { confidence, .. } = bisection.conclusion else { panic!("{bisection:#?}") };
    assert!(confidence >= world.settings.confidence || expected.len() > 4, "{confidence}");
    let seen = |point: &Point| {
        let check = bisection.proof.iter().find(|check| check.state.as_ref().unwrap().point == *point);
        check.unwrap_or_else(|| panic!("{point:?} is not in the proof")).state.clone().unwrap()
    };
    let count = bisection.candidates.len();
    let point = |numbers: Vec<usize>| match numbers.len() {
        0 => Point::First,
        all if all == count => Point::Last,
        _ => Point::With(numbers),
    };
    assert!((seen(&point(expected.to_vec())).bad > 0) != bisection.fixed);
    for one in expected {
        let rest = point((0..count).filter(|number| number != one).collect());
        assert!((seen(&rest).bad > 0) == bisection.fixed);
        if expected.len() > 1 {
            let others = point(expected.iter().copied().filter(|other| other != one).collect());
            assert!((seen(&others).bad > 0) == bisection.fixed);
        }
    }
}

#[test]
fn one_of_forty() {
    for culprit in [0, 1, 17, 38, 39] {
        let world = World::with_culprit(FakeAxis::options(40), culprit);
        is_proved(world, &[culprit]);
    }
    is_proved(World::with_culprit(FakeAxis::options(1), 0), &[0]);
}

#[test]
fn any_two_that_only_together_make_it() {
    for last in 1..7 {
        for first in 0..last {
            let needed = Vec::leak(vec![first, last]);
            is_proved(together(7, needed), needed);
        }
    }
    is_proved(together(2, &[0, 1]), &[0, 1]);
    is_proved(together(40, &[0, 39]), &[0, 39]);
}

#[test]
fn three_and_more() {
    is_proved(together(40, &[3, 20, 31]), &[3, 20, 31]);
    is_proved(together(40, &[0, 1, 39]), &[0, 1, 39]);
    is_proved(together(40, &[0, 9, 10, 20, 39]), &[0, 9, 10, 20, 39]);
    is_proved(together(3, &[0, 1, 2]), &[0, 1, 2]);
}

#[test]
fn what_fixed_it() {
    for needed in [&[4_usize][..], &[0], &[19], &[2, 9], &[0, 19], &[1, 5, 19]] {
        let world = World::new(FakeAxis::options(20), move |axis, point| {
            shows(!needed.iter().all(|number| axis.has(point, *number)))
        });
        is_proved(world.fixed(), needed);
    }
}

#[test]
fn two_that_together_make_it_now_and_then() {
    let mut wrong = 0;
    for seed in 0..12 {
        let truth = |axis: &FakeAxis, point: &Point| match axis.has(point, 3) && axis.has(point, 11) {
            true => Seen::Rate(0.5),
            false => NEVER,
        };
        let bisection = World::new(FakeAxis::options(16), truth).seed(seed).bisect().unwrap();
        wrong += u32::from(culprits(&bisection) != [3, 11]);
    }
    assert!(wrong <= 1, "{wrong}");
}

#[test]
fn steps_are_the_states_between_the_ends() {
    let mut world = together(40, &[3, 20]);
    let bisection = world.bisect().unwrap();
    let mut searched = world.asked();
    searched.retain(|point| matches!(point, Point::With(_)));
    searched.sort();
    searched.dedup();
    // That it does not show alone, and the proof, take up to five more.
    let taken = usize::try_from(bisection.steps.taken).unwrap();
    assert!(taken <= searched.len() && taken + 5 >= searched.len(), "{taken} of {searched:?}");
}

#[test]
fn what_cannot_be_tested_alone_is_said_and_nothing_is_added_to_it() {
    for fixed in [false, true] {
        let mut world = World::new(FakeAxis::options(20), move |axis, point| match point {
            Point::With(numbers) if *numbers == [12] => Seen::Broken,
            _ => shows(axis.has(point, 12) != fixed),
        });
        world.settings.fixed = fixed;
        let bisection = world.bisect().unwrap();
        assert_eq!(culprits(&bisection), [12]);
        assert_eq!(bisection.proof[0].untried.as_deref(), Some("it does not build"));
        assert!(bisection.proof[1].holds);
    }
}

#[test]
fn states_that_the_axis_does_not_have_are_passed_over() {
    let axis = FakeAxis::options(20).without(Point::With(vec![12])).without(Point::With((0..12).collect()));
    let mut world = World::with_culprit(axis, 12);
    let bisection = world.bisect().unwrap();
    let numbers = crate::fake::suspects(&bisection);
    assert_eq!(numbers, [11, 12]);
}
