//! Many objects, from one git.

use super::*;
use crate::objects::{Object, Objects};

fn all(mut objects: Objects<'_>) -> Vec<Option<Object>> {
    let mut found = Vec::new();
    while let Some(object) = objects.read().unwrap() {
        found.push(object);
    }
    found
}

fn text(object: &Option<Object>) -> Option<&str> {
    object.as_ref()?.content.as_deref().map(|content| std::str::from_utf8(content).unwrap())
}

#[test]
fn each_commit_gives_what_it_has_at_a_path() {
    let place = Place::new();
    place.commit("m", "one", "1");
    place.commit("m", "two", "2");
    place.git(&["mv", "m", "d"]);
    place.commit("d", "three", "3");
    let objects = Objects::of_log("%H:m", &place.tree(), 100, &NEVER).unwrap();
    let found = all(objects);
    assert_eq!(found.iter().map(text).collect::<Vec<_>>(), [None, Some("two"), Some("one")]);
    let hashes: Vec<&str> = found.iter().flatten().map(|object| object.hash.as_str()).collect();
    let again = all(Objects::named(hashes, &place.tree(), 100, &NEVER).unwrap());
    assert_eq!(again, found[1..]);
}

#[test]
fn large_objects_are_passed_over() {
    let place = Place::new();
    place.commit("m", &"x".repeat(200_000), "1");
    place.commit("m", "small", "2");
    let found = all(Objects::of_log("%H:m", &place.tree(), 100, &NEVER).unwrap());
    assert_eq!(found.len(), 2);
    assert_eq!(text(&found[0]), Some("small"));
    assert!(found[1].as_ref().is_some_and(|object| object.content.is_none()));
}

#[test]
fn what_has_no_commits_is_an_error() {
    let place = Place::new();
    for tree in [place.tree(), place.beside("store")] {
        fs::create_dir_all(&tree).unwrap();
        let mut objects = Objects::of_log("%H:m", &tree, 100, &NEVER).unwrap();
        let error = objects.read().unwrap_err();
        assert!(error.to_string().contains("no commits"), "{error}");
    }
    assert!(Objects::of_log("%H", &place.beside("nowhere"), 100, &NEVER).is_err());
}

#[test]
fn a_git_that_still_writes_ends_with_its_reader() {
    let place = Place::new();
    for number in 0..3 {
        place.commit("m", &format!("{number}").repeat(1 << 20), "large");
    }
    let mut objects = Objects::of_log("%H:m", &place.tree(), 4 << 20, &NEVER).unwrap();
    assert!(objects.read().unwrap().is_some());
    let git = objects.git.id();
    drop(objects);
    assert!(!PathBuf::from(format!("/proc/{git}")).exists());
}
