//! `kiln matrix`: kernels beside each other.

use serde_json::Value;

use crate::support::{COMPLETE, Done, KERNEL, Place, text};

/// A folder of programs, one of which fails on one kernel.
fn suite(place: &Place) -> String {
    std::fs::create_dir(place.path().join("suite")).expect("writable");
    place.script("suite/fine", "true");
    place.script("suite/planted", "case $(uname -r) in *cloud*) exit 1; esac");
    text(&place.path().join("suite")).to_owned()
}

fn matrix(place: &Place, arguments: &[&str]) -> Done {
    place.kiln([&["matrix"], arguments].concat()).run()
}

#[test]
fn what_is_missing_is_run_once_and_what_differs_stands_out() {
    let place = Place::new();
    let suite = suite(&place);
    let asked = [COMPLETE, KERNEL, "--suite", &suite, "--json"];
    let first = matrix(&place, &asked).expect(1);
    let grids: Value = serde_json::from_str(&first.stdout).expect("JSON");
    let grid = &grids[0];
    let outcomes = |row: usize| {
        let cells = grid["rows"][row]["cells"].as_array().expect("cells").iter();
        cells.map(|cell| cell["outcome"].as_str().unwrap_or("none").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (&grid["rows"][0]["case"], outcomes(0)),
        (&"fine".into(), vec!["pass".to_owned(); 2]),
        "{grid:#}"
    );
    assert_eq!(outcomes(1), ["pass", "fail"]);
    assert_eq!(grid["groups"][0]["light"], "red");
    let sessions = || std::fs::read_dir(place.path().join("state/kiln/runs")).expect("kept").flatten();
    let count = || sessions().filter(|entry| entry.path().is_dir()).count();
    assert_eq!(count(), 2);
    assert_eq!(matrix(&place, &asked).expect(1).stdout, first.stdout, "the ledger has all");
    let shown = matrix(&place, &[&asked[..], &["--show"]].concat()).expect(1).stdout;
    assert_eq!(shown, first.stdout);
    assert_eq!(count(), 2);
    // Runs on another machine or with other parameters do not count.
    matrix(&place, &[KERNEL, "--suite", &suite, "--append", "quiet"]).expect(1);
    matrix(&place, &[KERNEL, "--suite", &suite, "--append", "quiet"]).expect(1);
    assert_eq!(count(), 3);
    matrix(&place, &[KERNEL, "--suite", &suite, "--cpus", "2"]).expect(1);
    assert_eq!(count(), 4);
    let one = matrix(&place, &[KERNEL, "--suite", &suite, "--case", "fine"]).expect(0).stdout;
    assert!(one.contains("1 case on 1 kernel"), "{one}");
    assert_eq!(count(), 4, "the ledger has that case");
    // A program that is another one has not been tested.
    place.script("suite/planted", "true");
    let page = place.path().join("m.html");
    let page_option = ["--html", text(&page)];
    let again = matrix(&place, &[&asked[..4], &page_option].concat()).expect(0);
    assert_eq!(count(), 6);
    assert!(
        again.stdout.contains("2 cases on 2 kernels; different between kernels: 0, failing: 0"),
        "{}",
        again.stdout
    );
    assert!(std::fs::read_to_string(&page).expect("written").contains("Matrix of suite"));
}

#[test]
fn of_a_session_that_was_interrupted_only_the_missing_cases_are_run() {
    let place = Place::new();
    let suite = suite(&place);
    // The same as one that was interrupted after this case.
    matrix(&place, &[KERNEL, "--suite", &suite, "--case", "fine"]).expect(0);
    let whole = matrix(&place, &[KERNEL, "--suite", &suite]).expect(1).stdout;
    assert!(whole.contains("2 cases on 1 kernel"), "{whole}");
    let runs = place.kiln(["results", "--json"]).run().expect(0).stdout;
    let mut cases: Vec<String> = runs
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["case"].to_string())
        .collect();
    cases.sort();
    assert_eq!(cases, ["\"fine\"", "\"planted\""], "each once");
}

#[test]
fn a_plan_has_a_grid_for_each_machine() {
    let place = Place::new();
    let suite = suite(&place);
    let plan = format!(
        "plan(kernels = [{KERNEL:?}], machines = [machine(), machine(cpus = 2)], suites = [{suite:?}], cases = [\"fine\"])\n"
    );
    let plan = place.file("plan.star", plan);
    let printed = matrix(&place, &[text(&plan)]).expect(0).stdout;
    for heading in ["suite (the usual machine): 1 case on 1 kernel", "suite (2 CPUs): 1 case on 1 kernel"] {
        assert!(printed.contains(heading), "{printed}");
    }
    let sessions = || place.kiln(["results", "--json"]).run().expect(0).stdout.lines().count();
    assert_eq!(sessions(), 2);
    assert_eq!(matrix(&place, &[text(&plan), "--show"]).expect(0).stdout, printed);
    matrix(&place, &[KERNEL, "--suite", &suite, "--case", "fine"]).expect(0);
    assert_eq!(sessions(), 2, "it is the same as without a plan");
    let wrong = place.file("wrong.star", "plan(\n  suite = [\"smoke\"],\n)\n");
    for (arguments, message) in [
        (&[text(&wrong)][..], "wrong.star:2:3: plan has no argument suite"),
        (&[text(&plan), "--suite", "full"], "the plan says what is tested; leave out the options for that"),
        (&[text(&plan), KERNEL], "a plan names its kernels and flavours itself"),
        (&["/nonexistent.star"], "/nonexistent.star"),
    ] {
        let done = matrix(&place, arguments).expect(2);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
}

#[test]
fn what_makes_no_matrix_is_one_clear_message() {
    let place = Place::new();
    for (arguments, message) in [
        (&["deb:7.*"][..], "no kernel matches \"deb:7.*\": `kiln kernels` lists all"),
        (&["deb:6.1.*", "--flavour", "mad"], "no kernel matches \"deb:6.1.*\""),
        (&[KERNEL, "--suite", "smok"], "unknown suite \"smok\""),
        (&[KERNEL, "--case", "pipe/ful"], "no case of suite smoke matches"),
        (&[], "<KERNEL>"),
        (&[KERNEL, "--html", "/nonexistent/m.html"], "--html /nonexistent/m.html"),
        (&["/nonexistent/bzImage"], "/nonexistent/bzImage"),
    ] {
        let done = matrix(&place, arguments).expect(2);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
    let nothing = matrix(&place, &[KERNEL, "--show"]).expect(3);
    assert!(
        nothing.stdout.contains("smoke: 0 cases on 1 kernel, 1 of 1 columns not tested"),
        "{}",
        nothing.stdout
    );
}
