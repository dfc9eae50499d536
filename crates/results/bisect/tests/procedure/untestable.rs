//! States that answer nothing.

use bisect::{Conclusion, Error, Point};

use crate::fake::{FakeAxis, NEVER, Seen, World, shows, suspects};

/// These states cannot be tested.
fn around(culprit: usize, how: Seen, broken: std::ops::Range<usize>) -> World {
    World::new(FakeAxis::line(60), move |axis, point| match point {
        Point::After(number) if broken.contains(number) => how,
        _ => shows(axis.has(point, culprit)),
    })
}

#[test]
fn the_culprit_is_found_around_them() {
    for how in [Seen::Broken, Seen::Other, Seen::Nothing] {
        for culprit in [0, 5, 19, 32, 45, 59] {
            let mut world = around(culprit, how, 20..30);
            assert_eq!(world.culprits(), [culprit], "{how:?}");
        }
    }
}

#[test]
fn suspects_are_what_they_hide() {
    for how in [Seen::Broken, Seen::Other, Seen::Nothing] {
        for culprit in 20..31 {
            let bisection = around(culprit, how, 20..30).bisect().unwrap();
            assert_eq!(suspects(&bisection), (20..31).collect::<Vec<_>>());
            assert!(bisection.proof.is_empty());
        }
    }
}

#[test]
fn if_nothing_between_the_ends_can_be_tested_all_are_suspects() {
    for how in [Seen::Broken, Seen::Other, Seen::Nothing] {
        let bisection = around(7, how, 0..60).bisect().unwrap();
        assert_eq!(suspects(&bisection), (0..60).collect::<Vec<_>>());
    }
}

#[test]
fn every_second_one() {
    let mut world = World::new(FakeAxis::line(60), |axis, point| match point {
        Point::After(number) if number % 2 == 0 => Seen::Broken,
        _ => shows(axis.has(point, 33)),
    });
    assert_eq!(suspects(&world.bisect().unwrap()), [32, 33]);
}

#[test]
fn some_at_random_in_an_intermittent_search() {
    for seed in 0..10 {
        let mut world = World::new(FakeAxis::line(40), move |axis, point| match point {
            Point::After(number) if (*number + seed) % 5 == 0 => Seen::Broken,
            _ if axis.has(point, 21) => Seen::Rate(0.5),
            _ => NEVER,
        })
        .seed(seed as u64);
        match world.bisect().unwrap().conclusion {
            Conclusion::Culprits { numbers, .. } => assert_eq!(numbers, [21]),
            Conclusion::Suspects { numbers, .. } => {
                assert!(numbers.len() == 2 && numbers.contains(&21), "{numbers:?}");
            }
            other @ Conclusion::Contradiction { .. } => panic!("{other:?}"),
        }
    }
}

#[test]
fn ends_must_be_testable() {
    for how in [Seen::Broken, Seen::Nothing] {
        for end in [Point::First, Point::Last] {
            let broken = end.clone();
            let mut world = World::new(FakeAxis::line(60), move |axis, point| match *point == broken {
                true => how,
                false => shows(axis.has(point, 7)),
            });
            match world.bisect() {
                Err(Error::End { end: name, .. }) => assert_eq!(name, format!("{end:?}")),
                other => panic!("{other:?}"),
            }
            assert!(!world.asked().iter().any(|point| matches!(point, Point::After(_))));
        }
    }
}

#[test]
fn ends_must_be_there() {
    for end in [Point::First, Point::Last] {
        let mut world = World::with_culprit(FakeAxis::line(60).without(end), 7);
        assert!(matches!(world.bisect(), Err(Error::End { .. })));
    }
}

#[test]
fn another_failure_at_the_good_end_is_told_from_a_broken_one() {
    for (fixed, end) in [(false, Point::First), (true, Point::Last)] {
        let name = format!("{end:?}");
        let mut world = World::new(FakeAxis::line(60), move |axis, point| match *point == end {
            true => Seen::Other,
            false => shows(axis.has(point, 7) != fixed),
        });
        world.settings.fixed = fixed;
        match world.bisect() {
            Err(Error::OtherFailure { good, how }) => {
                assert_eq!(good, name);
                assert!(how.contains("another one"), "{how}");
            }
            other => panic!("{other:?}"),
        }
    }
}
