//! `kiln results` and `kiln show`: what is known of earlier Runs.

use serde_json::Value;

use crate::support::{KERNEL, Place, text};

/// Sessions of a suite and of a program that fails.
pub(crate) fn place() -> Place {
    let place = Place::new();
    place.kiln(["run", KERNEL, "--case", "pipe/*"]).run().expect(0);
    let program = place.script("fails", "echo some words; exit 1");
    place.kiln(["run", KERNEL, "--no-retry", "--exec", text(&program)]).run().expect(1);
    place
}

#[test]
fn runs_of_all_sessions_are_listed_and_shown() {
    let place = place();
    let list = |more: &[&str]| {
        let done = place.kiln([&["results", "--json"], more].concat()).run().expect(0);
        let runs = done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        runs.collect::<Vec<Value>>()
    };
    let release = KERNEL.trim_start_matches("deb:");
    let all = list(&[]);
    assert!(all.len() > 2 && all.iter().all(|run| run["release"] == release), "{all:#?}");
    let failed = list(&["--outcome", "fail,crash", "--kernel", "deb:6.*"]);
    let [failed] = &failed[..] else { panic!("{failed:#?}") };
    assert_eq!((&failed["case"], &failed["suite"]), (&"fails".into(), &"fails".into()));
    let pipes = list(&["--case", "pipe/*", "--since", "1d", "--kernel", release]);
    assert_eq!(pipes.len(), all.len() - 1);
    assert_eq!(list(&["--limit", "1"]), std::slice::from_ref(failed), "the newest session first");
    let table = place.kiln(["results", "--limit", "1"]).run().expect(0).stdout;
    assert!(table.contains(&format!("1 of {} Runs; --limit shows more", all.len())), "{table}");
    let name = format!("{}/fails", failed["session"].as_str().expect("a name"));
    assert!(table.contains(&name), "{table}");
    let shown = place.kiln(["show", &name]).run().expect(0).stdout;
    for text in ["fail: fails\n", "exit status 1", "some words", "kiln replay ", KERNEL] {
        assert!(shown.contains(text), "{text}\n{shown}");
    }
    let last: Value =
        serde_json::from_str(&place.kiln(["show", "last", "--json"]).run().expect(0).stdout).expect("JSON");
    assert_eq!((&last["run"]["case"], &last["session"]["release"]), (&"fails".into(), &release.into()));
    std::fs::remove_dir_all(last["folder"].as_str().expect("a path")).expect("it is there");
    assert_eq!(list(&[]), all, "what was once read stays known");
}

#[test]
fn what_cannot_be_asked_is_one_clear_message() {
    let place = Place::new();
    let empty = place.kiln(["results"]).run().expect(0);
    assert!(empty.stdout.is_empty() && empty.stderr.contains("no Run in "), "{}", empty.stderr);
    place.kiln(["run", KERNEL, "--case", "pipe/full"]).run().expect(0);
    for (arguments, message) in [
        (&["results", "--case", "pipe/ful"][..], "did you mean pipe/full?"),
        (&["results", "--kernel", "deb:7.*"], "no session has a kernel \"deb:7.*\""),
        (&["results", "--suite", "smok"], "did you mean smoke?"),
        (&["results", "--outcome", "bad"], "is none of crash, hang, fail"),
        (&["results", "--since", "ever"], "write 7d, 12h, or a date"),
        (&["show", "2001"], "no session \"2001\""),
        (&["show", "last/pipe/none"], "has no Run of \"pipe/none\""),
    ] {
        let done = place.kiln(arguments.iter().copied()).run().expect(2);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
    let never = place.kiln(["results", "--outcome", "hang"]).run().expect(0);
    assert!(never.stderr.contains("no Run in "), "{}", never.stderr);
}
