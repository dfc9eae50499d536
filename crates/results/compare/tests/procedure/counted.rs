//! Counted figures.

use compare::{CompareRequest, Conclusion, Error, SidesRequest};
use lab::request::MeasureRequest;
use measure::Measurement;
use verdict::{Comparison, Ground, Steadiness, Verdict};

use crate::fake::{OPERATION, World, compared, kernel, measured};

fn costs(image: &str, _: u32) -> Option<f64> {
    match image {
        "slow" => Some(110.0),
        "broken" => None,
        _ => Some(100.0),
    }
}

#[test]
fn the_slower_kernel_is_told_and_all_is_kept() {
    let world = World::new(costs);
    let request = compared(&["quick", "slow", "other"]);
    let done = world.compare(&request).unwrap();
    assert_eq!(done.conclusion, Conclusion::Worse);
    let verdicts = done.comparison.others.iter().map(|against| against.rows[0].verdict);
    assert_eq!(verdicts.collect::<Vec<_>>(), [Verdict::Worse, Verdict::Same]);
    assert_eq!(done.comparison.notes.len(), 3);
    assert_eq!(world.booted(), ["quick", "quick", "slow", "slow", "other", "other"]);
    assert_eq!(done.kept.read::<CompareRequest>("request").unwrap(), request);
    assert_eq!(done.kept.read::<Comparison>("comparison").unwrap(), done.comparison);
    for (name, label) in [("base", "quick"), ("new-1", "slow"), ("new-2", "other")] {
        let one: Measurement = done.kept.read(name).unwrap();
        assert_eq!(one.subject.label, format!("/kernels/{label}"));
    }
}

#[test]
fn what_is_allowed_is_not_worse() {
    let world = World::new(costs);
    let request = CompareRequest { allowed: Some(0.2), ..compared(&["quick", "slow"]) };
    assert_eq!(world.compare(&request).unwrap().conclusion, Conclusion::NotWorse);
    let request = CompareRequest { allowed: None, ..compared(&["quick", "broken"]) };
    let done = world.compare(&request).unwrap();
    assert_eq!((done.conclusion, done.comparison.others[0].missing.len()), (Conclusion::Worse, 1));
}

#[test]
fn a_kernel_is_compared_with_other_boots_of_itself() {
    let world = World::new(costs);
    let done = world.compare(&compared(&["quick", "quick", "quick"])).unwrap();
    assert_eq!(done.conclusion, Conclusion::NotWorse);
    let seeds = ["base", "new-1", "new-2"].map(|name| {
        let boots = done.kept.read::<Measurement>(name).unwrap().boots;
        boots.iter().map(|boot| boot.seed).collect::<Vec<_>>()
    });
    assert_eq!(seeds, [[1, 2], [9, 10], [17, 18]]);
    assert!(done.comparison.notes[0].ends_with("the seeds 9, 10, those of the base 1, 2"));
}

/// A step of 0.1 %, which two boots of each kernel do not decide.
fn near(image: &str, _: u32) -> Option<f64> {
    Some(if image == "slow" { 10_010.0 } else { 10_000.0 })
}

/// The first boots differ by chance.
fn drawn(_: &str, boot: u32) -> Option<f64> {
    Some(if boot == 2 || boot == 3 || boot % 5 == 4 { 10_010.0 } else { 10_000.0 })
}

#[test]
fn what_the_first_boots_leave_open_gets_more_of_them() {
    let world = World::new(near);
    let mut request = compared(&["quick", "slow", "quicker"]);
    request.figures.boots = None;
    let done = world.compare(&request).unwrap();
    let row = &done.comparison.others[0].rows[0];
    assert_eq!((row.verdict, row.ground), (Verdict::Worse, Some(Ground::Boots)));
    assert_eq!((row.base.boots.len(), row.new.boots.len(), world.booted().len()), (8, 8, 24));
    let boots = done.kept.read::<Measurement>("new-1").unwrap().boots;
    assert!(boots.iter().map(|boot| boot.seed).eq(1..=8), "{boots:?}");
    assert_eq!(done.comparison.others[1].rows[0].verdict, Verdict::Same);

    let chance = World::new(drawn);
    let mut request = compared(&["quick", "other"]);
    request.figures.boots = None;
    let done = chance.compare(&request).unwrap();
    assert_eq!((done.conclusion, chance.booted().len()), (Conclusion::NotWorse, 16));
    assert_eq!(done.comparison.others[0].rows[0].steadiness, Some(Steadiness::Varying));
}

#[test]
fn boots_that_were_asked_for_and_boots_of_the_whole_suite_are_not_followed_by_more() {
    let world = World::new(near);
    let done = world.compare(&compared(&["quick", "slow"])).unwrap();
    assert_eq!(done.comparison.others[0].rows[0].verdict, Verdict::Undecided);
    let mut whole = compared(&["quick", "slow"]);
    (whole.figures.boots, whole.figures.operations) = (None, Vec::new());
    world.compare(&whole).unwrap();
    assert_eq!(world.booted().len(), 8);
}

#[test]
fn parameters_of_one_kernel_are_sides() {
    let world = World::new(costs);
    let parameters = ["quiet", "nosmt"].map(str::to_string).to_vec();
    let sides = SidesRequest::Parameters { kernel: kernel("quick"), parameters, program: None };
    let done = world.compare(&CompareRequest { sides, ..compared(&[]) }).unwrap();
    assert_eq!(done.comparison.base.label, "quiet");
    assert!(done.comparison.others[0].subject.parameters.ends_with("nosmt"));
    assert_eq!(done.conclusion, Conclusion::NotWorse);
}

#[test]
fn figures_of_one_kernel_are_kept_with_the_request() {
    let world = World::new(costs);
    let request = measured("slow");
    let done = world.measure(&request).unwrap();
    assert!(done.is_measured);
    assert_eq!(done.measurement.metrics[0].values[1].median, 110.0);
    assert_eq!(done.kept.read::<MeasureRequest>("request").unwrap(), request);
    assert_eq!(done.kept.read::<Measurement>("measurement").unwrap(), done.measurement);
    assert!(!world.measure(&measured("broken")).unwrap().is_measured);
}

#[test]
fn what_cannot_be_asked_is_refused_before_a_kernel_is_looked_for() {
    let world = World::new(costs);
    let mut unknown = compared(&["quick", "slow"]);
    unknown.figures.operations = vec![format!("{OPERATION}s")];
    for request in [unknown, compared(&["quick"]), compared(&["quick", "measured:last"])] {
        let error = world.compare(&request).unwrap_err();
        assert!(error.is_usage(), "{error}");
    }
    assert!(world.found.lock().unwrap().is_empty());
    assert!(!world.measurements().exists());
}

#[test]
fn what_was_interrupted_is_not_kept() {
    let mut world = World::new(costs);
    world.stop_at = 3;
    let error = world.compare(&compared(&["quick", "slow"])).unwrap_err();
    assert!(matches!(error, Error::Interrupted) && error.is_interrupt());
    assert!(!world.measurements().exists());
}
