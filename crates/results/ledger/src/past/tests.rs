use super::*;
use crate::Recorder;
use judge::Outcome;
use lab::{Event, Listener};
use proptest::prelude::*;
use std::time::Duration;

/// A session that is told to a recorder, up to its end if there is one.
pub(crate) fn keep(root: &Path, started: &str, runs: &[(&str, Outcome)], interrupted: Option<bool>) -> Past {
    keep_session(root, session(started), runs, interrupted)
}

/// The same of a session of its own.
pub(crate) fn keep_session(
    root: &Path,
    session: Session,
    runs: &[(&str, Outcome)],
    interrupted: Option<bool>,
) -> Past {
    let mut recorder = Recorder::create(root, &session.locator).expect("room");
    recorder.on_event(&Event::Planned(Box::new(session)));
    for &(case, outcome) in runs {
        recorder.on_event(&Event::Finished(Box::new(a_run(case, outcome))));
    }
    if let Some(interrupted) = interrupted {
        let (summary, took) = (Summary::default(), Duration::ZERO);
        recorder.on_event(&Event::Ended { summary, took, interrupted, exit: None });
    }
    let directory = recorder.directory().to_owned();
    recorder.finish().expect("written");
    Past::open(&directory).expect("kept")
}

pub(crate) fn session(locator: &str) -> Session {
    let document = format!(
        r#"{{"started": "2026-11-20T10:00:00Z", "kiln": "0", "locator": "{locator}", "provenance": "x",
            "release": null, "identity": "x", "machine": "x", "suite": "x", "cases": []}}"#
    );
    serde_json::from_str(&document).expect("a session of an older kiln")
}

fn a_run(case: &str, outcome: Outcome) -> Run {
    Run { case: case.into(), outcome, ..Run::unstarted() }
}

#[test]
fn what_was_recorded_is_read_back() {
    let root = tempfile::tempdir().expect("a directory");
    let past = keep(root.path(), "2026", &[("pipe/full", Outcome::Fail), ("a", Outcome::Pass)], Some(false));
    assert_eq!(past.session().expect("a session").locator, "2026");
    assert_eq!(past.run("pipe/full").expect("a Run"), a_run("pipe/full", Outcome::Fail));
    assert_eq!(past.runs(), [a_run("a", Outcome::Pass), a_run("pipe/full", Outcome::Fail)]);
    assert!(past.ended());
}

#[test]
fn what_ran_the_machines_of_an_older_kiln_is_read_from_its_words() {
    let root = tempfile::tempdir().expect("a directory");
    let past = keep(root.path(), "2026", &[], Some(false));
    let path = past.directory().join(SESSION);
    let mut document: serde_json::Value = read(&path).expect("written");
    let mut engine = |key: &str, value: serde_json::Value| {
        document[key] = value;
        std::fs::write(&path, document.to_string()).expect("writable");
        past.session().expect("a session").engine
    };
    assert_eq!(engine("machine", "QEMU with KVM, 2 CPUs, 1024 MiB".into()), Some(Engine::Qemu(Accel::Kvm)));
    assert_eq!(engine("machine", "UML, 1 CPU, 1024 MiB".into()), Some(Engine::Uml));
    assert_eq!(engine("machine", "a PDP-11".into()), None);
    assert_eq!(engine("engine", serde_json::json!({"qemu": "tcg"})), Some(Engine::Qemu(Accel::Tcg)));
}

#[test]
fn a_boot_of_an_older_kiln_is_known_by_its_name_unless_a_case_has_it() {
    let root = tempfile::tempdir().expect("a directory");
    let past = keep(root.path(), "2026", &[("boot", Outcome::Crash)], Some(false));
    assert!(past.run("boot").expect("a Run").is_boot);
    assert!(past.boot().expect("the boot").is_boot);
    let path = past.directory().join(SESSION);
    let mut document: serde_json::Value = read(&path).expect("written");
    document["cases"] = vec!["boot"].into();
    std::fs::write(path, document.to_string()).expect("writable");
    assert!(!past.run("boot").expect("a Run").is_boot && past.boot().is_err());
}

#[test]
fn a_case_and_a_boot_of_one_name_are_kept_apart() {
    let root = tempfile::tempdir().expect("a directory");
    let mut recorder = Recorder::create(root.path(), "2026").expect("room");
    let boot = Run { is_boot: true, ..a_run("boot", Outcome::Fail) };
    let case = a_run("boot", Outcome::Pass);
    let cases = vec!["boot".to_string()];
    recorder.on_event(&Event::Planned(Box::new(Session { cases, ..session("2026") })));
    for run in [&boot, &case] {
        recorder.on_event(&Event::Finished(Box::new(run.clone())));
    }
    let past = Past::open(recorder.directory()).expect("kept");
    assert_eq!(past.run("boot").expect("the case"), case);
    assert_eq!(past.boot().expect("the boot"), boot);
    assert_eq!(past.runs(), [boot.clone(), case.clone()]);
    let document = |run: &Run| past.evidence(run)[0].1.clone();
    assert_eq!(document(&boot), past.directory().join("boot.json"));
    assert_eq!(document(&case), past.directory().join("cases/boot.json"));
}

#[test]
fn a_boot_has_its_name_where_no_case_has() {
    let root = tempfile::tempdir().expect("a directory");
    let mut recorder = Recorder::create(root.path(), "2026").expect("room");
    let boot = Run { is_boot: true, ..a_run("boot", Outcome::Crash) };
    recorder.on_event(&Event::Planned(Box::new(session("2026"))));
    recorder.on_event(&Event::Finished(Box::new(boot.clone())));
    let past = Past::open(recorder.directory()).expect("kept");
    assert_eq!(past.run("boot").expect("the boot"), boot);
    assert_eq!(past.runs(), [boot]);
}

#[test]
fn a_session_that_was_cut_off_has_not_ended() {
    let root = tempfile::tempdir().expect("a directory");
    assert!(!keep(root.path(), "killed", &[], None).ended());
    assert!(!keep(root.path(), "interrupted", &[], Some(true)).ended());
}

#[test]
fn the_single_runs_of_a_case_are_not_those_that_stand_for_it() {
    let root = tempfile::tempdir().expect("a directory");
    let past = keep(root.path(), "2026", &[("fs/sync.7", Outcome::Pass)], Some(false));
    let single = serde_json::to_vec(&a_run("fs/sync.7", Outcome::Pass)).expect("plain data");
    std::fs::write(past.directory().join("cases/fs/sync.7.1.json"), single).expect("writable");
    assert_eq!(past.runs(), [a_run("fs/sync.7", Outcome::Pass)]);
}

#[test]
fn sessions_are_listed_newest_first_and_other_folders_not_at_all() {
    let root = tempfile::tempdir().expect("a directory");
    for started in ["2026-11-20T10-07-31Z", "2026-11-21T10-07-31Z", "2026-11-19T10-07-31Z"] {
        keep(root.path(), started, &[], None);
    }
    std::fs::create_dir(root.path().join("zzz")).expect("writable");
    std::fs::write(root.path().join("yyy"), "").expect("writable");
    let started: Vec<String> =
        sessions(root.path()).iter().map(|past| past.session().expect("kept").locator).collect();
    assert_eq!(started, ["2026-11-21T10-07-31Z", "2026-11-20T10-07-31Z", "2026-11-19T10-07-31Z"]);
    assert!(sessions(&root.path().join("nowhere")).is_empty());
}

#[test]
fn what_is_damaged_is_told_in_one_line_and_left_out_of_lists() {
    let root = tempfile::tempdir().expect("a directory");
    let past = keep(root.path(), "2026", &[("good", Outcome::Pass), ("bad", Outcome::Pass)], Some(false));
    std::fs::write(past.directory().join("cases/bad.json"), "{\"case\": \"bad\"").expect("writable");
    std::fs::write(past.directory().join("session.json"), "[]\n\n").expect("writable");
    let errors =
        [past.session().expect_err("no session").to_string(), past.run("bad").expect_err("cut").to_string()];
    for error in errors {
        assert!(error.contains("is not a document of kiln") && !error.contains('\n'), "{error}");
    }
    assert_eq!(past.runs(), [a_run("good", Outcome::Pass)]);
    assert!(!past.ended());
    for none in ["", "nowhere", "..", "/"] {
        assert!(past.run(none).is_err(), "{none}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(document: Vec<u8>, run in "\\{\"case\":.{0,40}\\}?") {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(root.path().join("cases")).expect("writable");
        std::fs::write(root.path().join("session.json"), document).expect("writable");
        std::fs::write(root.path().join("cases/x.json"), run).expect("writable");
        let past = Past::open(root.path()).expect("it has the file");
        prop_assert!(past.session().is_err() && !past.ended());
        prop_assert!(past.run("x").is_err() && past.runs().is_empty());
    }
}
