use judge::Outcome::{Fail, Pass};

use super::*;
use crate::past::sessions;
use crate::past::tests::keep;
use crate::{RunsQuery, find};

/// Two sessions; what shows the failure of the first is kept, and the folders of both are gone.
fn place() -> (tempfile::TempDir, String) {
    let root = tempfile::tempdir().expect("a directory");
    let failed = keep(root.path(), "2026-01-01T00-00-00Z", &[("a/b", Fail), ("good", Pass)], Some(false));
    fs::create_dir(failed.directory().join("program")).expect("writable");
    fs::write(failed.directory().join("program/it"), "#!/bin/sh\n").expect("writable");
    fs::set_permissions(failed.directory().join("program/it"), Permissions::from_mode(0o755)).expect("ours");
    fs::write(failed.directory().join("cases/a/b.console"), "panic\n").expect("writable");
    fs::write(failed.directory().join("cases/a/b.vmcore"), "large").expect("writable");
    let well = keep(root.path(), "2026-01-02T00-00-00Z", &[("good", Pass)], Some(false));
    for past in [&failed, &well] {
        Ledger::keep(root.path(), past).expect("room");
        fs::remove_dir_all(past.directory()).expect("it is there");
    }
    (root, failed.name())
}

fn open(root: &Path) -> Ledger {
    Ledger::open(root, &mut |_, _| {}).expect("a ledger")
}

#[test]
fn a_failure_is_shown_after_its_folder_has_gone() {
    let (root, name) = place();
    assert_eq!(open(root.path()).evidence().expect("an answer").sessions, 1);
    for _ in 0..2 {
        let wanted = find(root.path(), &format!("{name}/a/b")).expect("it was kept");
        assert_eq!(wanted.run.outcome, Fail);
        let folder = wanted.past.directory();
        let read = |path: &str| fs::read_to_string(folder.join(path)).ok();
        assert_eq!(read("cases/a/b.console").as_deref(), Some("panic\n"));
        let mode = folder.join("program/it").metadata().expect("kept").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!([read("cases/good.json"), read("cases/a/b.vmcore"), read(EVENTS)], [None, None, None]);
        let runs = open(root.path()).runs(&RunsQuery::default()).expect("an answer");
        assert_eq!(runs.total, 3, "what is known of the good ones stays known");
        Ledger::keep(root.path(), &wanted.past).expect("room");
        fs::remove_dir_all(folder).expect("it is there");
    }
    assert!(find(root.path(), &name[..10]).is_ok(), "the beginning of a name is enough");
    let other = find(root.path(), "2026-01-02T00-00-00Z/good").unwrap_err().to_string();
    assert!(other.contains("no session"), "{other}");
}

#[test]
fn what_is_damaged_is_found_and_what_is_nobodys_goes() {
    let (root, name) = place();
    let mut ledger = open(root.path());
    assert_eq!(ledger.verify_evidence(&mut |_, _| {}).expect("an answer"), [""; 0]);
    let artefacts = Artefacts::beside(root.path());
    let lock = artefacts.lock().expect("room");
    let nobodys = artefacts.add(b"left by a kiln that was killed", &lock).expect("room");
    drop(lock);
    assert!(ledger.prune_evidence().expect("an answer") > 0 && artefacts.read(&nobodys).is_err());
    let select = "SELECT hash FROM artefact WHERE path LIKE '%.console'";
    let console: String = ledger.connection.query_row(select, [], |row| row.get(0)).expect("kept");
    let damaged = root.path().join("artefacts").join(&console[..2]).join(&console);
    fs::write(&damaged, "garbage").expect("writable");
    assert_eq!(ledger.verify_evidence(&mut |_, _| {}).expect("an answer"), [console]);
    assert!(!damaged.exists());
    let wanted = find(root.path(), &format!("{name}/a/b")).expect("the rest is there");
    assert!(!wanted.past.directory().join("cases/a/b.console").exists());
}

#[test]
fn the_oldest_goes_first_where_there_is_no_room() {
    let (root, old) = place();
    let new = keep(root.path(), "2026-02-01T00-00-00Z", &[("c", Fail)], Some(false));
    Ledger::keep(root.path(), &new).expect("room");
    fs::remove_dir_all(new.directory()).expect("it is there");
    let ledger = open(root.path());
    let set = |name: &str, started: i64| {
        let update = "UPDATE session SET started = ?2 WHERE name = ?1";
        ledger.connection.execute(update, params![name, started]).expect("written");
    };
    set(&old, 1);
    set(&new.name(), 2);
    let artefacts = Artefacts::beside(root.path());
    let lock = artefacts.lock().expect("room");
    let all: u64 = artefacts.all().iter().map(|(_, size)| size).sum();
    assert!(ledger.keep_evidence_within(&artefacts, &lock, all - 1).expect("an answer") > 0);
    drop(lock);
    assert!(find(root.path(), &format!("{}/c", new.name())).is_ok());
    assert!(find(root.path(), &old).is_err());
}

#[test]
fn a_file_of_a_stranger_writes_nothing_outside() {
    let (root, name) = place();
    let ledger = open(root.path());
    let update = "UPDATE artefact SET path = '../../evil' WHERE path LIKE '%.console'";
    assert_eq!(ledger.connection.execute(update, []).expect("written"), 1);
    assert!(find(root.path(), &name).is_err());
    assert!(sessions(root.path()).is_empty());
    let left = fs::read_dir(root.path()).expect("there").flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(HALF)));
    for (path, is_inside) in [("a/b", true), ("", false), ("/a", false), ("a/../b", false), ("..", false)] {
        assert_eq!(inside(path).is_some(), is_inside, "{path}");
    }
}
