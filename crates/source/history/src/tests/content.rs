use super::*;

#[test]
fn files_of_a_commit_are_read_and_listed() {
    let place = Place::new();
    let first = place.commit("a/b", "one\n", "first");
    place.commit("a/c d", "two\n", "second");
    place.commit("a/b", "three\n", "third");
    let read = |commit: &str, path: &str| {
        place.with(|context| file(&place.tree(), commit, path, context)).expect("a repository")
    };
    assert_eq!(read(&first, "a/b").as_deref(), Some("one\n"));
    assert_eq!(read("HEAD", "a/b").as_deref(), Some("three\n"));
    assert_eq!([read(&first, "a/c d"), read("HEAD", "a")], [None, None]);
    let listed = |commit: &str, folder: &str| {
        place.with(|context| files_below(&place.tree(), commit, folder, context))
    };
    assert_eq!(listed(&first, "a/").expect("a commit"), ["a/b"]);
    assert_eq!(listed("HEAD", "a/").expect("a commit"), ["a/b", "a/c d"]);
    assert_eq!(listed("HEAD", "none/").expect("a commit"), [""; 0]);
    assert!(listed("nothing", "a/").is_err());
}
