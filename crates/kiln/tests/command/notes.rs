//! What a command that builds says on standard error and leaves there.

use std::path::PathBuf;

use crate::support::source::Source;
use crate::support::terminal::Terminal;
use crate::support::{Call, Done, Place};

const UNPROTECTED: &str = "makefiles run with all your rights, because this user cannot create namespaces";

/// Starts a program that may not make namespaces.
const WITHOUT_NAMESPACES: &str = "\
for kind in user mnt net pid; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done
exec \"$@\"
";

fn unprotected(call: Call) -> Call {
    call.through(&["unshare", "--user", "--map-root-user", "sh", "-c", WITHOUT_NAMESPACES, "sh"])
}

fn says(done: &Done, text: &str, times: usize) {
    assert_eq!(done.stderr.matches(text).count(), times, "{text} in {}", done.stderr);
}

/// kiln with a cache of its own, so that everything is built.
fn kiln(place: &Place, words: &[&str]) -> Call {
    place.kiln(words).env("XDG_CACHE_HOME", place.path().join("cache"))
}

/// A commit of a tree as a locator, and one that differs.
fn two(source: &Source) -> [String; 2] {
    source.grows("fs", 1);
    [&source.first, "main"].map(|revision| format!("git:{}@{revision}", source.path.display()))
}

#[test]
fn each_command_that_builds_says_what_it_built_and_that_it_is_not_protected() {
    let place = Place::new();
    let source = place.source();
    let [first, last] = two(&source);
    let range = format!("{first}..main");
    let calls: [(&[&str], usize); 5] = [
        (&["build", &first], 1),
        (&["run", &last], 1),
        (&["kunit", &last, "--arch", "x86_64", "--make", "X=1"], 1),
        (&["compare", &first, &last, "--make", "X=2"], 2),
        (&["bisect", &range, "--build", "--make", "X=3"], 2),
    ];
    for (words, builds) in calls {
        let done = unprotected(kiln(&place, &[words, &["--config", "defconfig"]].concat())).run();
        says(&done, UNPROTECTED, 1);
        says(&done, "built 6.1.0-made-up, defconfig, x86_64 as built:", builds);
        let is_locator = done.stdout.starts_with("built:") && done.stdout.lines().count() == 1;
        assert!(words[0] != "build" || is_locator, "{}", done.stdout);
    }
    let done = kiln(&place, &["build", &first, "--config", "defconfig", "--make", "X=4"]).run().expect(0);
    says(&done, UNPROTECTED, 0);
}

/// A tree with selftests of which one is built.
fn selftests(place: &Place) -> PathBuf {
    let root = place.path().join("selftests");
    let tests = root.join("tools/testing/selftests");
    std::fs::create_dir_all(&tests).expect("writable");
    std::fs::write(root.join("Makefile"), "headers:\n\t@:\n").expect("writable");
    let rules = "install:\n\t@mkdir -p $(KSFT_INSTALL_PATH)\n\
                 \t@echo group:test > $(KSFT_INSTALL_PATH)/kselftest-list.txt\n";
    std::fs::write(tests.join("Makefile"), rules).expect("writable");
    root
}

#[test]
fn so_does_one_that_builds_selftests() {
    let place = Place::new();
    let root = selftests(&place);
    let words = ["cases", "--kselftest", root.to_str().expect("paths of tests are UTF-8")];
    says(&unprotected(kiln(&place, &words)).run().expect(0), UNPROTECTED, 1);
    says(&kiln(&place, &words).run().expect(0), UNPROTECTED, 0);
}

#[test]
fn new_files_that_git_ignores_are_named() {
    let place = Place::new();
    let source = place.source();
    source.write(".git/info/exclude", "new*\n");
    source.write("fs/new.c", "int new;\n");
    let tree = source.path.to_str().expect("paths of tests are UTF-8");
    let done = kiln(&place, &["build", tree, "--config", "defconfig"]).run().expect(0);
    says(&done, "is built without a new source file that git ignores: fs/new.c", 1);
}

#[test]
fn a_terminal_keeps_them_too() {
    let place = Place::new();
    let source = place.source();
    let tree = source.path.to_str().expect("paths of tests are UTF-8");
    // In the cache of all tests it would be there already the second time.
    let variable = format!("X={tree}");
    let words = ["build", tree, "--config", "defconfig", "--make", &variable];
    let mut terminal = Terminal::with_kiln(&place, &words, 24, 80);
    terminal.shows("kiln: built 6.1.0-made-up, defconfig, x86_64 as built:");
    terminal.shows("s\r\nbuilt:");
    assert_eq!(terminal.end(), Some(0));
}
