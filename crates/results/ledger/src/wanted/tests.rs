use super::*;
use crate::past::tests::{keep, keep_session, session};
use judge::Outcome::{Broken, Fail, Pass, Skip};
use lab::event::Session;

fn case(root: &Path, text: &str) -> String {
    find(root, text).map_or_else(|error| error.to_string(), |wanted| wanted.run.case)
}

#[test]
fn a_run_is_named_by_session_and_case() {
    let root = tempfile::tempdir().expect("a directory");
    let root = root.path();
    keep(root, "2026-11-20T10", &[("pipe/full", Pass), ("a", Fail)], None);
    let past = keep(root, "2026-11-21T10", &[("pipe/full", Fail), ("a", Pass)], None);
    let path = past.directory().display().to_string();
    for text in ["last/a", "2026-11-21/a", &format!("{}/a", past.name()), &format!("{path}/a")] {
        let wanted = find(root, text).expect("it is there");
        assert_eq!((wanted.past.name(), wanted.run.outcome), (past.name(), Pass), "{text}");
    }
    assert_eq!(case(root, &format!("{path}/cases/pipe/full.json")), "pipe/full");
    assert_eq!(case(root, "last/pipe/full"), "pipe/full");
    assert!(case(root, "2026/a").starts_with("\"2026\" names several sessions: 2026-11-21"));
    assert!(case(root, "1999/a").starts_with("no session \"1999\" in "));
    assert!(case(root, "last/no/such").ends_with("has no Run of \"no/such\""));
}

#[test]
fn without_a_case_it_is_the_only_one_that_failed() {
    let root = tempfile::tempdir().expect("a directory");
    let root = root.path();
    assert!(case(root, "last").starts_with("no session \"last\""));
    let past = keep(root, "1", &[("a", Pass), ("b", Broken), ("c", Skip)], None);
    assert_eq!(case(root, "last"), "b");
    assert_eq!(case(root, "1"), "b");
    assert_eq!(case(root, &past.directory().display().to_string()), "b");
    keep(root, "2", &[("a", Pass), ("b", Pass)], None);
    assert_eq!(case(root, "last"), "b", "the last session with a failure");
    assert!(case(root, "2").starts_with("nothing failed in session 2-"));
    keep(root, "4", &[("alone", Pass)], None);
    assert_eq!(case(root, "4"), "alone");
    keep(root, "3", &[("a", Fail), ("b", Broken)], None);
    assert!(case(root, "last").ends_with("name one: a, b"), "{}", case(root, "last"));
}

#[test]
fn a_session_whose_only_case_has_no_run_says_why() {
    let root = tempfile::tempdir().expect("a directory");
    let root = root.path();
    let session = Session { cases: vec!["exp/dock".to_string()], ..session("1") };
    let past = keep_session(root, session, &[], Some(true));
    assert!(case(root, "1").ends_with("has no Run of \"exp/dock\""), "{}", case(root, "1"));
    let document = past.directory().join("cases/exp/dock.json");
    std::fs::create_dir_all(document.parent().expect("a folder")).expect("writable");
    std::fs::write(document, "{half").expect("writable");
    assert!(case(root, "1").contains("exp/dock.json: is not a document of kiln: "), "{}", case(root, "1"));
}

#[test]
fn a_document_elsewhere_belongs_to_no_session() {
    let root = tempfile::tempdir().expect("a directory");
    let past = keep(root.path(), "1", &[("a", Fail)], None);
    let copy = root.path().join("copy.json");
    std::fs::copy(past.directory().join("cases/a.json"), &copy).expect("writable");
    let text = case(root.path(), copy.to_str().expect("a path"));
    assert!(text.ends_with("copy.json: is not in the folder of a session"), "{text}");
    let archive = root.path().join("bug.tar.zst");
    std::fs::write(&archive, "").expect("writable");
    let text = case(root.path(), archive.to_str().expect("a path"));
    assert!(
        text.ends_with("bug.tar.zst: is not in the folder of a session: unpack a bundle first"),
        "{text}"
    );
    std::fs::create_dir(root.path().join("bug")).expect("writable");
    let text = case(root.path(), root.path().join("bug").to_str().expect("a path"));
    assert!(text.ends_with("bug: is not the folder of a session: it has no session.json"), "{text}");
}
