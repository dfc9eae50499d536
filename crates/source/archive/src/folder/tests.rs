//! Archives that git makes here, in the format of public-inbox.

use std::process::Command;

use fixture::{NEVER, write};
use kernel::Store;

use super::*;

/// An archive, and a store of kiln.
struct Archive {
    place: tempfile::TempDir,
}

impl Archive {
    fn new() -> Self {
        Self { place: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.place.path().join("list")
    }

    /// Commits a mail to an epoch, as the file `m`, or takes it back, as the file `d`.
    fn commit(&self, epoch: u32, name: &str, mail: &str) {
        let repository = self.path().join(format!("git/{epoch}.git"));
        let tree = self.place.path().join(format!("tree{epoch}"));
        if !tree.exists() {
            git(self.place.path(), &["init", "--quiet", "--bare", &repository.display().to_string()]);
            git(
                self.place.path(),
                &["clone", "--quiet", &repository.display().to_string(), &tree.display().to_string()],
            );
        }
        for other in ["m", "d"] {
            let _ = fs::remove_file(tree.join(other));
        }
        write(&tree.join(name), mail);
        git(&tree, &["add", "--all"]);
        git(&tree, &["commit", "--quiet", "--allow-empty", "--message", "mail"]);
        git(&tree, &["push", "--quiet", "origin", "HEAD"]);
    }

    fn ids(&self, look: impl FnOnce(&Folder, &mut Context<'_>) -> Mailbox) -> Vec<String> {
        let store = Store::new(self.place.path().join("store"));
        let mut context = Context { store: &store, listener: &mut |_| {}, interrupt: &NEVER };
        let folder = Folder::at(&self.path()).expect("an archive");
        let mut ids: Vec<String> =
            look(&folder, &mut context).mails.into_iter().map(|mail| mail.id).collect();
        ids.sort();
        ids
    }

    fn newest(&self) -> Vec<String> {
        self.ids(|folder, context| folder.newest(context).unwrap())
    }

    fn related(&self, id: &str) -> Vec<String> {
        self.ids(|folder, context| folder.related(id, context).unwrap().unwrap_or_default())
    }
}

fn git(place: &Path, arguments: &[&str]) {
    let fixed = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "advice.detachedHead=false"];
    let done = Command::new("git").args(fixed).args(arguments).current_dir(place).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn mail(id: &str, subject: &str, parent: &str) -> String {
    let parent = if parent.is_empty() { String::new() } else { format!("In-Reply-To: <{parent}>\n") };
    format!("From: A <a@example.org>\nMessage-ID: <{id}>\n{parent}Subject: {subject}\n\n>From here\n")
}

#[test]
fn an_archive_has_the_mails_of_all_epochs() {
    let archive = Archive::new();
    archive.commit(0, "m", &mail("a@x", "[PATCH 0/1] x", ""));
    archive.commit(0, "m", &mail("z@x", "words", ""));
    archive.commit(1, "m", &mail("b@x", "Re: [PATCH 0/1] x", "a@x"));
    archive.commit(1, "m", &mail("c@x", "[PATCH v2 0/1] x", ""));
    assert_eq!(archive.newest(), ["a@x", "b@x", "c@x", "z@x"]);
    assert_eq!(archive.related("b@x"), ["a@x", "b@x", "c@x"]);
    assert_eq!(archive.related("none@x"), [""; 0]);
}

#[test]
fn what_was_taken_back_is_gone_and_may_come_again() {
    let archive = Archive::new();
    let (gone, back) = (mail("gone@x", "words", ""), mail("back@x", "words", ""));
    archive.commit(0, "m", &gone);
    archive.commit(0, "m", &back);
    archive.commit(0, "m", &mail("kept@x", "words", ""));
    archive.commit(1, "d", &gone);
    archive.commit(1, "d", &back);
    archive.commit(1, "m", &back);
    assert_eq!(archive.newest(), ["back@x", "kept@x"]);
    assert_eq!(archive.related("gone@x"), [""; 0]);
}

#[test]
fn mails_are_those_that_were_sent() {
    let archive = Archive::new();
    archive.commit(0, "m", &mail("a@x", "words", ""));
    let store = Store::new(archive.place.path().join("store"));
    let mut context = Context { store: &store, listener: &mut |_| {}, interrupt: &NEVER };
    let folder = Folder::at(&archive.path().join("git/0.git")).expect("one epoch");
    let mails = folder.newest(&mut context).unwrap().mails;
    assert_eq!(mails[0].text, ">From here\n", "no mbox has escaped it");
}

#[test]
fn other_repositories_are_no_archives() {
    let archive = Archive::new();
    archive.commit(0, "Makefile", "all:\n");
    let store = Store::new(archive.place.path().join("store"));
    let mut context = Context { store: &store, listener: &mut |_| {}, interrupt: &NEVER };
    let folder = Folder::at(&archive.path()).expect("repositories");
    for error in [folder.newest(&mut context).unwrap_err(), folder.related("a@x", &mut context).unwrap_err()]
    {
        assert!(error.is_usage() && error.to_string().contains("public-inbox"), "{error}");
    }
    assert_eq!(Folder::at(archive.place.path()), None);
    let bare = archive.path().join("git/0.git");
    for other in [archive.place.path().join("tree0"), archive.place.path().join("tree0/.git"), bare.clone()] {
        assert_eq!(Folder::at(&other), None, "{}", other.display());
    }
    let taken_back = mail("a@x", "words", "");
    archive.commit(0, "d", &taken_back);
    assert!(Folder::at(&bare).is_some(), "its newest commit takes back a mail");
    assert_eq!(Folder::at(&archive.place.path().join("tree0")), None, "it is a work tree");
}
