//! Timed figures.

use std::time::Duration;

use compare::{CompareRequest, Conclusion, Error};
use lab::request::TimedRequest;

use crate::fake::{World, compared, measured};

/// A tenth slower, and a little different in each boot.
fn costs(image: &str, boot: u32) -> Option<f64> {
    let usual = if image == "slow" { 110_000.0 } else { 100_000.0 };
    Some(usual + 10.0 * f64::from(boot % 7))
}

fn timed(sides: &[&str], boots: Option<u32>) -> CompareRequest {
    let mut request = compared(sides);
    request.figures.boots = boots;
    request.figures.timed = Some(TimedRequest { seed: Some(7), ..TimedRequest::default() });
    request
}

#[test]
fn kernels_are_booted_in_turns_until_all_is_decided() {
    let world = World::new(costs);
    let done = world.compare(&timed(&["quick", "slow"], None)).unwrap();
    assert_eq!(done.conclusion, Conclusion::Worse);
    let booted = world.booted();
    let slow = booted.iter().filter(|image| *image == "slow").count();
    assert!((5..=12).contains(&slow) && booted.len().abs_diff(2 * slow) <= 1, "{booted:?}");
    assert_eq!(done.comparison.notes[0], "the order of the boots comes from --seed 7");
    assert_eq!(done.comparison.noise, None);
}

#[test]
fn there_are_as_many_boots_as_were_asked_for() {
    let world = World::new(costs);
    world.compare(&timed(&["quick", "slow"], Some(2))).unwrap();
    assert_eq!(world.booted().len(), 4);
    let mut request = measured("slow");
    request.figures.timed = Some(TimedRequest::default());
    assert_eq!(world.measure(&request).unwrap().measurement.boots.len(), 2);
}

#[test]
fn no_boot_begins_after_the_time_is_over() {
    let world = World::new(costs);
    let mut request = timed(&["quick", "slow"], None);
    request.figures.timed = Some(TimedRequest { budget: Some(Duration::ZERO), ..TimedRequest::default() });
    let done = world.compare(&request).unwrap();
    assert_eq!((done.conclusion, world.booted().len()), (Conclusion::Nothing, 0));
}

#[test]
fn an_interrupted_comparison_is_not_kept() {
    let mut world = World::new(costs);
    world.stop_at = 3;
    let error = world.compare(&timed(&["quick", "slow"], None)).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(!world.measurements().exists());
}
