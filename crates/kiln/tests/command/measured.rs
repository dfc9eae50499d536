//! `kiln measure`, and what is compared with figures that it has kept.

use serde_json::Value;

use crate::support::{Done, KERNEL, Place};

/// A call of kiln about one operation.
fn about(place: &Place, arguments: &[&str]) -> crate::support::Call {
    place.kiln([arguments, &["--metric", "syscall/getppid"]].concat())
}

/// A call that is refused with these words.
#[track_caller]
fn refused(done: &Done, words: &str) {
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{}", done.stderr);
    assert!(done.stderr.contains(words) && done.stderr.lines().count() <= 2, "{}", done.stderr);
}

/// The document of the only measurement.
fn document(place: &Place) -> std::path::PathBuf {
    let root = place.path().join("state/kiln/measurements");
    let folders = std::fs::read_dir(root).expect("something was measured").flatten();
    let mut found = folders.map(|folder| folder.path().join("measurement.json")).filter(|path| path.exists());
    let one = found.next().expect("a measurement");
    assert_eq!(found.next(), None);
    one
}

#[test]
fn what_was_measured_is_compared_without_measuring_it_again() {
    let place = Place::new();
    about(&place, &["measure", KERNEL, "--boots", "1"]).run().expect(0);
    let compare = |arguments: &[&str]| {
        let done = about(&place, &[&["compare", "--json", "--boots", "1"], arguments].concat()).run();
        let comparison: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
        (done, comparison)
    };
    let (done, comparison) = compare(&["measured:last", KERNEL]);
    let done = done.expect(0);
    assert_eq!(comparison["base"]["label"], "measured:last", "{}", done.stdout);
    let rows = comparison["others"][0]["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["metric"] == "syscall/getppid").expect("it was measured");
    assert_eq!((&row["verdict"], &row["difference"]), (&"same".into(), &0.0.into()));
    // Kept figures are enough for both sides, and their name may be cut off.
    let (done, comparison) = compare(&[KERNEL, "measured:2", "measured:last"]);
    done.expect(0);
    let labels =
        [&comparison["base"], &comparison["others"][0]["subject"], &comparison["others"][1]["subject"]];
    assert_eq!(labels.map(|subject| &subject["label"]), [KERNEL, "measured:2", "measured:last"]);
    let (done, _) = compare(&["measured:last", "measured:last"]);
    assert!(!done.expect(0).stderr.contains("boot"));
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_program_has_its_name_and_its_figures_under_the_former_one_are_compared() {
    let place = Place::new();
    let program = place.script("sh1.sh", "exit 0").display().to_string();
    let words = ["--exec", &program, "--boots", "1"];
    place.kiln([&["measure", KERNEL], &words[..]].concat()).run().expect(0).says("sh1.sh");
    let path = document(&place);
    let kept = std::fs::read_to_string(&path).expect("just written");
    assert!(kept.contains("\"sh1.sh\"") && !kept.contains("\"workload\""), "{kept}");
    std::fs::write(path, kept.replace("\"sh1.sh", "\"workload")).expect("ours");
    let compare = [&["compare", "measured:last", KERNEL, "--json"], &words[..]].concat();
    let comparison: Value = place.kiln(compare).run().expect(0).stated();
    let rows = comparison["others"][0]["rows"].as_array().expect("rows");
    assert!(rows.iter().any(|row| row["metric"] == "sh1.sh"), "{rows:?}");
}

#[test]
fn figures_that_came_about_in_another_way_are_refused() {
    let place = Place::new();
    refused(&about(&place, &["compare", "measured:last", KERNEL]).run(), "no measurement \"last\"");
    about(&place, &["measure", KERNEL, "--boots", "1"]).run().expect(0);
    let compare =
        |more: &[&str]| about(&place, &[&["compare", "measured:last", KERNEL], more].concat()).run();
    refused(&compare(&["--timed"]), "--timed boots the kernels in turns");
    refused(&compare(&["--memory", "512"]), "measure both with the same options");
    refused(&about(&place, &["compare", "measured:last"]).run(), "there is only one kernel to compare");
    let path = document(&place);
    let text = std::fs::read_to_string(&path).expect("kept");
    let damaged = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        std::fs::write(&path, text.replace(from, to)).expect("ours");
        compare(&[])
    };
    refused(&damaged("\"kind\": \"exact\"", "\"kind\": \"timed\""), "its figures are times");
    refused(&damaged("\"procedure\": \"", "\"procedure\": \"0"), "another version of kiln or of QEMU");
    refused(&damaged("\"name\": \"syscall/getppid\"", "\"name\": \"else\""), "no operation in common");
    refused(&damaged("\"metrics\"", "\"figures\""), "is not a document of kiln");
    // Whatever figures say, they are compared.
    let done = damaged("\"boot\": 0", "\"boot\": 4000000000").says("measured:last");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}
