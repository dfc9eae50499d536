//! `kiln report`: pages for a browser.

use crate::results::place;
use crate::support::{KERNEL, Place, text};

/// The page about something.
fn page(place: &Place, subject: &[&str]) -> String {
    let output = place.path().join("page.html");
    place.kiln([&["report", "-o", text(&output)], subject].concat()).run().expect(0);
    std::fs::read_to_string(output).expect("it was written")
}

#[test]
fn a_session_a_run_and_a_matrix_have_pages() {
    let place = place();
    let last = page(&place, &[]);
    assert!(last.starts_with("<!DOCTYPE html>") && last.contains(": 1 fail</title>"), "{last}");
    assert!(last.contains("some words") && last.contains("exit status 1"), "{last}");
    let sessions = place.kiln(["results", "--json", "--limit", "0"]).run().expect(0);
    let runs: Vec<serde_json::Value> =
        sessions.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let pipes = runs.iter().find(|run| run["case"] == "pipe/full").expect("it ran");
    let session = pipes["session"].as_str().expect("a name");
    let whole = page(&place, &[session]);
    assert!(whole.contains("pipe/broken") && whole.contains(" pass</title>"), "{whole}");
    let one = page(&place, &[&format!("{session}/pipe/full")]);
    assert!(!one.contains("pipe/broken") && one.contains(": 1 pass</title>"), "{one}");
    let plan = format!("plan(\n  kernels = [\"{KERNEL}\"],\n  suites = [\"smoke\"],\n)\n");
    let plan = place.file("plan.star", &plan);
    assert!(page(&place, &[text(&plan)]).contains("<h1>Matrix of smoke</h1>"));
}

#[test]
fn what_has_a_page_is_copied_and_what_is_not_there_is_one_clear_message() {
    let place = Place::new();
    let folder = place.path().join("compared");
    std::fs::create_dir(&folder).expect("a place");
    std::fs::write(folder.join("report.html"), "<!DOCTYPE html>kept").expect("writable");
    assert_eq!(page(&place, &[text(&folder)]), "<!DOCTYPE html>kept");
    let output = text(&place.path().join("new.html")).to_owned();
    let nowhere = text(&place.path().join("no/new.html")).to_owned();
    for (arguments, message) in [
        (&["last", "-o", output.as_str()][..], "no comparison, bisection or check has this name either"),
        (&["2001", "-o", &output], "no session \"2001\""),
        (&["no.star", "-o", &output], "no.star"),
        (&["last", "-o", &nowhere], "name a file that can be written"),
        (&["last"], "--output <FILE>"),
    ] {
        let done = place.kiln([&["report"], arguments].concat()).run().expect(2);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
    assert!(!place.path().join("new.html").exists());
}
