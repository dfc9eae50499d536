//! What others read of a search while it goes on.

use bisect::{Evidence, Purpose, Question, Underway};

use crate::fake::{FakeAxis, Seen, World};

#[test]
fn it_says_what_is_tested_what_was_seen_and_what_is_believed() {
    let world = || World::with_culprit(FakeAxis::line(50), 31);
    let mut whole = world();
    whole.bisect().unwrap();
    for calls in 0..whole.calls.len() {
        let mut world = world();
        world.calls_left = calls;
        world.bisect().unwrap_err();
        let underway = Underway::read(world.folder()).unwrap();
        let testing = underway.testing.iter().map(|test| (test.name.clone(), test.times));
        let wanted = whole.calls[calls].iter().map(|(point, times)| (format!("{point:?}"), *times));
        assert!(testing.eq(wanted), "after {calls}: {:?}", underway.testing);
        let seen: u32 = underway.states.iter().map(|state| state.bad + state.good).sum();
        let made: u32 = whole.calls[..calls].iter().flatten().map(|(_, times)| times).sum();
        assert_eq!(seen, made, "after {calls}");
        assert!(underway.states.iter().all(|state| state.evidence == Evidence::default()));
        let checks_ends = underway.testing.iter().all(|test| test.purpose == Purpose::Ends);
        assert_eq!(underway.belief.is_none(), checks_ends, "after {calls}");
    }
    let underway = Underway::read(whole.folder()).unwrap();
    assert_eq!((underway.testing.len(), underway.candidates.len()), (0, 50));
    assert_eq!(underway.ends, ["First", "Last"]);
}

#[test]
fn a_search_that_goes_on_says_what_it_learnt_before() {
    let mut world = World::with_culprit(FakeAxis::line(50), 31);
    world.calls_left = 7;
    world.bisect().unwrap_err();
    let before = Underway::read(world.folder()).unwrap();
    world.calls_left = 0;
    world.bisect().unwrap_err();
    let now = Underway::read(world.folder()).unwrap();
    assert!(now.states.len() > 2 && now.states == before.states, "{now:?}");
}

#[test]
fn values_mean_nothing_until_both_ends_are_known() {
    let question = Question::Metric { name: "pipe".to_string(), worse_by: None, timed: false };
    let mut world = World::new(FakeAxis::line(20), |axis, point| {
        Seen::Value(if axis.has(point, 5) { 110.0 } else { 100.0 })
    })
    .asks(question);
    world.calls_left = 1;
    world.bisect().unwrap_err();
    let begun = Underway::read(world.folder()).unwrap();
    assert!(begun.threshold.is_none() && !begun.states.is_empty(), "{begun:?}");
    world.calls_left = crate::fake::CALLS_MAX;
    let bisection = world.bisect().unwrap();
    let underway = Underway::read(world.folder()).unwrap();
    assert!(bisection.threshold.is_some() && underway.threshold == bisection.threshold);
}
