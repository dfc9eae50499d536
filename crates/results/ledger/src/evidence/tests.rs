use judge::Outcome::{Fail, Pass};
use judge::run::Repeat;
use lab::event::{Origin, Session};
use lab::{Event, Listener};

use super::*;
use crate::past::sessions;
use crate::past::tests::{keep, keep_session, session};
use crate::{Recorder, find};

/// A session with a failure whose folder is gone.
fn place() -> (tempfile::TempDir, String) {
    let root = tempfile::tempdir().expect("a directory");
    let failed = keep(root.path(), "2026-01-01T00-00-00Z", &[("a/b", Fail), ("good", Pass)], Some(false));
    fs::create_dir(failed.directory().join("program")).expect("writable");
    fs::write(failed.directory().join("program/it"), "#!/bin/sh\n").expect("writable");
    fs::write(failed.directory().join("cases/a/b.console"), "panic\n").expect("writable");
    fs::write(failed.directory().join("cases/a/b.vmcore"), "large").expect("writable");
    gone(root.path(), &failed);
    (root, failed.name())
}

fn gone(root: &Path, past: &Past) {
    Evidence::of(root).keep(past).expect("room");
    fs::remove_dir_all(past.directory()).expect("it is there");
}

#[test]
fn a_failure_is_shown_after_its_folder_has_gone() {
    let (root, name) = place();
    for _ in 0..2 {
        let wanted = find(root.path(), &format!("{name}/a/b")).expect("it was kept");
        assert_eq!((wanted.run.outcome, wanted.past.is_own()), (Fail, true));
        let folder = wanted.past.directory();
        let read = |path: &str| fs::read_to_string(folder.join(path)).ok();
        assert_eq!(read("cases/a/b.console").as_deref(), Some("panic\n"));
        let mode = |path: &str| folder.join(path).metadata().expect("kept").permissions().mode() & 0o7777;
        assert_eq!((mode("program/it"), mode("cases/a/b.json")), (0o755, 0o644));
        assert_eq!([read("cases/good.json"), read("cases/a/b.vmcore"), read(EVENTS)], [None, None, None]);
        gone(root.path(), &wanted.past);
    }
    assert!(find(root.path(), &name[..10]).is_ok(), "the beginning of a name is enough");
    assert_eq!(Evidence::of(root.path()).usage().sessions, 1);
}

#[test]
fn what_passed_and_what_others_ran_is_not_kept() {
    let root = tempfile::tempdir().expect("a directory");
    gone(root.path(), &keep(root.path(), "2026", &[("good", Pass)], Some(false)));
    let origin = Some(Origin { host: "lab7".to_owned(), session: "2027-1".to_owned() });
    let foreign = Session { origin, ..session("2027") };
    gone(root.path(), &keep_session(root.path(), foreign, &[("a", Fail)], Some(false)));
    assert_eq!(Evidence::of(root.path()).usage().sessions, 0);
    let mut recorder = Recorder::create(root.path(), "2028").expect("room");
    recorder.on_event(&Event::Planned(Box::new(session("2028"))));
    let run = |case: &str, outcome, clone| Run { case: case.into(), outcome, clone, ..Run::unstarted() };
    for clone in 1..5 {
        recorder.on_event(&Event::Repeated(Box::new(run("a", Pass, clone))));
    }
    let repeat = |outcome| Repeat {
        outcome,
        reason: String::new(),
        duration: std::time::Duration::ZERO,
        boot: 1,
        clone: 1,
        seed: 1,
    };
    recorder.on_event(&Event::Finished(Box::new(Run { repeats: vec![repeat(Pass)], ..run("a", Pass, 1) })));
    recorder.on_event(&Event::Finished(Box::new(run("z", Fail, 9))));
    let past = Past::open(recorder.directory()).expect("kept");
    let cases: Vec<PathBuf> = telling(&past).into_iter().filter(|path| path.starts_with(CASES)).collect();
    assert_eq!(cases, [Path::new("cases/z.json")], "good repeats show nothing");
}

#[test]
fn what_is_damaged_is_found_and_what_is_nobodys_goes() {
    let (root, name) = place();
    let evidence = Evidence::of(root.path());
    let verify = || evidence.verify(&mut |_, _| {}).expect("an answer");
    assert_eq!(verify(), [""; 0]);
    let lock = evidence.artefacts.lock().expect("room");
    let nobodys = evidence.artefacts.add(b"left by a kiln that was killed", &lock).expect("room");
    drop(lock);
    assert!(evidence.prune().expect("room") > 0 && evidence.artefacts.read(&nobodys).is_err());
    let of = |path: &str| evidence.listed(&name).expect("a list").into_iter().find(|file| file.path == path);
    let damage = |path: &str| {
        let hash = of(path).expect("it is listed").hash;
        fs::write(evidence.folder().join(&hash[..2]).join(&hash), "garbage").expect("writable");
    };
    damage("cases/a/b.console");
    for _ in 0..2 {
        assert_eq!(verify(), [format!("{name}/cases/a/b.console: is damaged or missing")]);
    }
    let wanted = find(root.path(), &format!("{name}/a/b")).expect("the rest is there");
    assert!(!wanted.past.directory().join("cases/a/b.console").exists());
    fs::remove_dir_all(wanted.past.directory()).expect("it is there");
    damage("session.json");
    assert!(find(root.path(), &name).is_err() && sessions(root.path()).is_empty());
    assert!(!root.path().join(&name).exists(), "half a session is none");
}

#[test]
fn the_oldest_goes_first_where_there_is_no_room() {
    let (root, old) = place();
    let new = keep(root.path(), "2026-02-01T00-00-00Z", &[("c", Fail)], Some(false));
    gone(root.path(), &new);
    let evidence = Evidence::of(root.path());
    let all = evidence.usage().bytes;
    assert!(evidence.keep_within(all - 1).expect("room") > 0);
    assert!(find(root.path(), &format!("{}/c", new.name())).is_ok());
    assert!(find(root.path(), &old).is_err());
    assert_eq!(Evidence::of(&root.path().join("nowhere")).prune().expect("nothing"), 0);
}

#[test]
fn a_list_of_a_stranger_writes_nothing_outside() {
    let (root, name) = place();
    let evidence = Evidence::of(root.path());
    let mut all = evidence.listed(&name).expect("a list");
    all.iter_mut()
        .filter(|file| file.path.ends_with("console"))
        .for_each(|file| file.path = "../../evil".into());
    document::write(&evidence.list(&name), &all).expect("writable");
    assert!(find(root.path(), &name).is_err() && sessions(root.path()).is_empty());
    let left = fs::read_dir(root.path()).expect("there").flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(HALF)));
    for (path, is_inside) in [("a/b", true), ("", false), ("/a", false), ("a/../b", false), ("..", false)] {
        assert_eq!(inside(path).is_some(), is_inside, "{path}");
    }
}

#[test]
fn the_exact_name_is_found_before_one_that_begins_so() {
    let (root, name) = place();
    let longer = root.path().join(format!("{name}.2"));
    let other = keep(root.path(), "2027", &[("x", Fail)], Some(false));
    fs::rename(other.directory(), &longer).expect("the same disk");
    assert_eq!(find(root.path(), &format!("{name}/a/b")).expect("it was kept").past.name(), name);
}
