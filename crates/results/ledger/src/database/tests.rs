use std::fs;
use std::path::Path;

use judge::{Outcome, Run};
use lab::event::{Origin, Session};
use lab::request::{KernelRequest, RunPolicy, Selection};
use lab::{Request, RunRequest};
use proptest::prelude::*;

use super::*;
use crate::database::cells::SessionKey;
use crate::past::tests::{keep, keep_session, session};
use crate::past::{EVENTS, SESSION};
use crate::problem::{Closing, OnKernel, Problem};

fn open(root: &Path) -> Ledger {
    Ledger::open(root, &mut |_, _| {}).expect("a ledger")
}

fn asked(root: &Path, query: &RunsQuery) -> Vec<String> {
    let found = open(root).runs(query).expect("an answer");
    found.runs.iter().map(|run| format!("{} {} {}", run.locator, run.case, run.outcome.name())).collect()
}

/// Two sessions on two kernels.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    let old = [("pipe/full", Outcome::Pass), ("pipe/broken", Outcome::Fail)];
    keep(root.path(), "deb:6.1.0-47-amd64", &old, Some(false));
    let mut new = session("deb:6.12.1-amd64");
    new.started = "2026-11-21T10:00:00Z".parse().expect("a time");
    new.release = Some("6.12.1-amd64".to_owned());
    keep_session(root.path(), new, &[("pipe/full", Outcome::Crash), ("a", Outcome::Skip)], Some(false));
    root
}

#[test]
fn runs_are_found_by_what_they_have_in_common() {
    let root = root();
    let asked = |query: RunsQuery| asked(root.path(), &query);
    let text = |text: &str| Some(text.to_owned());
    let all = asked(RunsQuery::default());
    let new = ["deb:6.12.1-amd64 a skip", "deb:6.12.1-amd64 pipe/full crash"];
    let old = ["deb:6.1.0-47-amd64 pipe/broken fail", "deb:6.1.0-47-amd64 pipe/full pass"];
    assert_eq!(all, [new, old].concat(), "the newest session first");
    assert_eq!(asked(RunsQuery { kernel: text("6.12.1-amd64"), ..RunsQuery::default() }), new);
    assert_eq!(asked(RunsQuery { kernel: text("deb:6.1.*"), ..RunsQuery::default() }), old);
    let query = RunsQuery {
        case: text("pipe/*"),
        outcomes: vec![Outcome::Fail, Outcome::Crash],
        ..RunsQuery::default()
    };
    assert_eq!(asked(query), [new[1], old[0]]);
    let since = Some("2026-11-21T00:00:00Z".parse().expect("a time"));
    assert_eq!(asked(RunsQuery { since, ..RunsQuery::default() }), new);
    let found = open(root.path()).runs(&RunsQuery { limit: Some(1), ..RunsQuery::default() }).expect("found");
    assert_eq!((found.runs.len(), found.total), (1, 4));
}

#[test]
fn a_name_that_no_session_has_was_mistyped() {
    let root = root();
    let mut ledger = open(root.path());
    let mut asks = |kernel: &str, case: &str| {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ledger.runs(&RunsQuery { kernel: text(kernel), case: text(case), ..RunsQuery::default() })
    };
    for (kernel, case, expected) in [
        ("", "pipe/ful", "no session has a case \"pipe/ful\"; did you mean pipe/full?"),
        ("6.12.2-amd64", "", "no session has a kernel \"6.12.2-amd64\"; did you mean 6.12.1-amd64?"),
        ("deb:6.1.*", "pipe/fulll", "did you mean pipe/full?"),
    ] {
        let error = asks(kernel, case).expect_err("no such name");
        assert!(error.is_usage() && error.to_string().contains(expected), "{error}");
    }
    assert_eq!(asks("deb:6.1.*", "a").expect("both are known").total, 0);
    let empty = tempfile::tempdir().expect("a directory");
    let query = RunsQuery { case: Some("x".to_owned()), ..RunsQuery::default() };
    assert_eq!(open(empty.path()).runs(&query).expect("nothing is known").total, 0);
}

#[test]
fn runs_stay_known_when_their_folders_are_gone() {
    let root = root();
    let before = asked(root.path(), &RunsQuery::default());
    for past in crate::sessions(root.path()) {
        fs::remove_dir_all(past.directory()).expect("it is there");
    }
    assert_eq!(asked(root.path(), &RunsQuery::default()), before);
}

#[test]
fn a_session_that_has_not_ended_is_read_again_when_it_has_grown() {
    let root = tempfile::tempdir().expect("a directory");
    let past = keep(root.path(), "deb:x", &[("a", Outcome::Pass)], None);
    let events = past.directory().join(EVENTS);
    for file in [&events, &past.directory().join(SESSION)] {
        let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(9);
        fs::File::options().append(true).open(file).expect("kept").set_modified(earlier).expect("writable");
    }
    assert_eq!(asked(root.path(), &RunsQuery::default()), ["deb:x a pass"]);
    let document = past.directory().join("cases/a.json");
    let text = fs::read_to_string(&document).expect("kept");
    fs::write(&document, text.replace("\"outcome\": \"pass\"", "\"outcome\": \"fail\"")).expect("writable");
    assert_eq!(asked(root.path(), &RunsQuery::default()), ["deb:x a pass"], "no event has said so");
    let now = std::time::SystemTime::now();
    fs::File::options().append(true).open(events).expect("kept").set_modified(now).expect("writable");
    assert_eq!(asked(root.path(), &RunsQuery::default()), ["deb:x a fail"]);
}

#[test]
fn an_end_that_is_written_right_after_the_last_event_is_seen() {
    let root = tempfile::tempdir().expect("a directory");
    let past = keep(root.path(), "deb:x", &[("a", Outcome::Pass)], None);
    let has_ended = || open(root.path()).tallies(Tallied::Newest(1)).expect("known")[0].has_ended;
    assert!(!has_ended());
    let elsewhere = tempfile::tempdir().expect("a directory");
    let ended = keep(elsewhere.path(), "deb:x", &[("a", Outcome::Pass)], Some(false));
    fs::rename(ended.directory().join(SESSION), past.directory().join(SESSION)).expect("writable");
    assert!(has_ended());
}

#[test]
fn what_another_kiln_has_seen_more_of_is_left_alone() {
    let root = tempfile::tempdir().expect("a directory");
    let past = keep(root.path(), "deb:x", &[("a", Outcome::Pass), ("b", Outcome::Fail)], Some(false));
    let mut ledger = open(root.path());
    // As if this one had read the list of sessions before, and its folder goes meanwhile.
    fs::remove_dir_all(past.directory().join("cases")).expect("it is there");
    ledger.take_in_one(&past).expect("nothing is wrong");
    assert_eq!(ledger.runs(&RunsQuery::default()).expect("known").total, 2);
    fs::remove_dir_all(past.directory()).expect("it is there");
    Ledger::keep(root.path(), &past).expect("nothing is wrong");
    assert_eq!(open(root.path()).runs(&RunsQuery::default()).expect("known").total, 2);
    Ledger::forget(root.path(), &past.name());
    assert_eq!(open(root.path()).runs(&RunsQuery::default()).expect("known").total, 0);
}

#[test]
fn of_too_many_runs_those_go_that_nothing_shows_any_more() {
    let root = root();
    let old = crate::sessions(root.path()).into_iter().last().expect("two");
    let mut ledger = open(root.path());
    ledger.keep_within(1).expect("nothing is wrong");
    assert_eq!(ledger.runs(&RunsQuery::default()).expect("known").total, 4, "all folders are there");
    fs::remove_dir_all(old.directory()).expect("it is there");
    ledger.keep_within(4).expect("nothing is wrong");
    assert_eq!(ledger.runs(&RunsQuery::default()).expect("known").total, 4);
    ledger.keep_within(3).expect("nothing is wrong");
    assert_eq!(ledger.runs(&RunsQuery::default()).expect("known").total, 2);
}

#[test]
fn several_kilns_that_meet_damage_lose_nothing_that_the_folders_have() {
    let root = root();
    drop(open(root.path()));
    fs::write(root.path().join(NAME), [0xff; 9000]).expect("writable");
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| asked(root.path(), &RunsQuery::default()))).collect();
        all.into_iter().for_each(|it| assert_eq!(it.join().expect("no panic").len(), 4));
    });
    let aside = fs::read_dir(root.path()).expect("readable").flatten();
    let aside =
        aside.filter(|entry| entry.file_name().to_string_lossy().starts_with("ledger.sqlite.damaged"));
    assert_eq!(aside.count(), 1, "the first of them has set it aside");
}

#[test]
fn a_file_that_cannot_be_written_is_read() {
    let root = root();
    drop(open(root.path()));
    let gone = crate::sessions(root.path()).swap_remove(1);
    fs::remove_dir_all(gone.directory()).expect("it is there");
    let why = sqlite(&root.path().join(NAME))(rusqlite::Error::InvalidQuery);
    let mut ledger = Ledger::in_memory(root.path(), Some(&why), &mut |_, _| {}).expect("read");
    assert_eq!(ledger.runs(&RunsQuery::default()).expect("known").total, 4);
}

#[test]
fn several_kilns_take_in_the_same_sessions() {
    let root = root();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| asked(root.path(), &RunsQuery::default()))).collect();
        all.into_iter().for_each(|it| assert_eq!(it.join().expect("no panic").len(), 4));
    });
}

#[test]
fn a_file_of_a_later_kiln_or_another_program_is_left_alone() {
    let root = root();
    drop(open(root.path()));
    let path = root.path().join(NAME);
    let set = |name: &str, value: i64| {
        Connection::open(&path).and_then(|it| it.pragma_update(None, name, value)).expect("written");
    };
    let error = || Ledger::open(root.path(), &mut |_, _| {}).expect_err("refused").to_string();
    set("user_version", 99);
    assert!(
        error().ends_with("was written by a newer kiln (version 99, this one knows 5): update kiln"),
        "{}",
        error()
    );
    set("application_id", 7);
    assert!(error().ends_with("is a database of another program: move it away"), "{}", error());
}

#[test]
fn what_a_damaged_file_still_holds_is_saved() {
    let root = tempfile::tempdir().expect("a directory");
    let cases: Vec<String> = (0..2000).map(|number| format!("case/{number}")).collect();
    let runs: Vec<(&str, Outcome)> = cases.iter().map(|case| (case.as_str(), Outcome::Pass)).collect();
    let past = keep(root.path(), "deb:gone", &runs, Some(false));
    drop(open(root.path()));
    fs::remove_dir_all(past.directory()).expect("it is there");
    keep(root.path(), "deb:there", &[("a", Outcome::Pass)], Some(false));
    let path = root.path().join(NAME);
    let whole = fs::read(&path).expect("written");
    let middle = whole.len() / 2;
    let spoilt = [&whole[..middle], &[0xff; 8192], &whole[middle + 8192..]].concat();
    for (content, least) in
        [(&spoilt[..], 500), (b"no database at all, but long enough to be looked at", 1), (b"", 1)]
    {
        fs::write(&path, content).expect("writable");
        let mut ledger = open(root.path());
        let total = ledger.runs(&RunsQuery::default()).map_or(0, |found| found.total);
        assert!(total >= least, "{total} of {least}: {:?}", ledger.notes);
        let is_said = |note: &String| {
            // The Runs that are not in a folder.
            note.contains("is damaged, and now ledger.sqlite.damaged-")
                && note.contains(&format!("; {} Runs", total - 1))
        };
        let is_said = ledger.notes.iter().any(is_said);
        assert!(is_said || content.is_empty(), "{:?}", ledger.notes);
    }
}

#[test]
fn where_no_file_can_be_the_folders_are_read() {
    let root = root();
    fs::create_dir(root.path().join(NAME)).expect("in the way");
    let mut ledger = open(root.path());
    assert_eq!(ledger.runs(&RunsQuery::default()).expect("read").total, 4);
    assert!(ledger.notes[0].ends_with("what is new in the folders is read each time"), "{:?}", ledger.notes);
    let nowhere = root.path().join("nowhere");
    let mut ledger = open(&nowhere);
    assert_eq!((ledger.runs(&RunsQuery::default()).expect("empty").total, ledger.notes.len()), (0, 0));
    assert!(!nowhere.exists());
}

#[test]
fn any_text_is_a_pattern() {
    let root = root();
    let known = std::cell::RefCell::new(open(root.path()));
    proptest!(|(text in "\\PC{0,12}|[*?\\[\\]'\"%_\\\\;-]{0,12}")| {
        let query = RunsQuery { case: Some(text.clone()), kernel: Some(text), ..RunsQuery::default() };
        let found = known.borrow_mut().runs(&query);
        prop_assert!(found.as_ref().is_ok_and(|found| found.total <= 4) || found.is_err_and(|error| error.is_usage()));
    });
}

/// A session on this kernel that began at this hour.
fn on_kernel(root: &Path, release: &str, hour: u32, runs: &[(&str, Outcome)]) {
    let mut session = session(&format!("deb:{release}"));
    session.started = format!("2026-11-21T{hour:02}:00:00Z").parse().expect("a time");
    session.release = Some(release.to_owned());
    session.kernel = session.locator.clone();
    keep_session(root, session, runs, Some(false));
}

#[test]
fn failures_that_are_alike_are_one_problem() {
    let root = tempfile::tempdir().expect("a directory");
    let on = |release, hour, runs: &[(&str, Outcome)]| on_kernel(root.path(), release, hour, runs);
    on("6.1.0-47-amd64", 1, &[("a", Outcome::Fail), ("b", Outcome::Pass)]);
    on("6.1.0-40-amd64", 2, &[("a", Outcome::Pass), ("b", Outcome::Broken)]);
    on("6.1.0-47-amd64", 3, &[("a", Outcome::Pass), ("b", Outcome::Skip)]);
    on("6.1.0-50-amd64", 4, &[("a", Outcome::Fail), ("b", Outcome::Crash)]);
    let mut ledger = open(root.path());
    let problems = ledger.problems().expect("an answer");
    let [crash, fail] = &problems[..] else { panic!("{problems:#?}") };
    let (crash, fail) = if crash.signature.contains("crash") { (crash, fail) } else { (fail, crash) };
    assert_eq!((fail.signature.as_str(), fail.failures, fail.id.len()), ("a: fail: ", 2, 12));
    assert_eq!(
        (fail.first.release.as_str(), fail.last.release.as_str()),
        ("6.1.0-47-amd64", "6.1.0-50-amd64")
    );
    let kernels = |problem: &Problem| {
        let one = |on: &OnKernel| format!("{} {} of {}", on.release, on.failing, on.sessions);
        problem.kernels.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(kernels(fail), ["6.1.0-40-amd64 0 of 1", "6.1.0-47-amd64 1 of 2", "6.1.0-50-amd64 1 of 1"]);
    assert_eq!(
        kernels(crash),
        ["6.1.0-47-amd64 0 of 1", "6.1.0-50-amd64 1 of 1"],
        "skip and broken say nothing"
    );
}

#[test]
fn builds_of_one_release_are_told_apart_by_their_commits() {
    let root = tempfile::tempdir().expect("a directory");
    let built = |commit: &str, hour: u32, outcome, origin: Option<&str>| {
        let mut session = session("git:linux@HEAD");
        session.started = format!("2026-11-21T{hour:02}:00:00Z").parse().expect("a time");
        session.release = Some("6.12.0".to_owned());
        session.commit = Some(kernel::Commit { tree: "/made-up/linux".into(), hash: commit.repeat(10) });
        session.origin =
            origin.map(|host| Origin { host: host.to_owned(), session: "2026-11-21T00-00-00Z".to_owned() });
        keep_session(root.path(), session, &[("a", outcome)], Some(false));
    };
    built("beef", 1, Outcome::Fail, Some("elsewhere"));
    built("beef", 2, Outcome::Fail, None);
    built("cafe", 3, Outcome::Pass, Some("elsewhere"));
    let problems = open(root.path()).problems().expect("an answer");
    let [problem] = &problems[..] else { panic!("{problems:#?}") };
    assert_eq!(problem.last.release, "6.12.0 (beefbeefbeef)");
    let kernel = |on: &OnKernel| {
        let tree = on.source.as_ref().and_then(|source| source.tree.as_ref());
        format!("{} {} of {} {}", on.release, on.failing, on.sessions, tree.is_some())
    };
    let kernels: Vec<String> = problem.kernels.iter().map(kernel).collect();
    let expected = ["6.12.0 (beefbeefbeef) 2 of 2 true", "6.12.0 (cafecafecafe) 0 of 1 false"];
    assert_eq!(kernels, expected, "no folder is opened that another host names");
}

#[test]
fn a_boot_that_went_well_counts_though_nothing_records_it() {
    let root = tempfile::tempdir().expect("a directory");
    on_kernel(root.path(), "6.1.0-47-amd64", 1, &[("boot", Outcome::Crash)]);
    on_kernel(root.path(), "6.1.0-50-amd64", 2, &[("a", Outcome::Pass)]);
    let problems = open(root.path()).problems().expect("an answer");
    let [problem] = &problems[..] else { panic!("{problems:#?}") };
    let sessions: Vec<_> = problem.kernels.iter().map(|on| (on.failing, on.sessions)).collect();
    assert_eq!((problem.signature.as_str(), sessions), ("the boot: crash: ", vec![(1, 1), (0, 1)]));
}

#[test]
fn a_users_word_on_a_problem_stays_when_all_is_damaged_but_that() {
    let root = root();
    let mut ledger = open(root.path());
    let problem = ledger.problems().expect("an answer").swap_remove(0);
    let closing = Closing { closed: "2026-11-22T10:00:00Z".parse().expect("a time"), was_gone: true };
    ledger.close(&problem, closing).expect("written");
    let known = |ledger: &mut Ledger| {
        let all = ledger.problems().expect("an answer");
        all.into_iter().find(|one| one.id == problem.id).expect("known").closing
    };
    assert_eq!(known(&mut ledger), Some(closing));
    drop(ledger);
    let path = root.path().join(NAME);
    let connection = Connection::open(&path).expect("a database");
    connection.pragma_update(None, "journal_mode", "DELETE").expect("alone");
    let number = |query: &str| {
        let number = connection.query_row(query, [], |row| row.get::<_, u32>(0)).expect("a number");
        usize::try_from(number).expect("small")
    };
    let page = number("SELECT rootpage FROM sqlite_schema WHERE name = 'run'");
    let size = number("PRAGMA page_size");
    drop(connection);
    let mut bytes = fs::read(&path).expect("written");
    bytes[(page - 1) * size..page * size].fill(0xff);
    fs::write(&path, bytes).expect("writable");
    let mut ledger = open(root.path());
    assert_eq!(known(&mut ledger), Some(closing));
    ledger.reopen(&problem).expect("written");
    assert_eq!(known(&mut ledger), None);
}

#[test]
fn a_ledger_of_the_first_version_is_read_again() {
    let root = root();
    drop(open(root.path()));
    let gone = crate::sessions(root.path()).swap_remove(1);
    let path = root.path().join(NAME);
    let connection = Connection::open(&path).expect("a database");
    connection
        .execute_batch(
            "DROP INDEX session_by_identity; DROP INDEX run_by_signature; DROP TABLE closing; ALTER TABLE session DROP COLUMN parameters; ALTER TABLE session DROP COLUMN setup; ALTER TABLE session DROP COLUMN origin; ALTER TABLE session DROP COLUMN policy; ALTER TABLE session DROP COLUMN commit_hash; ALTER TABLE session DROP COLUMN tree; ALTER TABLE session DROP COLUMN build; UPDATE run SET signature = 'is #'; PRAGMA user_version = 1",
        )
        .expect("as it was");
    drop(connection);
    fs::remove_dir_all(gone.directory()).expect("it is there");
    let problems = open(root.path()).problems().expect("an answer");
    let mut signatures: Vec<_> = problems.iter().map(|problem| problem.signature.as_str()).collect();
    signatures.sort_unstable();
    assert_eq!(signatures, ["pipe/broken: fail: is #", "pipe/full: crash: "]);
}

#[test]
fn nothing_is_noted_where_nothing_can_be_written() {
    let root = root();
    let mut ledger = Ledger::in_memory(root.path(), None, &mut |_, _| {}).expect("read");
    let problem = ledger.problems().expect("an answer").swap_remove(0);
    let error = ledger.reopen(&problem).expect_err("refused").to_string();
    assert!(error.ends_with("cannot be written, so that nothing can be noted there"), "{error}");
}

/// A session of a run that needs so many CPUs on a kernel of this identity, at this hour.
fn asked_of(root: &Path, identity: &str, cpus: u32, hour: u32, runs: &[(&str, Outcome)]) -> Session {
    let request = format!(
        r#"{{"version": 1, "kernel": {{"locator": "host"}}, "needs": [{{"cpus": {cpus}}}],
             "cases": {{"suite": {{"suite": "x", "patterns": []}}}}}}"#
    );
    let mut session = session("deb:6.1.0-47-amd64");
    session.started = format!("2026-11-21T{hour:02}:00:00Z").parse().expect("a time");
    session.identity = identity.to_owned();
    session.request = Some(Request::Run(serde_json::from_str(&request).expect("a request")));
    keep_session(root, session.clone(), runs, Some(false));
    session
}

#[test]
fn only_sessions_that_answer_the_same_question_have_a_case() {
    let root = tempfile::tempdir().expect("a directory");
    let on =
        |identity, cpus, hour, runs: &[(&str, Outcome)]| asked_of(root.path(), identity, cpus, hour, runs);
    let session = on("k", 1, 1, &[("a", Outcome::Fail), ("b", Outcome::Pass)]);
    on("k", 1, 2, &[("a", Outcome::Pass), ("c", Outcome::Broken)]);
    on("rebuilt", 1, 3, &[("a", Outcome::Crash), ("c", Outcome::Pass)]);
    on("k", 2, 4, &[("a", Outcome::Crash), ("c", Outcome::Pass)]);
    let mut ledger = open(root.path());
    let key = SessionKey::of(&session).expect("it runs cases");
    let latest = ledger.latest(&key).expect("an answer");
    let mut lines: Vec<String> =
        latest.iter().map(|run| format!("{} {}", run.case, run.outcome.name())).collect();
    lines.sort();
    assert_eq!(lines, ["a pass", "b pass", "c broken"], "the latest of each");
    let mut has = |cases: &[&str]| {
        let cases: Vec<String> = cases.iter().map(|&case| case.to_owned()).collect();
        ledger.has(&key, &cases).expect("an answer")
    };
    assert!(has(&["a", "b"]) && !has(&["a", "d"]));
    let Some(Request::Run(request)) = &session.request else { panic!("it runs cases") };
    let newest = ledger.newest("deb:6.1.0-47-amd64", "x", &request.setup()).expect("an answer");
    assert_eq!(newest, SessionKey::of(&on("rebuilt", 1, 5, &[])));
    assert_eq!(ledger.newest("deb:none", "x", &request.setup()).expect("an answer"), None);
}

#[test]
fn a_session_that_did_what_its_policy_asks_is_found() {
    let root = tempfile::tempdir().expect("a directory");
    let asked = |policy: &RunPolicy, hour, outcome, interrupted| {
        let mut session = session("deb:6.1.0-47-amd64");
        let host = KernelRequest::named("host".parse().expect("a locator"));
        let mut request = RunRequest::new(host, Selection::default());
        request.policy = policy.clone();
        session.started = format!("2026-11-21T{hour:02}:00:00Z").parse().expect("a time");
        session.request = Some(Request::Run(Box::new(request)));
        let past = keep_session(root.path(), session.clone(), &[("a", outcome)], Some(interrupted));
        (SessionKey::of(&session).expect("it runs cases"), past.name())
    };
    let boot = |first_boot| RunPolicy { repeat: Some(2), boots: Some(1), first_boot, ..RunPolicy::default() };
    let (key, first) = asked(&boot(0), 1, Outcome::Fail, false);
    asked(&boot(1), 2, Outcome::Pass, true);
    let mut ledger = open(root.path());
    let mut found = |policy: &RunPolicy| {
        ledger.refresh().expect("readable");
        ledger.carried_out(&key, policy).expect("an answer").map(|past| past.name())
    };
    assert_eq!(found(&RunPolicy { jobs: Some(7), ..boot(0) }), Some(first));
    assert_eq!(found(&boot(1)), None, "it was interrupted");
    assert_eq!(found(&RunPolicy { repeat: Some(3), ..boot(0) }), None);
    let (_, again) = asked(&boot(0), 3, Outcome::Pass, false);
    assert_eq!(found(&boot(0)), Some(again.clone()), "the newest");
    std::fs::remove_dir_all(root.path().join(again)).expect("it is there");
    assert!(found(&boot(0)).is_some(), "the folder of the newest is gone");
}

#[test]
fn what_the_host_broke_is_missing_and_a_kernel_that_does_not_come_up_is_not() {
    let root = tempfile::tempdir().expect("a directory");
    let session = asked_of(root.path(), "k", 1, 1, &[("a", Outcome::Broken)]);
    let key = SessionKey::of(&session).expect("it runs cases");
    let has = || open(root.path()).has(&key, &["a".to_owned()]).expect("an answer");
    assert!(has(), "the case itself is broken");
    let past = crate::sessions(root.path()).swap_remove(0);
    let document = past.directory().join("cases/a.json");
    let mut run = past.run("a").expect("kept");
    run.blame = Some(judge::Blame::Host);
    fs::write(&document, serde_json::to_vec(&run).expect("JSON")).expect("writable");
    fs::remove_file(root.path().join(NAME)).expect("it is there");
    assert!(!has());
    asked_of(root.path(), "k", 1, 2, &[("boot", Outcome::Fail)]);
    assert!(!has(), "it came up, with a warning");
    asked_of(root.path(), "k", 1, 3, &[("boot", Outcome::Crash)]);
    assert!(has());
}

#[test]
fn what_the_host_broke_hides_no_run_that_says_something() {
    let root = tempfile::tempdir().expect("a directory");
    asked_of(root.path(), "k", 1, 1, &[("a", Outcome::Pass)]);
    let session = asked_of(root.path(), "k", 1, 2, &[("a", Outcome::Broken)]);
    let key = SessionKey::of(&session).expect("it runs cases");
    let past = crate::sessions(root.path()).swap_remove(0);
    let run = Run { blame: Some(judge::Blame::Host), ..past.run("a").expect("kept") };
    fs::write(past.directory().join("cases/a.json"), serde_json::to_vec(&run).expect("JSON"))
        .expect("writable");
    let latest = open(root.path()).latest(&key).expect("an answer");
    assert_eq!(latest.iter().map(|run| run.outcome).collect::<Vec<_>>(), [Outcome::Pass]);
}
