use super::*;
use std::os::unix::fs::PermissionsExt;

fn write(root: &Path, path: &str, content: &str, mode: u32) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
}

fn installed() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "runtest/syscalls", "abort01 abort01 -x\nabort01 abort01\ngone gone\n", 0o644);
    write(root.path(), "runtest/fs", "odd (a; b)\nlong abort01\n", 0o644);
    write(root.path(), "testcases/bin/abort01", "#!/bin/sh\n", 0o755);
    root
}

fn wanted(path: &Path) -> Wanted {
    recognise(path).unwrap()
}

#[test]
fn all_lists_are_the_suite_or_one() {
    let root = installed();
    let names = |path: &Path| -> Vec<String> {
        open(&wanted(path)).unwrap().cases.iter().map(|case| case.name.clone()).collect()
    };
    let syscalls = ["syscalls/abort01", "syscalls/abort01.2", "syscalls/gone"];
    assert_eq!(names(root.path()), [&["fs/odd", "fs/long"], &syscalls[..]].concat());
    assert_eq!(names(&root.path().join("runtest/syscalls")), syscalls);
    assert_eq!(recognise(&root.path().join("testcases/bin/abort01")), None);
}

#[test]
fn a_command_is_run_by_a_shell_as_ltp_does() {
    let suite = open(&wanted(installed().path())).unwrap();
    let case = suite.cases.iter().find(|case| case.name == "syscalls/abort01").unwrap();
    assert_eq!(case.command.argv, ["/bin/sh", "-c", "abort01 -x"]);
    assert!(case.command.environment.contains(&("LTPROOT".into(), "/opt/ltp".into())));
    assert_eq!(case.program, Behind::File("testcases/bin/abort01".into()));
    let behind = |name: &str| suite.cases.iter().find(|case| case.name == name).unwrap().program.clone();
    assert_eq!((behind("syscalls/gone"), behind("fs/odd")), (Behind::Name("gone".into()), Behind::Unknown));
}

#[test]
fn a_tree_that_was_built_in_place_is_gathered() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "runtest/syscalls", "abort01 abort01\n", 0o644);
    write(root.path(), "runtest/Makefile", "all:\n", 0o644);
    for (path, mode) in [
        ("testcases/kernel/abort/abort01", 0o755),
        ("testcases/kernel/abort/abort01.c", 0o644),
        ("testcases/lib/tst_test.sh", 0o644),
        ("testcases/kernel/x/datafiles/in", 0o644),
        ("configure", 0o755),
    ] {
        write(root.path(), path, "#!/bin/sh\n", mode);
    }
    let suite = open(&wanted(root.path())).unwrap();
    let bin = "/opt/ltp/testcases/bin";
    assert_eq!(
        suite.links,
        [
            (format!("{bin}/abort01"), "/opt/ltp/testcases/kernel/abort/abort01".to_string()),
            (format!("{bin}/tst_test.sh"), "/opt/ltp/testcases/lib/tst_test.sh".to_string()),
        ]
    );
    let shipped: Vec<&str> =
        suite.folder.entries().filter(|(_, entry)| entry.is_file()).map(|(path, _)| path).collect();
    assert_eq!(
        shipped,
        [
            "runtest/Makefile",
            "runtest/syscalls",
            "testcases/kernel/abort/abort01",
            "testcases/kernel/x/datafiles/in",
            "testcases/lib/tst_test.sh"
        ]
    );
}

#[test]
fn a_bad_line_is_told_with_its_number() {
    let root = installed();
    write(root.path(), "runtest/zzz", "# fine\nalone\n", 0o644);
    let error = open(&wanted(root.path())).unwrap_err();
    assert!(
        error.is_usage() && error.to_string().ends_with("runtest/zzz:2: a tag without a command"),
        "{error}"
    );
}

#[test]
fn a_tree_without_lists_is_reported() {
    let root = tempfile::tempdir().unwrap();
    for directory in ["runtest", "testcases/bin"] {
        std::fs::create_dir_all(root.path().join(directory)).unwrap();
    }
    assert!(open(&wanted(root.path())).unwrap_err().to_string().contains("has no lists of tests"));
}

#[test]
fn a_factor_scales_the_runtimes_and_reaches_the_tests() {
    let root = installed();
    write(root.path(), metadata::FILE, r#"{"tests": {"abort01": {"runtime": "30"}}}"#, 0o644);
    let suite = open_with(&wanted(root.path()), RuntimeFactor::parse("0.1").unwrap()).unwrap();
    let case = suite.cases.iter().find(|case| case.name == "syscalls/abort01").unwrap();
    assert_eq!(case.runtime, Some(Duration::from_secs(3)));
    assert!(case.command.environment.contains(&("LTP_RUNTIME_MUL".into(), "0.1".into())));
    for value in ["", "0", "-1", "101", "inf", "NaN", "1s"] {
        let error = RuntimeFactor::parse(value).unwrap_err();
        let said = format!("LTP_RUNTIME_MUL={value}: not a number from 0.01 to 100");
        assert!(error.is_usage() && error.to_string() == said, "{error}");
    }
}
