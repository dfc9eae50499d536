//! What a user has is neither changed nor run.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// Goes through everything that this module does, in a repository with a series on `topic`.
fn everything(place: &Place, patch: &Path) {
    place.walk("main~2", "main", &Limits { paths: vec!["a".to_owned()], first_parent: false }).unwrap();
    place.change("main");
    place.revert("main~1", "main").unwrap();
    place.apply("main", patch).unwrap();
}

/// Three commits of which the middle one can be taken back, and a patch that must be merged.
fn prepared() -> (Place, PathBuf) {
    let place = Place::new();
    let content = |changes: &[(usize, &str)]| {
        let line = |number| changes.iter().find(|(at, _)| *at == number).map(|(_, text)| (*text).to_owned());
        (0..20).map(|number| line(number).unwrap_or_else(|| number.to_string()) + "\n").collect::<String>()
    };
    write(&place.tree().join(".gitattributes"), "* merge=evil diff=evil filter=evil\n");
    place.commit("a", &content(&[]), "base");
    place.git(&["checkout", "--quiet", "-b", "topic"]);
    place.commit("a", &content(&[(10, "ten")]), "topic");
    let patch = place.beside("topic.patch");
    write(&patch, place.git(&["format-patch", "--stdout", "--full-index", "-1"]) + "\n");
    place.git(&["checkout", "--quiet", "main"]);
    place.commit("a", &content(&[(1, "bad")]), "culprit");
    place.commit("a", &content(&[(1, "bad"), (12, "twelve")]), "later");
    (place, patch)
}

#[test]
fn no_byte_of_the_users_is_written() {
    let (place, patch) = prepared();
    write(&place.tree().join("a"), "changed\n");
    write(&place.tree().join("new"), "new\n");
    let before = place.listing();
    everything(&place, &patch);
    place.with(|context| changes_in_checkout(&place.tree(), context)).unwrap();
    assert_eq!(place.listing(), before);
}

#[test]
fn programs_that_the_users_configuration_names_are_not_run() {
    let (place, patch) = prepared();
    let ran = place.beside("ran");
    fs::create_dir(&ran).unwrap();
    // A program that leaves its name behind.
    let program = |path: &Path, name: &str| {
        write(path, format!("#!/bin/sh\ntouch {}/{name}\n", ran.display()));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let hooks = place.tree().join(".git/hooks");
    for hook in
        ["post-index-change", "reference-transaction", "applypatch-msg", "pre-applypatch", "pre-commit"]
    {
        program(&hooks.join(hook), hook);
    }
    for name in [
        "core.fsmonitor",
        "core.editor",
        "core.pager",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "gpg.program",
        "merge.evil.driver",
        "filter.evil.clean",
        "filter.evil.smudge",
    ] {
        let path = place.beside(name);
        program(&path, name);
        place.git(&["config", name, path.to_str().unwrap()]);
    }
    for (name, value) in [
        ("log.showSignature", "true"),
        ("log.date", "relative"),
        ("apply.whitespace", "error-all"),
        ("diff.noPrefix", "true"),
        ("diff.renames", "copies"),
        ("i18n.logOutputEncoding", "UTF-16"),
        ("mailinfo.scissors", "true"),
    ] {
        place.git(&["config", name, value]);
    }
    everything(&place, &patch);
    let found = || {
        let entries = fs::read_dir(&ran).unwrap().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<String>>()
    };
    assert_eq!(found(), [""; 0], "programs of the user's that were run");
    // git itself does run them here.
    place.git(&["log", "-1", "-p", "--ext-diff", "--no-show-signature"]);
    place.git(&["merge", "--quiet", "--no-edit", "topic"]);
    let found = found();
    for name in ["diff.evil.command", "merge.evil.driver", "core.fsmonitor", "post-index-change"] {
        assert!(found.iter().any(|ran| ran == name), "{name}: {found:?}");
    }
}
