use super::*;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use kernel::{Caller, News};

fn write(root: &Path, path: &str, content: &str, mode: u32) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn each_test_is_started_as_the_kernels_runner_does() {
    let root = tempfile::tempdir().unwrap();
    let list = "a:run\na:plain.sh\na:gone\na:text\nb:by_runner.sh\n";
    write(root.path(), LIST, list, 0o644);
    write(root.path(), "a/settings", "timeout=7\n", 0o644);
    write(root.path(), "a/config", "CONFIG_SYSVIPC=y\nCONFIG_KCMP=y\n", 0o644);
    write(root.path(), "a/run", "x\0mq_open\0msgget\0", 0o755);
    write(root.path(), "a/plain.sh", "#!/bin/sh -u\n", 0o644);
    write(root.path(), "a/text", "x", 0o644);
    write(root.path(), "b/by_runner.sh", "x", 0o644);
    write(root.path(), "b/ksft_runner.sh", "x", 0o755);
    let suite = open(root.path()).unwrap();
    let argv: Vec<Vec<&str>> =
        suite.cases.iter().map(|case| case.command.argv.iter().map(String::as_str).collect()).collect();
    assert_eq!(
        argv,
        [&["./run"][..], &["/bin/sh", "-u", "./plain.sh"], &[], &[], &["./ksft_runner.sh", "./by_runner.sh"]]
    );
    let skips: Vec<bool> = suite.cases.iter().map(|case| case.skip.is_some()).collect();
    assert_eq!(skips, [false, false, true, true, false]);
    let (first, last) = (&suite.cases[0], &suite.cases[4]);
    assert_eq!((first.options.join(" "), last.options.len()), ("SYSVIPC KCMP POSIX_MQUEUE".into(), 0));
    assert_eq!((first.name.as_str(), first.command.directory.as_str()), ("a/run", "/kselftest/a"));
    assert_eq!((first.limit.as_secs(), last.limit.as_secs()), (7, 45));
}

#[test]
fn arguments_come_by_a_variable_with_the_name_of_the_test() {
    assert_eq!(variable("cpu-on-off-test.sh"), "KSELFTEST_CPU_ON_OFF_TEST_SH_ARGS");
    assert_eq!(variable("a b\t"), "KSELFTEST_AB_ARGS");
}

fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for group in ["", "timers/", "timens/", "net/forwarding/"] {
        write(root.path(), &format!("tools/testing/selftests/{group}Makefile"), "", 0o644);
    }
    root
}

#[test]
fn a_folder_names_what_it_is() {
    let root = tree();
    let selftests = root.path().canonicalize().unwrap().join("tools/testing/selftests");
    let group = |path: &Path| match locate(path.to_str().unwrap()).unwrap() {
        Place::Tree(tree) => tree.group,
        other => panic!("{other:?}"),
    };
    assert_eq!(group(&selftests.join("net/forwarding")), Some("net/forwarding".into()));
    assert_eq!((group(&selftests), group(root.path())), (None, None));
    assert_eq!(locate("timers").unwrap(), Place::Group("timers".into()));
    assert!(matches!(locate("/nowhere"), Err(Error::Path { .. })));
    assert!(matches!(locate("/etc"), Err(Error::NoSelftests { .. })));
}

#[test]
fn close_groups_are_named() {
    let root = tree();
    let check = |group: &str| Tree { root: root.path().to_owned(), group: Some(group.into()) }.checked();
    assert!(check("timers").is_ok() && check("net/forwarding").is_ok());
    let error = check("timer").unwrap_err();
    assert!(error.is_usage() && error.to_string().ends_with("(did you mean timers, timens?)"), "{error}");
    for group in ["net", "../selftests/timers", "timers x", "-n", "", "$(x)"] {
        assert!(matches!(check(group), Err(Error::NoGroup { .. })), "{group}");
    }
}

fn build_quietly(tree: &Tree, store: &Path) -> Result<std::path::PathBuf, Error> {
    build(tree, store, None, &mut Caller { listener: &mut |_| {}, interrupt: &AtomicBool::new(false) })
}

/// A tree whose makefiles install a test, or fail, or never end.
fn makefiles(install: &str) -> (tempfile::TempDir, Tree) {
    let root = tree();
    write(root.path(), "Makefile", "headers:\n\techo headers > $(O)/headers\n", 0o644);
    let rules = format!("install:\n\tmkdir -p $(KSFT_INSTALL_PATH)\n\t{install}\n");
    write(root.path(), "tools/testing/selftests/Makefile", &rules, 0o644);
    let tree = Tree { root: root.path().to_owned(), group: Some("timers".into()) };
    (root, tree)
}

#[test]
fn what_make_installs_is_given_and_the_tree_is_left_alone() {
    let (root, tree) = makefiles("echo $(TARGETS):x > $(KSFT_INSTALL_PATH)/kselftest-list.txt");
    let store = tempfile::tempdir().unwrap();
    let build = || build_quietly(&tree, store.path());
    let installed = build().unwrap();
    assert!(installed.parent().unwrap().join("build/headers").is_file());
    let list = std::fs::read_to_string(installed.join(LIST)).unwrap();
    assert_eq!((list.as_str(), build().unwrap()), ("timers:x\n", installed));
    let files = std::fs::read_dir(root.path()).unwrap().count();
    assert_eq!(files, 2, "Makefile and tools, as before");
}

#[test]
fn what_cannot_be_built_keeps_nothing_else_back() {
    let broken = "echo 'tools/testing/selftests/timers/cap.c:3:9: error: sys/capability.h: No such file or directory' >&2; false";
    let list = "printf 'timers:cap\\ntimers:x\\n' > $(KSFT_INSTALL_PATH)/kselftest-list.txt";
    let test = "mkdir $(KSFT_INSTALL_PATH)/timers; printf '\\x23!/bin/sh\\n' > $(KSFT_INSTALL_PATH)/timers/x; chmod +x $(KSFT_INSTALL_PATH)/timers/x";
    let (_root, tree) = makefiles(&format!("{broken}\n\t{list}\n\t{test}"));
    let store = tempfile::tempdir().unwrap();
    let installed = build_quietly(&tree, store.path()).unwrap();
    let suite = open(&installed).unwrap();
    let skips: Vec<_> = suite.cases.iter().map(|case| (case.name.as_str(), case.skip.as_deref())).collect();
    let [("timers/cap", Some(why)), ("timers/x", None)] = skips[..] else { panic!("{skips:?}") };
    assert!(why.starts_with("it was not built: tools/testing/selftests/timers/cap.c:3:9: error: "), "{why}");
    assert!(why.ends_with("apt-get install libcap-dev"), "{why}");
}

#[test]
fn the_first_error_of_make_is_reported() {
    let (_root, tree) = makefiles("@echo 'x.c:1:2: error: no such thing'; exit 1");
    let store = tempfile::tempdir().unwrap();
    write(&tree.root, "Makefile", "headers:\n\ttrue\n", 0o644);
    let error = build_quietly(&tree, store.path()).unwrap_err();
    let text = error.to_string();
    assert!(
        !error.is_usage()
            && text.contains("failed: x.c:1:2: error: no such thing; the output of make is in "),
        "{text}"
    );
}

#[test]
fn an_impatient_user_need_not_wait() {
    let (_root, tree) = makefiles("sleep 1000");
    write(&tree.root, "Makefile", "headers:\n\ttrue\n", 0o644);
    let store = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let mut listener = |news: News<'_>| {
        stop.store(matches!(news, News::Step(text) if text.contains("timers")), Ordering::Relaxed);
    };
    let mut caller = Caller { listener: &mut listener, interrupt: &stop };
    assert!(matches!(build(&tree, store.path(), None, &mut caller), Err(Error::Interrupted)));
}
