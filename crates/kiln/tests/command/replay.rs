//! `kiln replay`: a Run again, out of what its session kept.

use judge::Outcome;

use crate::support::terminal::Terminal;
use crate::support::{Done, KERNEL, Place, kernel, sessions};

/// The last line of a replay, which must have left a session of its own.
fn verdict(place: &Place, done: &Done, kept: usize) -> String {
    assert_eq!(sessions(&place.path().join("state")).len(), kept);
    done.stdout.lines().last().unwrap_or_default().to_string()
}

#[test]
fn a_case_that_fails_and_one_that_passes_end_as_before() {
    let place = Place::new();
    let program = place.script("seven", "echo $1; exit 7");
    place.exec(&program, &["--format", "json", "--", "one"]).run().expect(7);
    let done = place.kiln(["replay", "last"]).run().expect(7).says("output  one");
    assert_eq!(verdict(&place, &done, 2), "same as before: fail seven: exit status 7");
    // A replay can itself be replayed; what ran then is what runs, also after the program was fixed or removed.
    place.script("seven", "exit 0");
    let done =
        place.kiln(["replay", "last"]).run().expect(7).says("the program has changed since session 20");
    assert_eq!(verdict(&place, &done, 3), "same as before: fail seven: exit status 7");
    std::fs::remove_file(&program).expect("ours");
    let done =
        place.kiln(["replay", "last"]).run().expect(7).says("the program has changed since session 20");
    assert_eq!(verdict(&place, &done, 4), "same as before: fail seven: exit status 7");
    let bundle = place.path().join("bug.tar").display().to_string();
    place.kiln(["bundle", "last", "--output", &bundle]).run().expect(0).says("the program has changed since");
}

#[test]
fn one_case_of_a_suite_is_run_alone() {
    let place = Place::new();
    let done = place.kiln(["run", KERNEL, "--case", "pipe/*"]).run().expect(0);
    let name = done.results().file_name().expect("a name").to_string_lossy().into_owned();
    let done = place.kiln(["replay", &format!("{name}/pipe/full")]).run().expect(0).says("1 case in");
    assert_eq!(verdict(&place, &done, 2), "same as before: pass pipe/full");
}

#[test]
fn a_boot_that_fails_fails_again() {
    let place = Place::new();
    let done = place.kiln(["run", KERNEL, "--case", "pipe/*", "--append", "rdinit=/nowhere"]).run().expect(1);
    assert_eq!(done.document("boot").outcome, Outcome::Crash);
    let done = place.kiln(["replay", "last"]).run().expect(1);
    let verdict = verdict(&place, &done, 2);
    assert!(verdict.starts_with("same as before: crash boot: the kernel panicked: VFS: Unable"), "{verdict}");
}

#[test]
fn another_kernel_in_the_same_place_is_refused() {
    let place = Place::new();
    let program = place.script("fails", "exit 1");
    let mut image = std::fs::read(kernel().image).expect("the package has one");
    let path = place.file("bzImage", &image).display().to_string();
    place.exec_on(&path, &program, &[]).run().expect(1);
    // It boots as well, but it is not the same.
    image.push(0);
    place.file("bzImage", &image);
    let done = place.kiln(["replay", "last"]).run().expect(2);
    assert!(done.stderr.contains("bzImage is no longer the kernel of session 20"), "{}", done.stderr);
    assert_eq!((done.stderr.lines().count(), done.stdout.as_str()), (1, ""));
}

#[test]
fn what_was_not_kept_cannot_be_replayed() {
    let place = Place::new();
    let done = place.kiln(["replay", "last/pipe/full"]).run().expect(2);
    assert!(done.stderr.starts_with("kiln: no session \"last\" in "), "{}", done.stderr);
    let folder = place.path().join("state/kiln/runs/2026-1");
    std::fs::create_dir_all(folder.join("cases")).expect("writable");
    let mut session = serde_json::json!({
        "started": "2026-11-20T10:00:00Z", "kiln": "0", "locator": "x", "provenance": "x", "release": null,
        "identity": "x", "machine": "x", "suite": "x", "cases": []
    });
    let keep = |name: &str, value: &serde_json::Value| {
        std::fs::write(folder.join(name), value.to_string()).expect("writable");
    };
    keep("session.json", &session);
    keep(
        "cases/a.json",
        &serde_json::to_value(judge::Run { case: "a".into(), ..judge::Run::unstarted() }).expect("data"),
    );
    let done = place.kiln(["replay", "last"]).run().expect(2);
    assert!(
        done.stderr.contains("another version of kiln: it does not record the command"),
        "{}",
        done.stderr
    );
    session["command"] = serde_json::json!(["run", "--no-such-option"]);
    keep("session.json", &session);
    let done = place.kiln(["replay", "last"]).run().expect(2);
    assert!(done.stderr.contains("another version of kiln: it has a command that"), "{}", done.stderr);
}

#[test]
fn a_person_runs_the_case_by_hand_in_its_machine() {
    let place = Place::new();
    place.kiln(["run", KERNEL, "--suite", "full", "--case", "loop/contents"]).run().expect(0);
    let mut terminal = Terminal::with_kiln(&place, &["replay", "last/loop/contents", "--shell"], 24, 100);
    terminal.shows("kiln-case runs the case loop/contents; Ctrl-A x exits");
    terminal.shows("# ");
    // Its modules are there and were not loaded before.
    terminal.types("ls /sys/module/loop; kiln-case; echo code $?\r");
    terminal.shows("No such file");
    terminal.shows("pass: exit status 0; checks: ");
    terminal.shows("\ncode 0\r\n");
    terminal.types("kiln-case no/such; echo code $?\r");
    terminal.shows("there is no case no/such; usage: kiln-case [NAME]");
    terminal.shows("\ncode 2\r\n");
    terminal.types("kiln-case pipe/full && exit 9\r");
    terminal.shows("pass: exit status 0");
    assert_eq!(terminal.end(), Some(9));
}

#[test]
fn a_program_is_at_hand_with_its_arguments() {
    let place = Place::new();
    let program = place.script("adds", "echo $1 and $2; kiln-report fail 'the sum is 5'; exit 0");
    place.exec(&program, &["--", "one", "two"]).run().expect(1);
    let mut terminal = Terminal::with_kiln(&place, &["replay", "last", "--shell"], 24, 100);
    terminal.shows("kiln-case runs /usr/local/bin/adds one two; ");
    terminal.shows("# ");
    terminal.types("kiln-case; exit $?\r");
    terminal.shows("one and two\r\n");
    terminal.shows("fail    the sum is 5\r\nfail: exit status 0; checks: 0 passed, 1 failed");
    assert_eq!(terminal.end(), Some(1));
}

#[test]
fn the_command_that_is_shown_replays_the_run() {
    let place = Place::new();
    // As if somebody had interrupted it.
    let program = place.script("odd name", "exit 130");
    let elsewhere = place.path().join("elsewhere").display().to_string();
    for (more, kept) in [(vec![], 2), (vec!["--results", elsewhere.as_str()], 3)] {
        let done = place.exec(&program, &more).run().expect(130);
        let line = done.stdout.lines().find_map(|line| line.trim().strip_prefix("replay  kiln replay '"));
        let shown = line.and_then(|line| line.strip_suffix('\'')).expect("shown");
        let done = place.kiln(["replay", shown]).run().expect(130);
        assert_eq!(verdict(&place, &done, kept), "same as before: fail odd name: exit status 130");
    }
}
