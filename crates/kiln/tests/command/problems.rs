//! `kiln problems`: failures that are alike, and their life.

use serde_json::Value;

use crate::support::{KERNEL, Place, text};

fn fails(place: &Place) {
    let program = place.script("fails", "echo some words; exit 1");
    place.kiln(["run", KERNEL, "--no-retry", "--exec", text(&program)]).run().expect(1);
}

fn list(place: &Place, more: &[&str]) -> Vec<Value> {
    let done = place.kiln([&["problems", "--json"], more].concat()).run().expect(0);
    done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_problem_is_listed_once_closed_and_returns() {
    let place = Place::new();
    let program = place.script("passes", "true");
    place.kiln(["run", KERNEL, "--exec", text(&program)]).run().expect(0);
    assert!(list(&place, &[]).is_empty());
    fails(&place);
    fails(&place);
    let all = list(&place, &[]);
    let [problem] = &all[..] else { panic!("{all:#?}") };
    assert_eq!((&problem["state"], &problem["failures"]), (&"open".into(), &2.into()));
    assert_eq!(problem["signature"], "fails: fail: exit status #");
    let id = problem["id"].as_str().expect("an id");
    let shown = place.kiln(["problems", "show", &id[..6]]).run().expect(0).stdout;
    let release = KERNEL.trim_start_matches("deb:");
    for text in
        ["open: fails", "failed in 2 of 2 sessions", &format!("still there in {release}"), "kiln show "]
    {
        assert!(shown.contains(text), "{text}\n{shown}");
    }
    let closed = place.kiln(["problems", "close", id]).run().expect(0);
    assert!(closed.stderr.contains("it reopens when it is seen again"), "{}", closed.stderr);
    assert!(list(&place, &[]).is_empty());
    assert_eq!(list(&place, &["--state", "closed"]).len(), 1);
    let hidden = place.kiln(["problems"]).run().expect(0).stderr;
    assert!(hidden.contains("1 problem is closed; --all shows them"), "{hidden}");
    fails(&place);
    let again = list(&place, &[]);
    assert_eq!((&again[0]["state"], &again[0]["returned"]), (&"open".into(), &true.into()));
    place.kiln(["problems", "reopen", id]).run().expect(0);
    assert_eq!(list(&place, &[])[0]["closing"], Value::Null);
}

#[test]
fn what_no_problem_is_called_is_one_clear_message() {
    let place = Place::new();
    for (arguments, message) in [
        (&["problems", "show", "4f1c"][..], "no problem \"4f1c\": `kiln problems --all` lists their ids"),
        (&["problems", "close", ""], "no problem \"\""),
        (&["problems", "--budget", "1h"], "--bisect"),
        (&["problems", "--state", "mad"], "is none of open, bisected, fix-candidate, verified, closed"),
    ] {
        let done = place.kiln(arguments.iter().copied()).run().expect(2);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
    let empty = place.kiln(["problems"]).run().expect(0);
    assert!(empty.stdout.is_empty() && empty.stderr.contains("no problem in "), "{}", empty.stderr);
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_problem_of_commits_is_gone_when_what_follows_them_passes() {
    let place = Place::new();
    let mut source = place.source();
    source.boots();
    let on = |commit: &str, program: &str, code| {
        let program = place.script("planted", program);
        let kernel = format!("git:{}@{commit}", source.path.display());
        place
            .kiln(["run", &kernel, "--config", "defconfig", "--no-retry", "--exec", text(&program)])
            .run_within(crate::support::BUILD)
            .expect(code);
    };
    let bad = source.adds("fs/bad.c", "int bad;\n");
    let fixed = source.adds("fs/fixed.c", "int fixed;\n");
    source.git(&["checkout", "--quiet", "-b", "side", &source.first]);
    let side = source.adds("fs/side.c", "int side;\n");
    on(&source.first, "true", 0);
    on(&bad, "exit 1", 1);
    on(&side, "true", 0);
    let only = || list(&place, &[]).swap_remove(0);
    assert_eq!(only()["state"], "open", "a branch says nothing");
    on(&fixed, "true", 0);
    let problem = only();
    assert_eq!(problem["state"], "fix-candidate");
    let id = problem["id"].as_str().expect("an id");
    let shown = place.kiln(["problems", "show", id]).run().expect(0).stdout;
    let abbreviated = |commit: &str| format!("{} ({})", KERNEL.trim_start_matches("deb:"), &commit[..12]);
    for text in [
        format!("last good: {}, first bad: {}", abbreviated(&source.first), abbreviated(&bad)),
        format!("gone since {}", abbreviated(&fixed)),
        format!("{} defconfig x86_64", source.path.display()),
        format!(
            "kiln bisect git:{}@{}..{bad} --config defconfig --exec ",
            source.path.display(),
            source.first
        ),
        format!(
            "kiln bisect git:{}@{bad}..{fixed} --fixed --config defconfig --exec ",
            source.path.display()
        ),
    ] {
        assert!(shown.contains(&text), "{text}\n{shown}");
    }
    std::fs::rename(&source.path, place.path().join("elsewhere")).expect("moved");
    assert_eq!(only()["state"], "open", "without the tree nothing says which is later");
}

#[test]
#[ignore = "takes more than a minute of CPU"]
fn a_problem_of_packages_is_bisected_verified_and_closed() {
    let place = Place::new();
    let program = place.script("planted", "case $(uname -r) in 6.1.0-5[0-4]-*) exit 1; esac");
    for (number, code) in [(47, 0), (50, 1), (53, 1), (56, 0)] {
        let kernel = format!("deb:6.1.0-{number}-cloud-amd64");
        place.kiln(["run", &kernel, "--no-retry", "--exec", text(&program)]).run().expect(code);
    }
    let state = |more: &[&str]| list(&place, more)[0]["state"].as_str().expect("text").to_owned();
    assert_eq!(state(&[]), "fix-candidate");
    let shown = |json: &[&str]| place.kiln([&["problems", "show"], json].concat()).run().expect(0).stdout;
    let id = list(&place, &[])[0]["id"].as_str().expect("an id").to_owned();
    let document: Value = serde_json::from_str(&shown(&[&id, "--json"])).expect("JSON");
    let command = document["searches"][0][0]["command"].as_str().expect("a command");
    assert!(command.starts_with("kiln bisect deb:6.1.0-47-cloud-amd64..deb:6.1.0-50-cloud-amd64 --exec "));
    let bisect = |more: &[&str]| {
        place.kiln([&["problems", "--bisect"], more].concat()).run_within(crate::support::BUILD).expect(0)
    };
    let done = bisect(&["--budget", "1s"]);
    assert!(done.stderr.contains("the time of --budget is over"), "{}", done.stderr);
    assert_eq!(state(&[]), "fix-candidate");
    let done = bisect(&[]);
    for found in
        [": it is deb:6.1.0-50-cloud-amd64; report in ", ": it is deb:6.1.0-55-cloud-amd64; report in "]
    {
        assert!(done.stderr.contains(found), "{found}\n{}", done.stderr);
    }
    assert!(done.stdout.contains("  verified  "), "{}", done.stdout);
    let again = bisect(&[]);
    assert!(!again.stderr.contains("searching for"), "{}", again.stderr);
    let text = shown(&[&id]);
    for text_of in
        ["bisected: deb:6.1.0-50-cloud-amd64", "bisected: deb:6.1.0-55-cloud-amd64", "kiln problems close"]
    {
        assert!(text.contains(text_of), "{text_of}\n{text}");
    }
    place.kiln(["problems", "close", &id]).run().expect(0);
    let old = ["run", "deb:6.1.0-53-cloud-amd64", "--no-retry", "--exec", crate::support::text(&program)];
    place.kiln(old).run().expect(1);
    assert_eq!(state(&["--all"]), "closed", "that kernel was known to have it");
}
