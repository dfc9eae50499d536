//! Figures that were measured earlier.

use compare::Conclusion;
use lab::request::TimedRequest;

use crate::fake::{World, compared, measured};

fn costs(image: &str, _: u32) -> Option<f64> {
    Some(if image == "slow" { 110.0 } else { 100.0 })
}

/// A host on which the slow kernel has been measured.
fn world() -> World {
    let world = World::new(costs);
    world.measure(&measured("slow")).unwrap();
    world.booted.lock().unwrap().clear();
    world
}

#[test]
fn what_was_measured_is_not_measured_again() {
    let world = world();
    let done = world.compare(&compared(&["quick", "measured:last", "quick"])).unwrap();
    assert_eq!((done.conclusion, world.booted().len()), (Conclusion::Worse, 4));
    let labels = done.comparison.others.iter().map(|against| against.subject.label.as_str());
    assert_eq!(labels.collect::<Vec<_>>(), ["measured:last", "/kernels/quick"]);
    let both = world.compare(&compared(&["measured:last", "measured:last"])).unwrap();
    assert_eq!((both.conclusion, world.booted().len()), (Conclusion::NotWorse, 4));
}

#[test]
fn a_kernel_that_was_measured_is_compared_with_other_boots_of_it() {
    let world = world();
    let done = world.compare(&compared(&["measured:last", "slow"])).unwrap();
    let note =
        "/kernels/slow is the same kernel as the base: its boots have the seeds 3, 4, those of the base 1, 2";
    assert_eq!((done.conclusion, &done.comparison.notes[0][..]), (Conclusion::NotWorse, note));
    let both = world.compare(&compared(&["measured:last", "measured:last"])).unwrap();
    assert!(
        both.comparison.notes[0].ends_with("this comparison says nothing"),
        "{:?}",
        both.comparison.notes
    );
}

#[test]
fn figures_that_came_about_in_another_way_are_refused() {
    let mut world = world();
    let refused = |world: &World, change: &dyn Fn(&mut compare::CompareRequest)| {
        let mut request = compared(&["measured:last", "quick"]);
        change(&mut request);
        let error = world.compare(&request).unwrap_err();
        assert!(error.is_usage() && world.booted().is_empty(), "{error}");
        error.to_string()
    };
    let timed = refused(&world, &|request| request.figures.timed = Some(TimedRequest::default()));
    assert!(timed.starts_with("measured:last: --timed boots the kernels in turns"), "{timed}");
    let small = refused(&world, &|request| request.machine.memory_mib = Some(512));
    assert!(small.ends_with("measure both with the same options"), "{small}");
    let other = refused(&world, &|request| request.figures.operations = vec!["pipe/create-close".into()]);
    assert!(other.contains("no operation in common"), "{other}");
    world.procedure = "2";
    let newer = refused(&world, &|_| ());
    assert!(newer.contains("another version of kiln or of QEMU"), "{newer}");
}
