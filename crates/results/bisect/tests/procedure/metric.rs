//! Metrics, which are bad or good only by comparison.

use bisect::{Error, Point, Question};

use crate::fake::{FakeAxis, Seen, World, culprits};

fn counted(worse_by: Option<f64>) -> Question {
    Question::Metric { name: "pipe".to_string(), worse_by, timed: false }
}

fn timed() -> Question {
    Question::Metric { name: "pipe".to_string(), worse_by: None, timed: true }
}

/// The value begins with the first and goes up, or down, to the second of each pair where that candidate is.
fn steps(from: f64, steps: &'static [(usize, f64)]) -> World {
    World::new(FakeAxis::line(50), move |axis, point| {
        let reached = steps.iter().rev().find(|(number, _)| axis.has(point, *number));
        Seen::Value(reached.map_or(from, |(_, value)| *value))
    })
    .asks(counted(None))
}

#[test]
fn each_place_of_a_step_is_found() {
    for culprit in 0..50 {
        let mut world = World::new(FakeAxis::line(50), move |axis, point| {
            Seen::Value(if axis.has(point, culprit) { 1001.0 } else { 1000.0 })
        })
        .asks(counted(None));
        let bisection = world.bisect().unwrap();
        assert_eq!(culprits(&bisection), [culprit]);
        assert!(bisection.steps.taken <= 6 && bisection.proof.iter().all(|check| check.holds));
        assert_eq!(bisection.threshold.unwrap().at, 1000.5);
        let (first, last) = (&bisection.first.state, &bisection.last.state);
        assert_eq!((&first.values[..], &last.values[..]), (&[1000.0; 3][..], &[1001.0; 3][..]));
        assert_eq!((first.bad, first.good, last.bad, last.good), (0, 3, 3, 0));
    }
}

#[test]
fn of_several_steps_it_is_the_one_nearer_to_the_bad_end_unless_the_user_says_what_worse_is() {
    let found = |middle: f64, worse_by| {
        let mut world = World::new(FakeAxis::line(50), move |axis, point| {
            let rest = if axis.has(point, 30) { 1200.0 - middle } else { 0.0 };
            Seen::Value(rest + if axis.has(point, 10) { middle } else { 1000.0 })
        });
        world = world.asks(counted(worse_by));
        culprits(&world.bisect().unwrap())
    };
    assert_eq!(found(1060.0, None), [30]);
    assert_eq!(found(1060.0, Some(0.05)), [10]);
    assert_eq!(found(1060.0, Some(0.1)), [30]);
    assert_eq!(found(1150.0, None), [10]);
}

#[test]
fn no_step_is_no_bisection() {
    match steps(1000.0, &[]).bisect() {
        Err(Error::NoStep { metric, good_value, bad_value, .. }) => {
            assert!(!metric.contains("worse"), "{metric}");
            assert_eq!((&good_value[..], &bad_value[..]), ("1000", "1000"));
        }
        other => panic!("{other:?}"),
    }
    match steps(1000.0, &[(10, 1040.0)]).asks(counted(Some(0.05))).bisect() {
        Err(Error::NoStep { allowed, .. }) => assert!(allowed.contains("5 %"), "{allowed}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn better_values_at_the_bad_end_are_swapped_ends() {
    let how = |mut world: World| match world.bisect() {
        Err(Error::Swapped { how, .. }) => how,
        other => panic!("{other:?}"),
    };
    assert!(how(steps(1000.0, &[(10, 900.0)])).starts_with("add --fixed"));
    assert_eq!(how(steps(1000.0, &[(10, 1100.0)]).fixed()), "remove --fixed");
}

#[test]
fn what_fixed_a_metric_is_found() {
    let mut world = steps(1000.0, &[(10, 900.0)]).fixed();
    assert_eq!(world.culprits(), [10]);
}

#[test]
fn what_is_sampled_is_found_in_its_noise() {
    let mut wrong = 0;
    for seed in 0..24 {
        let culprit = usize::try_from(seed * 5 % 50).unwrap();
        // One sample in six is on the wrong side.
        let mut world = World::new(FakeAxis::line(50), move |axis, point| {
            Seen::About(if axis.has(point, culprit) { 110.0 } else { 100.0 }, 7.5)
        })
        .asks(timed())
        .seed(seed);
        wrong += u32::from(culprits(&world.bisect().unwrap()) != [culprit]);
    }
    assert!(wrong <= 2, "{wrong}");
}

#[test]
fn noise_is_no_step() {
    let mut searched = 0;
    for seed in 0..40 {
        let mut world =
            World::new(FakeAxis::line(50), |_, _| Seen::About(100.0, 7.5)).asks(timed()).seed(seed);
        match world.bisect() {
            Err(Error::NoStep { .. }) => {}
            Ok(_) | Err(Error::Swapped { .. }) => searched += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(searched <= 4, "{searched}");
}

#[test]
fn states_that_cannot_be_measured_are_passed_over() {
    for how in [Seen::Broken, Seen::Other, Seen::Nothing] {
        let mut world = World::new(FakeAxis::line(50), move |axis, point| match point {
            Point::After(20..30) => how,
            _ => Seen::Value(if axis.has(point, 40) { 7.0 } else { 5.0 }),
        })
        .asks(counted(None));
        assert_eq!(world.culprits(), [40]);
    }
    let mut world = World::new(FakeAxis::line(50), |_, point| match point {
        Point::Last => Seen::Other,
        _ => Seen::Value(5.0),
    })
    .asks(counted(None));
    assert!(matches!(world.bisect(), Err(Error::End { .. })));
}
