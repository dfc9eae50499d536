//! Suites of others: folders, LTP, kselftest. The trees are made up, what runs in them is real.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use judge::{Blame, Outcome};
use protocol::Counts;

use crate::support::{Done, KERNEL, Place, kernel};

/// Writes a file, executable if it is a script.
fn put(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().expect("it is below the root")).expect("writable");
    std::fs::write(&path, content).expect("writable");
    let mode = if content.starts_with("#!") { 0o755 } else { 0o644 };
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("it is ours");
}

fn script(root: &Path, path: &str, body: &str) {
    put(root, path, &format!("#!/bin/sh\n{body}\n"));
}

/// `kiln run KERNEL --no-retry` with an option that names `path`.
fn run(place: &Place, option: &str, path: &Path, more: &[&str]) -> Done {
    let path = path.to_str().expect("paths of tests are UTF-8");
    place.kiln([&["run", KERNEL, "--no-retry", option, path], more].concat()).run()
}

/// Each case with its Outcome, blame and reason, sorted.
fn outcomes(done: &Done) -> Vec<(String, Outcome, Option<Blame>, String)> {
    let mut all: Vec<_> = done
        .finished()
        .into_iter()
        .map(|run| (run.case, run.outcome, run.blame, without_limit(run.reason)))
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// A limit is stretched by what the host has to do.
fn without_limit(reason: String) -> String {
    match reason.split_once(" did not end within ").zip(reason.split_once(" s;")) {
        Some(((before, _), (_, after))) => format!("{before} did not end within N s;{after}"),
        None => reason,
    }
}

#[track_caller]
fn expect(done: &Done, expected: &[(&str, Outcome, Option<Blame>, &str)]) {
    let all = outcomes(done);
    let seen: Vec<_> = all
        .iter()
        .map(|(case, outcome, blame, reason)| (case.as_str(), *outcome, *blame, reason.as_str()))
        .collect();
    assert_eq!(seen, expected, "{}", done.stdout);
}

fn folder(place: &Place) -> PathBuf {
    let root = place.path().join("tests");
    script(&root, "net/reads", "cat data/in; test \"$(cat data/in)\" = beside && test -x ../fails");
    put(&root, "net/data/in", "beside\n");
    script(&root, "fails", "echo 'ok 1 a'; echo 'not ok 2 b'; exit 1");
    script(&root, "expected", "echo 'ok 1 a # XFAIL known'; exit 2");
    script(&root, "unreadable", "if then");
    script(&root, "skips", "echo '1..0 # SKIP no device'; exit 4");
    script(&root, "reports", "kiln-report pass one; kiln-report fail 'two is 3'");
    script(&root, ".hidden", "exit 1");
    script(&root, ".git/hooks/pre-commit", "exit 1");
    put(&root, "python.py", "#!/usr/bin/env python3\n");
    put(&root, "bash", "#!/bin/bash\nx=(a b); [[ ${#x[@]} == 2 ]]\n");
    put(&root, "libx.so.1", "#! no program\n");
    let program = place.compile("c", r#"printf("%.0f\n", sqrt(atof("81")));"#, "#include <math.h>", &["-lm"]);
    std::fs::rename(program, root.join("net/c")).expect("the same disk");
    symlink("../fails", root.join("net/link")).expect("writable");
    symlink("/etc/passwd", root.join("out")).expect("writable");
    root
}

#[test]
fn every_executable_of_a_folder_is_a_case() {
    let place = Place::new();
    let root = folder(&place);
    let done = run(&place, "--suite", &root, &[]).expect(1);
    let no_python = "needs python3 with its modules, which kiln does not ship";
    let no_word = "exit status 2 without an expected failure (XFAIL) in the output";
    expect(
        &done,
        &[
            ("bash", Outcome::Pass, None, ""),
            ("expected", Outcome::Pass, None, "expected failure: known"),
            ("fails", Outcome::Fail, None, "exit status 1: not ok 2 b"),
            ("net/c", Outcome::Pass, None, ""),
            ("net/reads", Outcome::Pass, None, ""),
            ("python.py", Outcome::Skip, None, no_python),
            ("reports", Outcome::Fail, None, "two is 3"),
            ("skips", Outcome::Skip, None, "no device"),
            ("unreadable", Outcome::Fail, None, no_word),
        ],
    );
    assert_eq!(
        (done.document("net/c").output.as_str(), done.document("net/reads").output.as_str()),
        ("9\n", "beside\n")
    );
    assert!(done.document("expected").expected_failure);
    assert!(
        done.recorded("events.jsonl").contains("not shipped: out is a link that leads out of the folder")
    );
    done.says("expected failure: expected");
}

#[test]
fn an_expected_failure_is_told_in_every_format() {
    let place = Place::new();
    let root = place.path().join("tests");
    script(&root, "x", "echo 'not ok 1 a # XFAIL known'; exit 2");
    let ktap = run(&place, "--suite", &root, &["--format", "ktap"]).expect(0);
    ktap.says("ok 1 x # XFAIL expected failure: known\n");
    let junit = run(&Place::new(), "--suite", &root, &["--format", "junit"]).expect(0);
    junit.says("<skipped message=\"expected failure: known\"/>");
}

fn ltp(place: &Place) -> PathBuf {
    let root = place.path().join("ltp");
    let list = "# made up\npass t 0 TPASS\nfail t 1 TFAIL\nbroken t 2 TBROK\nwarning t 4 TWARN\nskip t 32 TCONF\n\
                both t 3 TFAIL\nenvironment cd $TMPDIR && test $PWD = /tmp && test $LTP_TIMEOUT_MUL -ge 1 && t 0 TPASS\n\
                old-enough test $(cut -d. -f1 /proc/uptime) -gt 10 && t 0 TPASS\n\
                configured grep -q ^CONFIG_X86_64=y$ $KCONFIG_PATH\nabsent no_such_test -x\nunknown (no_such_test)\n\
                killed kill -SEGV $$\nold old\ndriver driver\n";
    put(&root, "runtest/syscalls", list);
    put(&root, "runtest/other", "pass t 0 TPASS\n");
    script(
        &root,
        "testcases/bin/t",
        "test $LTPROOT = /opt/ltp || exit 1\n\
         echo 'tst_test.c:1621: TINFO: Timeout per run is 0h 05m 00s'\n\
         test $2 = TPASS || echo 't.c:11: TPASS: before'\n\
         test $1 = 32 && echo 't.c:12: TCONF: no hardware' && exit 32\n\
         echo \"t.c:12: $2: text of $2: EINVAL (22)\"\n\
         echo; echo 'Summary:'; echo 'passed   7'; echo 'failed   0'; echo 'broken   0'; exit $1",
    );
    script(&root, "testcases/bin/driver", "grep -q '^loop ' /proc/modules && command -v mkfs.ext4");
    let driver = r#"{"needs_drivers": ["loop", "no_such_module"], "needs_cmds": ["mkfs.ext4 >= 1.43"]}"#;
    put(&root, "metadata/ltp.json", &format!(r#"{{"tests": {{"driver": {driver}}}}}"#));
    script(&root, "testcases/bin/old", "echo 'old         1  TFAIL  :  old.c:5: it is old'; exit 1");
    root
}

#[test]
fn a_test_of_ltp_keeps_its_meaning() {
    let place = Place::new();
    let root = ltp(&place);
    let done = run(&place, "--suite", &root, &["--case", "syscalls/*"]).expect(1);
    let case = Some(Blame::Case);
    expect(
        &done,
        &[
            (
                "syscalls/absent",
                Outcome::Skip,
                None,
                "there is no no_such_test: it was not built or installed",
            ),
            ("syscalls/both", Outcome::Fail, None, "text of TFAIL: EINVAL (22)"),
            ("syscalls/broken", Outcome::Broken, case, "text of TBROK: EINVAL (22)"),
            ("syscalls/configured", Outcome::Pass, None, ""),
            ("syscalls/driver", Outcome::Pass, None, ""),
            ("syscalls/environment", Outcome::Pass, None, ""),
            ("syscalls/fail", Outcome::Fail, None, "text of TFAIL: EINVAL (22)"),
            ("syscalls/killed", Outcome::Fail, None, "the test was killed by signal 11"),
            ("syscalls/old", Outcome::Fail, None, "old.c:5: it is old"),
            ("syscalls/old-enough", Outcome::Pass, None, ""),
            ("syscalls/pass", Outcome::Pass, None, ""),
            ("syscalls/skip", Outcome::Pass, None, ""),
            ("syscalls/unknown", Outcome::Broken, case, "its command was not found (exit status 127)"),
            ("syscalls/warning", Outcome::Broken, case, "text of TWARN: EINVAL (22)"),
        ],
    );
    assert_eq!(done.document("syscalls/pass").counts, Counts { pass: 7, ..Counts::default() });
}

fn kselftest(place: &Place) -> PathBuf {
    let root = place.path().join("installed");
    let tests = ["pass", "fail", "xfail", "xpass", "skip", "late", "plain.sh", "gone", "arguments"];
    let list: String = tests.iter().map(|name| format!("group/deep:{name}\n")).collect();
    put(&root, "kselftest-list.txt", &list);
    put(&root, "group/deep/settings", "timeout=1\n");
    put(&root, "group/lib.sh", "word=found\n");
    script(&root, "group/deep/pass", ". ../lib.sh; test $word = found && echo 'ok 1 x'");
    script(&root, "group/deep/fail", "echo '# not ok 3 inner'; exit 1");
    script(
        &root,
        "group/deep/xfail",
        "echo '# Totals: pass:0 fail:0 xfail:1 xpass:0 skip:0 error:0'; exit 2",
    );
    script(&root, "group/deep/xpass", "exit 3");
    script(&root, "group/deep/skip", "echo 'ok 1 # SKIP not here'; exit 4");
    script(&root, "group/deep/late", "while :; do :; done");
    script(&root, "group/deep/arguments", "test \"$*\" = '-a b'");
    put(&root, "group/deep/plain.sh", "#!/bin/sh -e\ntrue\n");
    let plain = root.join("group/deep/plain.sh");
    std::fs::set_permissions(plain, PermissionsExt::from_mode(0o644)).expect("it is ours");
    root
}

#[test]
fn a_kselftest_keeps_its_meaning() {
    let place = Place::new();
    let root = kselftest(&place);
    let call = place.kiln(["run", KERNEL, "--no-retry", "--kselftest", root.to_str().expect("UTF-8")]);
    let done = call.env("KSELFTEST_ARGUMENTS_ARGS", "-a b").run().expect(1);
    let name = |name: &str| format!("group/deep/{name}");
    let names = ["arguments", "fail", "gone", "late", "pass", "plain.sh", "skip", "xfail", "xpass"].map(name);
    let reasons = [
        (Outcome::Pass, ""),
        (Outcome::Fail, "exit status 1: not ok 3 inner"),
        (Outcome::Skip, "it is listed but was not built or installed"),
        (Outcome::Hang, "the test did not end within N s; the kernel answers"),
        (Outcome::Pass, ""),
        (Outcome::Pass, ""),
        (Outcome::Skip, "not here"),
        (Outcome::Pass, "expected failure"),
        (Outcome::Fail, "it passed where a failure was expected (exit status 3)"),
    ];
    let expected: Vec<_> = names
        .iter()
        .zip(reasons)
        .map(|(name, (outcome, reason))| (name.as_str(), outcome, None, reason))
        .collect();
    expect(&done, &expected);
}

/// Installed selftests of two groups that fail alike, of which one asks for an option that no kernel has.
fn configured(place: &Place) -> PathBuf {
    let root = place.path().join("configured");
    let tests = ["errno", "missing", "killed", "well"];
    let names = ["all", "some"].iter().flat_map(|group| tests.map(|test| format!("{group}:{test}\n")));
    put(&root, "kselftest-list.txt", &names.collect::<String>());
    put(&root, "all/config", "CONFIG_SYSVIPC=y\n");
    put(&root, "some/config", "CONFIG_SYSVIPC=y\nCONFIG_NO_SUCH_THING=y\n");
    for group in ["all", "some"] {
        let test = |name: &str, body: &str| script(&root, &format!("{group}/{name}"), body);
        test("errno", "echo '# shiny(): Function not implemented'; echo 'not ok 1 shiny'; exit 1");
        test("missing", "cat /proc/sys/kernel/no_such_thing || { echo 'not ok 1 missing'; exit 1; }");
        test("killed", "kill -SEGV $$");
        test("well", "echo 'ok 1 well'");
    }
    root
}

#[test]
fn a_group_whose_options_the_kernel_lacks_accuses_nobody() {
    let place = Place::new();
    let root = configured(&place);
    let done = run(&place, "--kselftest", &root, &["--case", "some/*"]).expect(1);
    let without = |what: &str| {
        format!("{what} (the kernel was built without CONFIG_NO_SUCH_THING, which the test asks for)")
    };
    let skip = "the kernel was built without CONFIG_NO_SUCH_THING: shiny(): Function not implemented";
    expect(
        &done,
        &[
            ("some/errno", Outcome::Skip, None, skip),
            ("some/killed", Outcome::Fail, None, &without("the test was killed by signal 11")),
            ("some/missing", Outcome::Fail, None, &without("exit status 1: not ok 1 missing")),
            ("some/well", Outcome::Pass, None, ""),
        ],
    );
    done.says("cases failed, the kernel reported nothing");
    let other = Place::new();
    let done = run(&other, "--kselftest", &root, &["--case", "all/*"]).expect(1);
    let failed = done.finished().into_iter().filter(|run| run.outcome == Outcome::Fail);
    assert_eq!(failed.count(), 3, "{}", done.stdout);
}

/// A kernel tree with an image, whose makefiles are made up.
fn tree(place: &Place, install: &str) -> PathBuf {
    let root = place.path().join("tree");
    put(&root, "Makefile", "headers:\n\ttrue\n");
    let rules = format!("install:\n\tmkdir -p $(KSFT_INSTALL_PATH)/$(TARGETS)\n\t{install}\n");
    put(&root, "tools/testing/selftests/Makefile", &rules);
    put(&root, "tools/testing/selftests/timers/Makefile", "");
    script(&root, "tools/testing/selftests/timers/tick", "echo 'ok 1 tick'");
    let image = root.join("arch/x86/boot/bzImage");
    std::fs::create_dir_all(image.parent().expect("it has one")).expect("writable");
    std::fs::copy(kernel().image, image).expect("writable");
    root
}

const INSTALL: &str = "cp timers/tick $(KSFT_INSTALL_PATH)/timers\n\techo timers:tick > $(KSFT_INSTALL_PATH)/kselftest-list.txt";

#[test]
fn a_group_is_built_from_the_kernels_own_tree() {
    let place = Place::new();
    let root = tree(&place, INSTALL);
    let cache = place.path().join("cache");
    let call = place.kiln(["run", root.to_str().expect("UTF-8"), "--kselftest", "timers"]);
    let done = call.env("XDG_CACHE_HOME", &cache).run().expect(0);
    expect(&done, &[("timers/tick", Outcome::Pass, None, "")]);
}

#[test]
fn cases_of_others_are_listed_without_a_kernel() {
    let place = Place::new();
    let list = |option: &str, path: &Path| {
        place.kiln(["cases", option, path.to_str().expect("UTF-8")]).run().expect(0).stdout
    };
    let folder = list("--suite", &folder(&place));
    assert!(
        folder.contains("net/reads") && folder.contains("1 min") && !folder.contains("hidden"),
        "{folder}"
    );
    let ltp = list("--suite", &ltp(&place).join("runtest/other"));
    assert_eq!(ltp, "other/pass  10 min  -  t 0 TPASS\n");
    let kselftest = list("--kselftest", &kselftest(&place));
    assert!(
        kselftest.lines().all(|line| line.starts_with("group/deep/") && line.contains(" 1 s ")),
        "{kselftest}"
    );
    let tree = tree(&place, INSTALL).join("tools/testing/selftests/timers");
    assert_eq!(list("--kselftest", &tree), "timers/tick  45 s  -  selftests: timers: tick\n");
}

#[track_caller]
fn refused(place: &Place, arguments: &[&str], code: i32, words: &[&str]) {
    check(&place.kiln(arguments).run().expect(code), words);
}

#[track_caller]
fn check(done: &Done, words: &[&str]) {
    assert!(words.iter().all(|word| done.stderr.contains(word)), "{words:?}\n{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
}

#[test]
fn what_is_no_suite_is_told_in_one_line() {
    let place = Place::new();
    let at = |path: &str| place.path().join(path).display().to_string();
    for directory in ["empty", "half/runtest", "half/testcases"] {
        std::fs::create_dir_all(at(directory)).expect("writable");
    }
    put(place.path(), "texts/readme", "hello\n");
    put(place.path(), "bad/runtest/fs", "a b\n# c\nalone\n");
    put(place.path(), "bad/testcases/bin/b", "#!/bin/sh\n");
    put(place.path(), "list/kselftest-list.txt", "../x:y\n");
    put(place.path(), "none/kselftest-list.txt", "\n");
    for (option, path, words) in [
        ("--suite", "nowhere", "nowhere: No such file"),
        ("--suite", "empty", "empty: is empty"),
        ("--suite", "texts", "texts: holds no executable file"),
        ("--suite", "texts/readme", "texts/readme: is not a folder: --exec runs a single program"),
        ("--suite", "half", "half: has no lists of tests in runtest/"),
        ("--suite", "bad", "runtest/fs:3: a tag without a command"),
        ("--kselftest", "nowhere", "nowhere: No such file"),
        ("--kselftest", "texts", "neither an installed kselftest"),
        ("--kselftest", "list", "kselftest-list.txt:1: names no file of a group"),
        ("--kselftest", "none", "kselftest-list.txt names no tests"),
    ] {
        refused(&place, &["cases", option, &at(path)], 2, &[words]);
        refused(&place, &["run", KERNEL, option, &at(path)], 2, &[words]);
    }
    put(place.path(), "good/runtest/fs", "a b\n");
    put(place.path(), "good/testcases/bin/b", "#!/bin/sh\n");
    refused(
        &place,
        &["cases", "--suite", &at("good"), "--case", "fs/b"],
        2,
        &["no case of suite ltp matches"],
    );
    assert!(!place.path().join("state").exists(), "nothing is recorded of what was refused");
}

#[test]
fn selftests_that_cannot_be_built_are_told_in_one_line() {
    let place = Place::new();
    let root = tree(&place, "@echo 'x.c:1:2: error: no such thing'; exit 1");
    let root = root.to_str().expect("UTF-8");
    let group = format!("{root}/tools/testing/selftests/timers");
    let cases =
        || place.kiln(["cases", "--kselftest", &group]).env("XDG_CACHE_HOME", place.path().join("cache"));
    check(
        &cases().run().expect(3),
        &["building the selftests failed: x.c:1:2: error: no such thing", "make.log"],
    );
    check(
        &cases().env("PATH", "/nowhere").run().expect(3),
        &["make is not installed and is needed to build the selftests: apt-get install make"],
    );
    refused(
        &place,
        &["run", root, "--kselftest", "timer"],
        2,
        &["has no selftests \"timer\" (did you mean timers?)"],
    );
    refused(&place, &["cases", "--kselftest", "timers"], 2, &["the source of this kernel is unknown"]);
    refused(&place, &["run", KERNEL, "--kselftest", "timers"], 2, &["the source of this kernel is unknown"]);
    let both = place.kiln(["run", KERNEL, "--kselftest", "timers", "--suite", "full"]).run().expect(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
}
