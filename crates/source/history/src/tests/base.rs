//! Repositories in which the base of a series is known.

use series::preimages;

use super::*;
use crate::base::{Base, Clues, DAYS, Reason, base};

impl Place {
    /// The diff that a change of these files makes, which is then undone.
    fn diff(&self, changes: &[(&str, &str)]) -> String {
        for (path, content) in changes {
            write(&self.tree().join(path), content);
        }
        self.git(&["add", "--all"]);
        let diff = self.git(&["diff", "--cached"]) + "\n";
        self.git(&["reset", "--quiet", "--hard"]);
        diff
    }

    fn base_on(&self, diff: &str, stated: Option<&str>, branches: &[&str]) -> Result<Base, Error> {
        let files = preimages([diff.as_bytes()]);
        let branches: Vec<String> = branches.iter().map(|&branch| branch.to_owned()).collect();
        let clues = Clues { stated, files: &files, sent: 0, branches: &branches, days: DAYS };
        self.with(|context| base(&self.tree(), &clues, context))
    }

    fn base(&self, diff: &str) -> (String, Reason) {
        let found = self.base_on(diff, None, &["HEAD"]).unwrap();
        (found.commit, found.reason)
    }
}

fn matching(found: usize, of: usize) -> Reason {
    Reason::Matching { found, of }
}

#[test]
fn a_base_that_is_stated_is_taken_or_missed() {
    let place = Place::new();
    let first = place.commit("a", "1\n", "first");
    place.commit("a", "2\n", "second");
    place.git(&["tag", "v1", &first]);
    let diff = place.diff(&[("a", "x\n")]);
    let found = place.base_on(&diff, Some(&first[..12]), &["HEAD"]).unwrap();
    assert_eq!((found.commit, found.name.as_str(), found.reason), (first, "v1", Reason::Stated));
    place.git(&["remote", "add", "stable", "https://example.org/stable.git"]);
    let error = place.base_on(&diff, Some(&"ab".repeat(20)), &["HEAD"]).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("stable"), "{error}");
}

#[test]
fn the_newest_commit_with_all_files_is_the_base() {
    let place = Place::new();
    place.commit("a", "1\n", "a");
    place.commit("b", "1\n", "b");
    let diff = place.diff(&[("a", "x\n"), ("b", "x\n"), ("new", "x\n")]);
    let newest = place.commit("c", "1\n", "c");
    assert_eq!(place.base(&diff), (newest, matching(2, 2)));
    let before = place.git(&["rev-parse", "HEAD"]);
    place.commit("a", "2\n", "changes a");
    for number in 0..5 {
        place.commit("b", &format!("later {number}\n"), "changes b");
    }
    assert_eq!(place.base(&diff), (before, matching(2, 2)));
}

#[test]
fn a_base_may_be_on_another_branch() {
    let place = Place::new();
    place.commit("a", "1\n", "a");
    place.git(&["checkout", "--quiet", "-b", "next"]);
    let next = place.commit("a", "next\n", "next");
    let diff = place.diff(&[("a", "x\n")]);
    place.git(&["checkout", "--quiet", "main"]);
    place.commit("a", "2\n", "main");
    let error = place.base_on(&diff, None, &["main"]).unwrap_err();
    assert!(error.to_string().contains("has the files that the series expects"), "{error}");
    assert_eq!(place.base_on(&diff, None, &["main", "next"]).unwrap().commit, next);
    assert!(place.base_on(&diff, None, &["no-such-branch"]).unwrap_err().is_usage());
}

#[test]
fn a_commit_with_most_of_the_files_is_better_than_none() {
    let place = Place::new();
    place.commit("a", "1\n", "a");
    let both = place.commit("b", "1\n", "b");
    let diff = place.diff(&[("a", "x\n"), ("b", "x\n")]);
    let changed = diff.replacen("index ", "index abc", 1);
    assert_eq!(place.base(&changed), (both, matching(1, 2)));
    let lone = place.diff(&[("only-new", "x\n")]);
    let newest = place.commit("c", "1\n", "c");
    assert_eq!(place.base(&lone), (newest, matching(0, 0)));
}

#[test]
fn renames_and_names_with_spaces_are_looked_up() {
    let place = Place::new();
    place.commit("a b", "1\n2\n3\n4\n5\n6\n7\n8\n", "first");
    place.git(&["mv", "a b", "é"]);
    let diff = {
        write(&place.tree().join("é"), "1\n2\n3\n4\n5\n6\n7\nx\n");
        place.git(&["add", "--all"]);
        let diff = place.git(&["diff", "--cached", "-M"]) + "\n";
        place.git(&["reset", "--quiet", "--hard"]);
        diff
    };
    let here = place.git(&["rev-parse", "HEAD"]);
    place.commit("a b", "other\n", "later");
    assert!(diff.contains("rename from a b"), "{diff}");
    assert_eq!(place.base(&diff), (here, matching(1, 1)));
}

#[test]
fn paths_that_no_tree_can_have_are_not_asked_for() {
    let place = Place::new();
    place.commit("a", "1\n", "first");
    let diff = place.diff(&[("a", "x\n")]);
    let newest = place.commit("a", "2\n", "second");
    let other = |path: &str| diff.replace("a/a", &format!("a/{path}")).replace("b/a", &format!("b/{path}"));
    place.git(&["config", "diff.orderFile", "no-such-file"]);
    for path in ["../../etc/passwd", "/etc/passwd", ".git/../../x", &"long".repeat(40_000)] {
        let found = place.base_on(&format!("{}{diff}", other(path)), None, &["HEAD"]).unwrap();
        assert_ne!(found.commit, newest, "{}", &path[..4]);
        assert_eq!(found.reason, matching(1, 2));
        let error = place.base_on(&other(path), None, &["HEAD"]).unwrap_err();
        assert!(error.is_usage() && matches!(error, Error::NoBase { .. }), "{error}");
    }
    let many: String = (0..5000).map(|number| other(&format!("directory/of/many/files/{number}"))).collect();
    assert_eq!(place.base_on(&format!("{many}{diff}"), None, &["HEAD"]).unwrap().reason, matching(1, 5001));
}

#[test]
fn nothing_of_the_users_is_touched() {
    let place = Place::new();
    place.commit("a", "1\n", "a");
    let diff = place.diff(&[("a", "x\n")]);
    place.commit("a", "2\n", "b");
    write(&place.tree().join("a"), "not committed\n");
    let state = || (place.git(&["status", "--porcelain=v2", "--branch"]), place.git(&["for-each-ref"]));
    let before = state();
    place.base(&diff);
    assert_eq!(state(), before);
}
