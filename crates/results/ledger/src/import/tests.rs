use judge::Outcome;
use proptest::prelude::*;

use super::*;
use crate::past::sessions;
use crate::past::tests::{keep_session, session};
use crate::{Ledger, RunsQuery};

/// A session that began then and has these Runs, in a folder as kiln names them.
fn keep(root: &Path, stamp: &str, runs: &[(&str, Outcome)], interrupted: Option<bool>) -> Past {
    let started = format!("{}:{}:{}", &stamp[..13], &stamp[14..16], &stamp[17..]).parse().expect("a time");
    keep_session(root, Session { started, ..session(stamp) }, runs, interrupted)
}

const STAMP: &str = "2026-01-01T00-00-00Z";

/// The sessions below a folder as they are exported.
fn exported(root: &Path) -> String {
    let mut text = String::new();
    for past in sessions(root) {
        for mut event in past.events().expect("recorded") {
            if let Event::Planned(session) = &mut event {
                session.origin = Some(origin(&past, session));
            }
            text += &(serde_json::to_string(&event).expect("JSON") + "\n");
        }
    }
    text
}

fn imported(text: &str, root: &Path) -> Result<Imported, Error> {
    import(text.as_bytes(), root, &mut |_| {})
}

/// The same text from another host.
fn from(host: &str, text: &str) -> String {
    text.replace(&format!("{:?}", host_name()), &format!("{host:?}"))
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn known(known: usize) -> Imported {
    Imported { known, ..Imported::default() }
}

#[test]
fn a_round_trip_changes_nothing_and_a_second_import_adds_nothing() {
    let (here, there) = (folder(), folder());
    keep(here.path(), STAMP, &[("a/b", Outcome::Fail), ("c", Outcome::Pass)], Some(false));
    keep(here.path(), "2026-01-02T00-00-00Z", &[("a/b", Outcome::Pass)], None);
    let text = from("lab7", &exported(here.path()));
    let first = imported(&text, there.path()).expect("good input");
    assert_eq!((first.new.len(), first.known), (2, 0));
    assert_eq!(exported(there.path()), text);
    assert_eq!(imported(&text, there.path()).expect("good input"), known(2));
    let runs = |root: &Path| {
        let mut ledger = Ledger::open(root, &mut |_, _| {}).expect("a ledger");
        let found = ledger.runs(&RunsQuery::default()).expect("an answer");
        found.runs.into_iter().map(|run| (run.case, run.outcome, run.origin)).collect::<Vec<_>>()
    };
    let of = |origin: Option<&str>| {
        let run = |case: &str, outcome| (case.to_owned(), outcome, origin.map(str::to_owned));
        [run("a/b", Outcome::Pass), run("a/b", Outcome::Fail), run("c", Outcome::Pass)]
    };
    assert_eq!((runs(here.path()), runs(there.path())), (of(None).to_vec(), of(Some("lab7")).to_vec()));
    let left = std::fs::read_dir(there.path()).expect("there").flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(INCOMING)));
}

#[test]
fn what_comes_home_is_known_and_what_says_so_is_not_believed() {
    let here = folder();
    let own = keep(here.path(), STAMP, &[("a", Outcome::Fail)], Some(false));
    let text = exported(here.path());
    assert_eq!(imported(&text, here.path()).expect("good input"), known(1));
    let forged = text.replace(":\"fail\"", ":\"pass\"");
    assert_eq!(imported(&forged, here.path()).expect("good input").new.len(), 1);
    let note = r#"{"event": "note", "text": "more"}"#;
    let lines: Vec<&str> = text.lines().collect();
    let longer = [&lines[..2], &[note], &lines[2..]].concat().join("\n");
    assert_eq!(imported(&longer, here.path()).expect("good input").new.len(), 1);
    assert_eq!(sessions(here.path()).iter().filter(|past| past.is_own()).count(), 1);
    assert_eq!(own.run("a").expect("its Run").outcome, Outcome::Fail);
    let last = crate::session(here.path(), "last").expect("there is one");
    assert_eq!(last.name(), own.name(), "the others are newer by their names");
}

#[test]
fn a_session_that_went_on_takes_the_place_of_its_beginning() {
    let (here, there) = (folder(), folder());
    keep(here.path(), STAMP, &[("a", Outcome::Pass), ("b", Outcome::Fail)], Some(false));
    let whole = from("lab7", &exported(here.path()));
    let begun: String = whole.split_inclusive('\n').take(2).collect();
    assert_eq!(imported(&begun, there.path()).expect("good input").new.len(), 1);
    assert!(!sessions(there.path())[0].ended());
    assert_eq!(imported(&whole, there.path()).expect("good input").new.len(), 1);
    let [past] = &sessions(there.path())[..] else { panic!("it is one session") };
    assert!(past.ended() && past.runs().len() == 2);
    assert_eq!(imported(&begun, there.path()).expect("good input"), known(1));
    let other = from("lab8", &exported(here.path()));
    let second = format!("{}.2", past.name());
    assert_eq!(imported(&other, there.path()).expect("good input").new, [second.as_str()]);
    assert_eq!(imported(&other, there.path()).expect("good input"), known(1));
    assert_eq!(exported(there.path()).matches(&format!("\"session\":\"{}\"", past.name())).count(), 2);
    // The Runs of a session whose folder is gone stay its own.
    drop(Ledger::open(there.path(), &mut |_, _| {}).expect("a ledger"));
    std::fs::remove_dir_all(there.path().join(&second)).expect("it is there");
    assert_eq!(imported(&other, there.path()).expect("good input"), known(1), "its Runs are known");
    assert_eq!(
        imported(&from("lab9", &exported(here.path())), there.path()).expect("good input").new,
        [format!("{}.3", past.name())]
    );
}

#[test]
fn what_is_wrong_is_named_by_its_line_and_what_was_complete_stays() {
    let (here, there) = (folder(), folder());
    let name = keep(here.path(), STAMP, &[("a", Outcome::Pass)], Some(false)).name();
    let good = from("lab7", &exported(here.path()));
    let refused = |text: &str, why: &str| {
        let error = imported(text, there.path()).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(why), "{error}");
    };
    refused("{}\n", "line 1: is not what kiln export");
    refused("\n", "line 1: is not what");
    refused("{\"event\": \"note\", \"text\": \"x\"}\n", "line 1: no session has begun");
    let odd = [
        "../x",
        ".held-1",
        "a/b",
        "",
        "ledger.sqlite-wal",
        "2026-01-01T00-00-01Z-1",
        &format!("{STAMP}-1.2.3"),
    ];
    for evil in odd.iter().map(|text| (*text).to_owned()).chain([format!("{STAMP}-{}", "1".repeat(300))]) {
        refused(
            &good.replace(&format!("\"session\":\"{name}\""), &format!("\"session\":\"{evil}\"")),
            "is not a valid name of a session",
        );
    }
    for evil in ["../x", ".x", "", "a b", &"x".repeat(300)] {
        refused(&good.replace("\"lab7\"", &format!("\"{evil}\"")), "is not a valid name of a host");
    }
    refused(&good.replace("\"lab7\"", "7"), "line 1: ");
    assert!(sessions(there.path()).is_empty());
    let events: Vec<&str> = good.lines().collect();
    let twice = [&events[..], &events[1..]].concat().join("\n");
    refused(&twice, "line 4: its session has ended already");
    let later = good.replace(&name, "2026-01-01T00-00-00Z-7");
    refused(&format!("{good}{later}{{\n"), "line 7: ");
    assert_eq!(sessions(there.path()).len(), 1);
}

#[test]
fn a_session_that_no_folder_can_hold_does_not_take_the_others_with_it() {
    let (here, there) = (folder(), folder());
    keep(here.path(), STAMP, &[("a", Outcome::Pass)], Some(false));
    let good = from("lab7", &exported(here.path()));
    let long = good.replace("\"case\":\"a\"", &format!("\"case\":\"{}\"", "x".repeat(300)));
    let other = good.replace("\"lab7\"", "\"lab8\"");
    let done = imported(&format!("{long}{other}"), there.path()).expect("good input");
    assert_eq!((done.new.len(), done.refused.len()), (1, 1));
    assert!(done.refused[0].contains(STAMP), "{:?}", done.refused);
}

#[test]
fn names_of_cases_stay_inside_and_requests_are_not_carried_out() {
    let (here, there) = (folder(), folder());
    keep(here.path(), STAMP, &[("a", Outcome::Fail)], Some(false));
    let text = from("lab7", &exported(here.path())).replace("\"case\":\"a\"", "\"case\":\"../../../evil\"");
    let line = r#"{"event": "command-line", "boot": 1, "line": "rm -rf /"}"#;
    let text = text.replacen('\n', &format!("\n{line}\n"), 1);
    imported(&text, there.path()).expect("good input");
    let past = sessions(there.path()).remove(0);
    assert!(past.directory().join("cases/evil.json").is_file());
    assert!(!past.directory().join("qemu.sh").exists());
    let run = format!("{}/evil", past.name());
    let kept = lab::request::kept::KeptRequest { run, sessions: Some(there.path().into()) };
    let error = crate::recall(&kept, &|_| panic!("nobody reads its command")).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("was run on lab7"), "{error}");
    assert!(!crate::shows(there.path(), &past.name(), "evil"), "no bisection counts it");
}

#[test]
fn what_a_kiln_left_that_was_killed_is_removed() {
    let root = folder();
    let dead = root.path().join(format!("{INCOMING}dead"));
    std::fs::create_dir_all(dead.join("session")).expect("writable");
    imported("", root.path()).expect("an empty file");
    assert!(!dead.exists());
}

proptest! {
    #[test]
    fn no_input_panics_or_leaves_anything_outside(lines in prop::collection::vec(any_line(), 0..8)) {
        let (around, text) = (folder(), lines.join("\n"));
        let root = around.path().join("runs");
        let _ = imported(&text, &root);
        let left: Vec<_> = std::fs::read_dir(around.path()).expect("there").flatten().collect();
        prop_assert!(left.iter().all(|entry| entry.path() == root));
        prop_assert!(sessions(&root).iter().all(|past| past.session().is_ok_and(|one| one.origin.is_some())));
    }
}

fn any_line() -> impl Strategy<Value = String> {
    let name = "[a-z./-]{0,4}";
    let session = prop_oneof![Just("2026-11-20T10-00-00Z-7".to_owned()), name];
    let planned = |(session, host, case): (String, String, String)| {
        format!(
            r#"{{"event": "planned", "origin": {{"session": {session:?}, "host": {host:?}}}, "started": "2026-11-20T10:00:00Z",
                "kiln": "0", "locator": "x", "provenance": "x", "release": null, "identity": "x", "machine": "x",
                "suite": "x", "cases": [{case:?}]}}"#
        )
        .replace('\n', " ")
    };
    prop_oneof![
        (session, name, name).prop_map(planned),
        ("[a-c/.]{0,4}", any::<bool>()).prop_map(|(case, is_boot)| {
            let run = judge::Run { case, is_boot, ..judge::Run::unstarted() };
            serde_json::to_string(&Event::Finished(Box::new(run))).expect("JSON")
        }),
        ".{0,20}",
    ]
}
