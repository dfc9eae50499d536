//! A Kernel beside itself.

use std::time::Duration;

use compare::CalibrateRequest;
use lab::request::{TimedRequest, Version};

use crate::fake::{OPERATION, World, compared, figures, kernel};

fn costs(_: &str, boot: u32) -> Option<f64> {
    Some(100_000.0 + 10.0 * f64::from(boot % 7))
}

fn request() -> CalibrateRequest {
    CalibrateRequest {
        version: Version,
        kernel: kernel("quick"),
        program: None,
        operations: vec![OPERATION.to_string()],
        boots: Some(5),
        timed: TimedRequest { budget: Some(Duration::ZERO), ..TimedRequest::default() },
        machine: figures().1,
    }
}

#[test]
fn what_is_learnt_of_this_host_is_part_of_later_comparisons() {
    let world = World::new(costs);
    let timed = TimedRequest { budget: Some(Duration::from_secs(600)), ..TimedRequest::default() };
    let done = world.calibrate(&CalibrateRequest { timed: timed.clone(), ..request() }).unwrap();
    assert_eq!((done.kernel.as_str(), done.comparisons), ("/kernels/quick", 20));
    assert!(done.noise.floor > 0.0 && done.noise.floor < 1.0, "{:?}", done.noise);
    assert_eq!(world.booted().len(), 200);
    let mut later = compared(&["quick", "other"]);
    later.figures.timed = Some(timed);
    assert_eq!(world.compare(&later).unwrap().comparison.noise, Some(done.noise));
}

#[test]
fn a_host_on_which_nothing_was_measured_is_not_known() {
    let world = World::new(costs);
    let error = world.calibrate(&request()).unwrap_err();
    assert_eq!(error.to_string(), "nothing could be measured");
    assert!(!world.measurements().exists());
}

#[test]
fn a_request_that_was_kept_asks_the_same() {
    let kept = serde_json::to_string(&request()).unwrap();
    assert_eq!(serde_json::from_str::<CalibrateRequest>(&kept).unwrap(), request());
}
