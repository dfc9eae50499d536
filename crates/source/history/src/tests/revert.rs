use super::*;

/// A file of ten lines, of which some are others.
fn lines(changed: &[(usize, &str)]) -> String {
    let line = |number| changed.iter().find(|(at, _)| *at == number).map(|(_, text)| (*text).to_owned());
    (0..10).map(|number| line(number).unwrap_or_else(|| format!("line {number}")) + "\n").collect()
}

#[test]
fn a_change_is_taken_back_below_later_ones() {
    let place = Place::new();
    place.commit("file", &lines(&[]), "base");
    let culprit = place.commit("file", &lines(&[(1, "bad")]), "mm: break \"it\"");
    place.commit("file", &lines(&[(1, "bad"), (8, "later")]), "later");
    let onto = place.git(&["rev-parse", "HEAD"]);
    let made = place.revert(&culprit, "HEAD").unwrap();
    assert_eq!(place.content(&made, "file"), lines(&[(8, "later")]));
    assert_eq!(place.revert(&culprit[..12], "main"), Some(made.clone()));
    let change = place.change(&made);
    assert_eq!(change.subject, "Revert \"mm: break \"it\"\"");
    assert_eq!((change.author.as_str(), change.files), ("kiln <kiln@localhost>", vec!["file".to_owned()]));
    let walk = place.walk(&onto, &made, &Limits::default()).unwrap();
    assert_eq!((walk.commits, walk.bad), (vec![made.clone()], made));
}

#[test]
fn a_file_that_was_renamed_since_is_followed() {
    let place = Place::new();
    place.commit("old", &lines(&[]), "base");
    let culprit = place.commit("old", &lines(&[(1, "bad")]), "break it");
    place.git(&["mv", "old", "new"]);
    place.commit("other", "", "rename");
    let made = place.revert(&culprit, "HEAD").unwrap();
    assert_eq!(place.content(&made, "new"), lines(&[]));
}

#[test]
fn what_does_not_apply_is_not_taken_back() {
    let place = Place::new();
    let first = place.commit("file", &lines(&[]), "base");
    let culprit = place.commit("file", &lines(&[(1, "bad")]), "break it");
    place.git(&["tag", "culprit"]);
    place.commit("file", &lines(&[(1, "bad, and built upon")]), "later");
    assert_eq!(place.revert(&culprit, "HEAD"), None, "a conflict");
    assert_eq!(place.revert(&first, "HEAD"), None, "a first commit");
    assert_eq!(place.revert(&culprit, &first), None, "nothing is left to take back");
    place.git(&["checkout", "--quiet", "-b", "side", "culprit"]);
    place.commit("side", "", "side");
    place.git(&["checkout", "--quiet", "main"]);
    let merge = place.merge("side");
    assert_eq!(place.revert(&merge, "HEAD"), None, "a merge");
    let gone = place.commit("doomed", "1\n", "add");
    place.git(&["rm", "--quiet", "doomed"]);
    place.commit("doomed2", "", "remove");
    write(&place.tree().join("doomed"), "2\n");
    place.commit("doomed", "2\n", "add it again, and otherwise");
    assert_eq!(place.revert(&gone, "HEAD"), None, "what was added is another now");
}

#[test]
fn a_commit_that_is_not_there_is_an_error() {
    let place = Place::new();
    place.commit("file", "", "base");
    let error = place.with(|context| revert(&place.tree(), "nowhere", "HEAD", context)).unwrap_err();
    assert!(error.to_string().contains("has no commit nowhere") && error.is_usage(), "{error}");
}

#[test]
fn a_repository_of_sha_256_works_as_well() {
    let place = Place::new();
    fs::remove_dir_all(place.tree().join(".git")).unwrap();
    place.git(&["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
    place.commit("file", &lines(&[]), "base");
    let culprit = place.commit("file", &lines(&[(1, "bad")]), "break it");
    assert_eq!(culprit.len(), 64);
    place.commit("other", "", "later");
    let made = place.revert(&culprit, "HEAD").unwrap();
    assert_eq!(place.content(&made, "file"), lines(&[]));
}
