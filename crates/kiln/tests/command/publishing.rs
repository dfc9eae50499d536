//! `kiln report --publish`: a site, in a folder or as a branch.

use std::path::Path;
use std::process::Command;

use crate::results::place;
use crate::support::{Place, sessions, text};

/// What git says in a repository.
fn git(place: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(place).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words);
    let done = command.output().expect("git");
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8").trim().to_owned()
}

#[test]
fn a_folder_becomes_a_site_and_stays_one() {
    let place = place();
    let site = place.path().join("site");
    let publish = || place.kiln(["report", "--publish", text(&site)]).run().expect(0).stdout;
    let first = publish();
    assert!(first.ends_with(" files written, 0 as before, 0 removed\n"), "{first}");
    let index = std::fs::read_to_string(site.join("index.html")).expect("a page");
    assert!(index.contains("<a href=\"session/") && !index.contains("href=\"/"), "{index}");
    let feed = std::fs::read_to_string(site.join("feed.xml")).expect("a feed");
    assert!(feed.contains(": 1 fail</title>"), "{feed}");
    let again = publish();
    assert!(again.starts_with("0 files written, "), "{again}");
}

#[test]
fn a_page_that_cannot_be_made_is_told_and_left_out() {
    let place = place();
    let check = place.path().join("state/kiln/checks/2026-11-20T10-07-31Z-1");
    std::fs::create_dir_all(&check).expect("writable");
    let page = std::fs::File::create(check.join("report.html")).expect("writable");
    page.set_len(100 << 20).expect("a hole takes no room");
    let site = place.path().join("site");
    let done = place.kiln(["report", "--publish", text(&site)]).run().expect(3);
    let told = "check/2026-11-20T10-07-31Z-1.html: left out: ";
    assert!(
        done.stderr.contains(told) && done.stdout.contains(" files written"),
        "{} {}",
        done.stdout,
        done.stderr
    );
    let index = std::fs::read_to_string(site.join("index.html")).expect("a page");
    assert!(index.contains("<a href=\"session/"), "{index}");
}

#[test]
fn a_branch_has_a_commit_for_each_change() {
    let place = place();
    let repository = place.path().join("pages.git");
    git(place.path(), &["init", "--quiet", "--bare", text(&repository)]);
    let target = format!("git:{}@pages", text(&repository));
    let publish = || place.kiln(["report", "--publish", &target]).run();
    let tip = || git(&repository, &["rev-parse", "pages"]);
    let commits = || git(&repository, &["rev-list", "--count", "pages"]);
    publish().expect(0);
    let first = tip();
    let files = git(&repository, &["ls-tree", "-r", "--name-only", "pages"]);
    for file in ["index.html", "feed.xml", "style.css", ".kiln-site.json"] {
        assert!(files.lines().any(|line| line == file), "no {file} in {files}");
    }
    publish().expect(0);
    assert_eq!(tip(), first, "nothing changed");
    let session = sessions(&place.path().join("state")).pop().expect("a session");
    std::fs::remove_dir_all(session).expect("removable");
    publish().expect(0);
    assert_eq!(commits(), "2");
    assert_eq!(git(&repository, &["rev-parse", "pages^"]), first);
}

#[test]
fn what_belongs_to_others_is_left_alone() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("full")).expect("a place");
    let thesis = place.file("full/thesis", "x");
    let repository = place.path().join("theirs");
    git(place.path(), &["init", "--quiet", "--initial-branch=main", text(&repository)]);
    std::fs::write(repository.join("README"), "theirs").expect("writable");
    git(&repository, &["add", "README"]);
    git(&repository, &["commit", "--quiet", "-m", "theirs"]);
    let theirs = git(&repository, &["rev-parse", "main"]);
    let branch = |name: &str| format!("git:{}@{name}", text(&repository));
    let folder = text(&place.path().join("full")).to_owned();
    for (target, code, message) in [
        (folder.as_str(), 2, "has files that kiln did not publish"),
        (&branch("main"), 2, "has files that kiln did not publish"),
        (&branch("a..b"), 2, "\"a..b\" is no name of a branch"),
        ("git:no-branch", 2, "git:REPOSITORY@BRANCH"),
        (
            &format!("git:{}/none@pages", text(place.path())),
            3,
            "/none' does not appear to be a git repository",
        ),
    ] {
        let done = place.kiln(["report", "--publish", target]).run().expect(code);
        assert!(done.stderr.contains(message), "{target}: {}", done.stderr);
        assert!(done.stderr.trim_end().lines().count() <= 3, "{target}: {}", done.stderr);
    }
    assert!(thesis.is_file());
    assert_eq!(git(&repository, &["rev-parse", "main"]), theirs);
    let both = place.kiln(["report", "last", "--publish", &folder]).run().expect(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}
