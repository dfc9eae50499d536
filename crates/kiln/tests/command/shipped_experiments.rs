//! The experiments that come with kiln, in their short forms.

use std::fs;
use std::path::Path;

use judge::Outcome;

use crate::experiments::{call, result};
use crate::support::{BUILD, COMPLETE, KERNEL, Place, text};

/// Each, and the kernel that its short form runs on.
const SHIPPED: [(&str, &str); 6] = [
    ("dock", COMPLETE),
    ("hypervisor", KERNEL),
    ("iommu", COMPLETE),
    ("namespaces", KERNEL),
    ("tracer-cost", KERNEL),
    ("unwatched", KERNEL),
];

fn runs_in_short(name: &str) {
    let place = Place::new();
    let (_, kernel) = SHIPPED.iter().find(|(shipped, _)| *shipped == name).expect("it comes with kiln");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(name);
    place.kiln(["exp", "check", text(&folder)]).run().expect(0);
    let done = call(&place, &folder, &[kernel, "--short"]).run_within(BUILD);
    let result = result(&done);
    assert_eq!(result.outcome, Outcome::Pass, "{result:#?}");
}

#[test]
fn the_docking_station_comes_up_in_short() {
    runs_in_short("dock");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_program_is_a_hypervisor_in_short() {
    runs_in_short("hypervisor");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn an_iommu_isolates_in_short() {
    runs_in_short("iommu");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn namespaces_isolate_in_short() {
    runs_in_short("namespaces");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn tracers_count_right_in_short() {
    runs_in_short("tracer-cost");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn watching_changes_nothing_in_short() {
    runs_in_short("unwatched");
}

#[test]
fn every_experiment_that_comes_with_kiln_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let entries = fs::read_dir(folder).expect("it is there").flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    assert_eq!(names, SHIPPED.map(|(name, _)| name));
}
