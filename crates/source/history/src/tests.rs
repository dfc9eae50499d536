//! Small repositories that nobody would take for a kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kernel::Context;

use super::*;
use crate::Error;
use fixture::{NEVER, write};
use kernel::Store;
use kernel::files::hash;

mod ancestry;
mod apply;
mod base;
mod content;
mod objects;
mod revert;
mod untouched;
mod walk;

/// A repository of a user, and a store of kiln.
struct Place {
    directory: tempfile::TempDir,
    store: Store,
}

impl Place {
    /// A checkout without a commit.
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("store"));
        let place = Self { directory, store };
        fs::create_dir(place.tree()).unwrap();
        place.git(&["init", "--quiet", "--initial-branch=main"]);
        place
    }

    fn tree(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.tree(), arguments)
    }

    /// Writes a file and commits everything: the hash.
    fn commit(&self, path: &str, content: &str, subject: &str) -> String {
        write(&self.tree().join(path), content);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn merge(&self, branch: &str) -> String {
        self.git(&["merge", "--quiet", "--no-ff", "--no-edit", "--strategy=ours", branch]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Context<'_>) -> T) -> T {
        let mut context = Context { store: &self.store, listener: &mut |_| {}, interrupt: &NEVER };
        ask(&mut context)
    }

    fn walk(&self, good: &str, bad: &str, limits: &Limits) -> Result<Walk, Error> {
        self.with(|context| walk(&self.tree(), good, bad, limits, context))
    }

    fn revert(&self, commit: &str, onto: &str) -> Option<String> {
        self.with(|context| revert(&self.tree(), commit, onto, context)).unwrap()
    }

    fn apply(&self, base: &str, mail: &Path) -> Result<Vec<Change>, Error> {
        self.with(|context| apply_series(&self.tree(), base, mail, context))
    }

    fn change(&self, commit: &str) -> Change {
        self.with(|context| change(&self.tree(), commit, context)).unwrap()
    }

    /// A file of any commit, also of those that only kiln has.
    fn content(&self, commit: &str, path: &str) -> String {
        let objects = fs::read_dir(self.beside("store/objects")).unwrap().next().unwrap().unwrap().path();
        let mut show = Command::new("git");
        show.args(["show", &format!("{commit}:{path}")]).current_dir(self.tree());
        let output = show.env("GIT_OBJECT_DIRECTORY", objects).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Every file of the user, with what is in it.
    fn listing(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.tree()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                    found.insert(path, "folder".to_owned());
                } else {
                    found.insert(path.clone(), hash(&fs::read(&path).unwrap()));
                }
            }
        }
        found
    }
}

/// Runs git as a user who has configured nothing but a name.
fn git(place: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").current_dir(place);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn a_change_is_named() {
    let place = Place::new();
    place.commit("a", "1\n", "first");
    write(&place.tree().join("dir/ü"), "2\n");
    let second = place.commit("a", "2\n", "mm: second\n\nbody");
    let change = place.change("HEAD");
    assert_eq!((change.commit.as_str(), change.subject.as_str()), (second.as_str(), "mm: second"));
    assert_eq!(change.author, "Ann <ann@example.org>");
    assert_eq!(change.date, place.git(&["log", "-1", "--format=%aI"]));
    assert_eq!(change.files, ["a", "dir/ü"]);
    assert_eq!(place.change("HEAD~1").files, ["a"]);
}

#[test]
fn a_merge_brings_what_its_first_parent_lacks_and_few_files_are_named() {
    let place = Place::new();
    place.commit("a", "", "base");
    place.git(&["checkout", "--quiet", "-b", "side"]);
    (0..=FILES_MAX).for_each(|number| write(&place.tree().join(format!("side/{number:04}")), "s\n"));
    place.commit("side/last", "", "side");
    place.git(&["checkout", "--quiet", "main"]);
    place.commit("b", "b\n", "main");
    place.git(&["merge", "--quiet", "--no-ff", "--message", "bring it", "side"]);
    let change = place.change("HEAD");
    assert_eq!((change.subject.as_str(), change.files.len()), ("bring it", FILES_MAX));
    assert!(change.files.iter().all(|file| file.starts_with("side/")));
}

#[test]
fn a_change_is_written_as_a_mail() {
    let place = Place::new();
    place.commit("file", "one\n", "base");
    let commit = place.commit("file", "two\n", "file: count on");
    let mail = place.with(|context| mail(&place.tree(), &commit, context)).unwrap();
    assert!(
        mail.starts_with(&format!("From {commit} ")) && mail.contains("\nSubject: file: count on\n"),
        "{mail}"
    );
    assert!(mail.contains("\n-one\n+two\n"), "{mail}");
    place.git(&["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    place.commit("side", "", "side");
    place.git(&["checkout", "--quiet", "main"]);
    let merge = place.merge("side");
    assert_eq!(place.with(|context| super::mail(&place.tree(), &merge, context)).unwrap(), "");
}

#[test]
fn files_that_differ_are_named() {
    let place = Place::new();
    let first = place.commit("one", "1\n", "base");
    place.commit("two", "2\n", "second");
    let last = place.commit("one", "one\n", "third");
    let named = |ends| place.with(|context| files(&place.tree(), ends, context)).unwrap();
    assert_eq!(named([&first, &last]), ["one", "two"]);
    assert_eq!(named([&last, &last]), [""; 0]);
}

#[test]
fn the_commit_that_wrote_a_line_is_named() {
    let place = Place::new();
    let base = place.commit("file", "one\ntwo\n", "base");
    let first = place.commit("file", "one\n2\n", "first");
    let last = place.commit("file", "zero\none\n2\n", "second");
    let of_line = |name: &str, line| {
        place.with(|context| blame(&place.tree(), [&base, &last], (name, line), context)).unwrap()
    };
    assert_eq!(of_line("file", 1).as_ref(), Some(&last));
    assert_eq!(of_line("file", 2).as_ref(), Some(&base));
    assert_eq!(of_line("file", 3).as_ref(), Some(&first));
    assert_eq!((of_line("file", 4), of_line("other", 1)), (None, None));
}

#[test]
fn changes_in_a_checkout_are_named() {
    let place = Place::new();
    write(&place.tree().join(".gitignore"), "*.o\n");
    place.commit("dir/kept", "1\n", "first");
    let changes = |path: &Path| place.with(|context| changes_in_checkout(path, context)).unwrap();
    write(&place.tree().join("x.o"), "built");
    assert_eq!(changes(&place.tree()), Changes::default());
    write(&place.tree().join("dir/kept"), "2\n");
    (0..6).for_each(|number| write(&place.tree().join(format!("new{number}")), ""));
    let before = place.listing();
    let found = changes(&place.tree());
    assert_eq!((found.paths.len(), found.paths[0].as_str(), found.count), (5, "dir/kept", 7));
    assert_eq!(changes(&place.tree().join("dir")), found);
    assert_eq!(place.listing(), before);
    place.git(&["clone", "--quiet", "--bare", ".", "../bare"]);
    assert_eq!(changes(&place.beside("bare")), Changes::default());
}

#[test]
fn a_partial_clone_fetches_what_it_lacks_into_kilns_objects() {
    let place = Place::new();
    let lines = |changed: &str, to: &str| {
        (0..20).map(|line| format!("{line}\n").replace(changed, to)).collect::<String>()
    };
    place.commit("a", &lines("x", ""), "base");
    let culprit = place.commit("a", &lines("11\n", "bad\n"), "culprit");
    let patch = place.beside("culprit.patch");
    write(&patch, place.git(&["format-patch", "--stdout", "-1"]) + "\n");
    place.commit("a", &lines("11\n", "bad\n").replace("17\n", "later\n"), "later");
    place.git(&["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", place.tree().display());
    place.git(&["clone", "--quiet", "--bare", "--filter=blob:none", &from, "../partial"]);
    fs::rename(place.tree(), place.beside("origin")).unwrap();
    fs::rename(place.beside("partial"), place.tree()).unwrap();
    place.git(&["config", "remote.origin.url", &format!("file://{}", place.beside("origin").display())]);
    let before = place.listing();
    let made = place.apply("main~2", &patch).unwrap();
    assert_eq!(place.content(&made[0].commit, "a"), lines("11\n", "bad\n"));
    let reverted = place.revert(&culprit, "main").unwrap();
    assert_eq!(place.content(&reverted, "a"), lines("17\n", "later\n"));
    assert_eq!(place.listing(), before);
}
