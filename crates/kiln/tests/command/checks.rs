//! `kiln check`: patches that are built, tested and compared with what was there before.

use std::path::PathBuf;

use check::{Built, Change, Culprit, SeriesCheck, Verdict};

use rustix::process::Signal;

use crate::support::source::Source;
use crate::support::{BUILD, Call, Done, KERNEL, Place, cache, kernel_of, text};

/// A kernel that differs from [`KERNEL`] in its release.
const OTHER: &str = "deb:6.1.0-47-cloud-amd64";

/// Only these are found in its folder.
pub(crate) const CACHE: &str = "cache";

pub(crate) fn check(place: &Place, source: &Source, patches: &str, more: &[&str]) -> Call {
    let arguments = [&["check", patches, "--tree", text(&source.path)], more].concat();
    place.kiln(arguments).env("XDG_CACHE_HOME", place.path().join(CACHE)).env("HOME", place.path())
}

fn builds(found: &SeriesCheck) -> Vec<&str> {
    let word = |build: &Built| match build {
        Built::NotTried => "not tried",
        Built::Failed { .. } => "failed",
        Built::Kernel { new_warnings, .. } if new_warnings.is_empty() => "built",
        Built::Kernel { .. } => "warned",
    };
    [&found.base].into_iter().chain(&found.patches).map(|commit| word(&commit.build)).collect()
}

/// What git writes about the commits since `main`, as it would be sent.
fn mails(place: &Place, source: &Source, more: &[&str]) -> PathBuf {
    let fixed = ["format-patch", "--stdout", "--thread", "--cover-letter", "--to=list@example.net"];
    let mails = source.git(&[&fixed, more, &["main..topic"]].concat());
    place.file("thread.mbx", format!("{mails}\n"))
}

/// The mails that git has written, one after the other.
fn one_by_one(mails: &str) -> Vec<&str> {
    let is_start = |at: usize| at == 0 || mails.as_bytes()[at - 1] == b'\n';
    let starts: Vec<usize> =
        mails.match_indices("From ").map(|(at, _)| at).filter(|&at| is_start(at)).collect();
    let ends = starts.iter().skip(1).copied().chain([mails.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &mails[start..end]).collect()
}

const ONLY_BUILD: [&str; 4] = ["--config", "defconfig", "--build-only", "--json"];

#[test]
fn each_patch_is_built_and_what_is_new_in_it_is_named() {
    let place = Place::new();
    let source = place.source();
    source.write("fs/main.c", "int odd;\n");
    source.commit("fs: warn");
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source.write("fs/main.c", "int moved;\n\nint odd;\n");
    source.commit("fs: move a line that warns");
    source.write("fs/main.c", "int moved;\n\nint odd;\nint odd_too;\n");
    source.commit("fs: warn once more");
    source.adds("kernel/new.c", "int broken;\n");
    source.write("kernel/new.c", "int mended;\n");
    source.commit("kernel: mend");
    let before = source.listing();
    let done = check(&place, &source, "main..", &ONLY_BUILD).run_within(BUILD).expect(1);
    let found: SeriesCheck = done.stated();
    assert_eq!(builds(&found), ["built", "built", "warned", "failed", "built"]);
    let Built::Kernel { new_warnings, .. } = &found.patches[1].build else { panic!("{found:#?}") };
    assert_eq!(new_warnings[..], ["fs/main.c:4:1: warning: odd [-Wodd]"]);
    let Built::Failed { cause } = &found.patches[2].build else { panic!("{found:#?}") };
    assert!(cause.contains("kernel/main.c:1:5: error: expected sense"), "{cause}");
    assert_eq!((found.verdict, found.tests), (Verdict::Worse, None));
    source.is_still(&before);

    let fragment = place.file("debug.config", "CONFIG_64BIT=y\n");
    let also = format!("defconfig,{}", text(&fragment));
    let more = [&ONLY_BUILD[..], &["--also-config", &also]].concat();
    let found: SeriesCheck =
        check(&place, &source, "main..topic~2", &more).run_within(BUILD).expect(1).stated();
    let [other] = &found.also[..] else { panic!("{found:#?}") };
    assert_eq!(other.configurations.len(), 2);
    let Built::Kernel { new_warnings, .. } = &other.patches[1].build else { panic!("{other:#?}") };
    assert_eq!(new_warnings[..], ["fs/main.c:4:1: warning: odd [-Wodd]"]);

    let text = check(&place, &source, "main..", &ONLY_BUILD[..3]).run_within(BUILD).expect(1).stdout;
    let expected = "worse: patch 2 of 4 adds 1 new warning; patch 3 of 4 does not build\n";
    assert!(text.starts_with(expected) && text.contains("fs/main.c:4:1: warning: odd"), "{text}");
    source.git(&["rm", "--quiet", "Kconfig"]);
    source.commit("Kconfig: remove");
    let done = check(&place, &source, "topic~1..", &ONLY_BUILD).run_within(BUILD).expect(1);
    let found: SeriesCheck = done.stated();
    let Built::Failed { cause } = &found.patches[0].build else { panic!("{found:#?}") };
    assert!(cause.contains("not a kernel source tree"), "{cause}");
    source.git(&["checkout", "--quiet", "topic~1"]);
    let good = check(&place, &source, "main..topic~4", &ONLY_BUILD).run_within(BUILD).expect(0);
    assert_eq!(good.stated::<SeriesCheck>().verdict, Verdict::Same);
}

#[test]
fn a_series_is_checked_on_its_base_and_gets_an_answer() {
    let place = Place::new();
    let source = place.source();
    source.git(&["config", "user.name", "M. Aintainer"]);
    source.git(&["config", "user.email", "m@example.net"]);
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source.write("fs/main.c", "int one;\n");
    source.commit("fs: one");
    source.adds("kernel/new.c", "int broken;\n");
    let thread = mails(&place, &source, &["--base=main"]);
    let needs = format!("\nprerequisite-patch-id: {}\nbase-commit: ", "0123456789".repeat(4));
    let mail = std::fs::read_to_string(&thread).expect("just written").replace("\nbase-commit: ", &needs);
    std::fs::write(&thread, mail).expect("writable");
    source.git(&["checkout", "--quiet", "main"]);
    source.git(&["branch", "--quiet", "-D", "topic"]);
    let before = source.listing();
    let [draft, results, sent] = ["draft", "results", "sent"].map(|name| place.path().join(name));
    let program = place.script("takes", &format!("echo \"$@\" > {0}; cat >> {0}", sent.display()));
    place.file(".gitconfig", format!("[sendemail]\n\tsmtpServer = {}\n", program.display()));
    let more = ["--mail", text(&draft), "--results", text(&results), "--send"];
    let more = [&ONLY_BUILD[..], &more].concat();
    let call = check(&place, &source, text(&thread), &more).from(text(&source.path));
    let done = call.run_within(BUILD).expect(1);
    let found: SeriesCheck = done.stated();
    assert_eq!(builds(&found), ["built", "built", "failed"]);
    assert_eq!(found.base.hash, source.first);
    for text in
        ["as the series says", "needs 1 patch before it", "building the patches runs code of their senders"]
    {
        assert!(done.stderr.contains(text), "{}", done.stderr);
    }
    let draft = std::fs::read_to_string(draft).expect("asked for");
    for line in [
        "From: \"M. Aintainer\" <m@example.net>",
        "To: \"A. Developer\" <dev@example.org>",
        "Cc: list@example.net",
        "Subject: Re: [PATCH 0/2] *** SUBJECT HERE ***",
        "worse: patch 2 of 2 does not build",
    ] {
        assert!(draft.lines().any(|it| it == line), "{line}\n{draft}");
    }
    assert!(draft.lines().all(|line| line.chars().count() <= 72), "{draft}");
    assert!(draft.contains("\nIn-Reply-To: <cover.") && draft.contains("kiln check cover."), "{draft}");
    assert!(!draft.contains("Tested-by") && !draft.contains(text(place.path())), "{draft}");
    let sent = std::fs::read_to_string(sent).expect("sent");
    assert!(sent.starts_with("-i -f m@example.net -- dev@example.org list@example.net\n"), "{sent}");
    assert!(sent.ends_with(draft.split_once("\n\n").expect("a body").1), "{sent}");
    let folder = std::fs::read_dir(&results).expect("made").next().expect("one").expect("readable").path();
    for name in ["request.json", "check.json", "report.html", "patches.mbx", "mail.txt"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    source.git(&["am", "--quiet", text(&folder.join("patches.mbx"))]);
    source.git(&["reset", "--quiet", "--hard", "main~2"]);
    assert_eq!(source.git(&["status", "--porcelain"]), "", "{}", before.len());
}

#[test]
fn b4_is_told_about_a_patch_and_about_a_series() {
    let place = Place::new();
    let source = place.source();
    source.git(&["checkout", "--quiet", "-b", "b4/review/our-change"]);
    source.write("fs/main.c", "int odd;\n");
    let first = source.commit("fs: warn");
    source.adds("kernel/new.c", "int broken;\n");
    let mails = source.git(&["format-patch", "--stdout", "--thread", "--cover-letter", "main.."]);
    source.adds("tracking", "of b4");
    source.git(&["checkout", "--quiet", "main"]);
    let tracked = format!(
        "{{\"series\": {{\"change-id\": \"our-change\", \"expected\": 2, \"first-patch-commit\": \"{first}\"}}}}"
    );
    let tracked = place.file("tracking.json", tracked);
    let mail = |number: usize| place.file(&format!("mail-{number}"), one_by_one(&mails)[number]);
    let says = |number: usize, more: &[&str]| -> Vec<serde_json::Value> {
        let arguments = [&["b4-check", "--tree", text(&source.path), "--config", "defconfig"], more].concat();
        let call =
            place.kiln(arguments).env("XDG_CACHE_HOME", place.path().join(CACHE)).env("HOME", place.path());
        call.env("B4_TRACKING_FILE", text(&tracked))
            .with_input(&mail(number))
            .run_within(BUILD)
            .expect(0)
            .stated()
    };
    for (number, more, status, summary) in [
        (0, &["--build-only"][..], "fail", "1/2 builds, 1 new warning; 2/2 does not build"),
        (1, &["--patch"], "warn", "1/1 builds, 1 new warning"),
        (2, &["--patch"], "fail", "2/2 does not build"),
    ] {
        let [result] = &says(number, more)[..] else { panic!("one result") };
        assert_eq!((result["status"].as_str(), result["summary"].as_str()), (Some(status), Some(summary)));
        assert_eq!(result["tool"], "kiln build");
    }
    let nowhere = "[b4]\n\tmidmask = http://127.0.0.1:1/%s\n";
    place.file(".gitconfig", nowhere);
    let call =
        place.kiln(["b4-check", "--tree", text(&source.path)]).env("HOME", place.path()).with_input(&mail(0));
    let done = call.run().expect(3);
    let results: Vec<serde_json::Value> = done.stated();
    assert_eq!(results[0]["status"], "warn", "{results:?}");
    assert!(results[0]["summary"].as_str().expect("text").starts_with("not checked: "), "{results:?}");
}

#[test]
fn builds_are_told_where_their_kernels_cannot_run() {
    let place = Place::new();
    let source = place.source();
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source.write("fs/main.c", "int odd;\n");
    source.commit("fs: warn");
    source.write("fs/main.c", "int mended;\n");
    source.commit("fs: do not warn");
    let run = |range: &str, code| {
        let more = ["--config", "defconfig", "--measure", "none", "--json"];
        check(&place, &source, range, &more).run_within(BUILD).expect(code)
    };
    let found: SeriesCheck = run("topic~1..topic", 3).stated();
    assert_eq!((builds(&found), found.verdict), (vec!["built", "built"], Verdict::Undecided));
    let [why] = &found.unchecked[..] else { panic!("{found:#?}") };
    assert!(why.starts_with("cases: ") && why.contains("CONFIG_BLK_DEV_INITRD"), "{why}");
    assert_eq!(run("main..topic", 1).stated::<SeriesCheck>().verdict, Verdict::Worse, "a warning is enough");
}

#[test]
fn every_series_that_arrives_is_checked_once() {
    let place = Place::new();
    let source = place.source();
    let maildir = place.path().join("maildir");
    for folder in ["cur", "new", "tmp"] {
        std::fs::create_dir_all(maildir.join(folder)).expect("writable");
    }
    let series = |name: &str, texts: &[&str]| {
        source.git(&["checkout", "--quiet", "-B", "topic", "main"]);
        for text in texts {
            source.write("fs/main.c", text);
            source.commit(&format!("{name}: {text}"));
        }
        let mails = source.git(&["format-patch", "--stdout", "--thread", "--base=main", "main..topic"]);
        source.git(&["checkout", "--quiet", "main"]);
        mails
    };
    let arrives = |name: &str, mail: &str| {
        std::fs::write(maildir.join("new").join(name), format!("{mail}\n")).expect("writable");
    };
    arrives("1", &series("old", &["int old;\n"]));
    let watches = || {
        let arguments = ["check", "--watch", text(&maildir), "--tree", text(&source.path)];
        let call = place.kiln([&arguments, &ONLY_BUILD[..3]].concat());
        call.env("XDG_CACHE_HOME", place.path().join(CACHE)).env("HOME", place.path()).start()
    };
    let kiln = watches();
    kiln.await_stderr("1 series are there already");
    let mails = series("new", &["int new;\n", "int odd;\n"]);
    let [first, second] = one_by_one(&mails)[..] else { panic!("two mails") };
    arrives("2", second);
    arrives("3", first);
    kiln.await_stdout("\"new: int new;\": worse: patch 2 of 2 adds 1 new warning\n");
    let strange = series("strange", &["int strange;\n"])
        .replace("base-commit: ", "base: ")
        .replace("\nindex ", "\nindex abcdef0");
    arrives("4", &strange);
    kiln.await_stderr("\"strange: int strange;\" was not checked: ");
    kiln.signal(Signal::INT);
    let done = kiln.wait().expect(130);
    assert!(
        done.stdout.matches("results in").count() == 1 && !done.stdout.contains("old"),
        "{}",
        done.stdout
    );
    arrives("5", &series("later", &["int later;\n"]));
    let kiln = watches();
    kiln.await_stdout("\"later: int later;\": same: the patch builds\n");
    kiln.signal(Signal::INT);
    let done = kiln.wait().expect(130);
    assert_eq!(done.stdout.matches("results in").count(), 1, "{}", done.stdout);
}

#[test]
fn a_mail_that_is_finished_later_is_checked_again() {
    let place = Place::new();
    let source = place.source();
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source.write("fs/main.c", "int fine;\n");
    source.write("kernel/main.c", "int broken;\n");
    source.commit("two files");
    let mail = source.git(&["format-patch", "--stdout", "--base=main", "main..topic"]) + "\n";
    let mail = mail.replacen("\nSubject: ", "\nMessage-ID: <1@example.org>\nSubject: ", 1);
    source.git(&["checkout", "--quiet", "main"]);
    let mailbox = place.file("box.mbx", "");
    let arguments = ["check", "--watch", text(&mailbox), "--base", "main", "--tree", text(&source.path)];
    let call = place.kiln([&arguments, &ONLY_BUILD[..3]].concat());
    let call = call.env("XDG_CACHE_HOME", place.path().join(CACHE)).env("HOME", place.path());
    let kiln = call.start();
    kiln.await_stderr("0 series are there already");
    let half = mail.rfind("diff --git").expect("two files");
    std::fs::write(&mailbox, &mail[..half]).expect("writable");
    kiln.await_stdout("\"two files\": same: the patch builds\n");
    std::fs::remove_file(&mailbox).expect("it is there");
    kiln.await_stderr("no such file");
    std::fs::write(&mailbox, &mail).expect("writable");
    kiln.await_stdout("\"two files\": worse: patch 1 of 1 does not build\n");
    kiln.signal(Signal::INT);
    kiln.wait().expect(130);
}

/// A tree whose image is one of two real kernels: that of `fs/main.c`.
pub(crate) fn tree_with_kernels(place: &Place) -> Source {
    let source = place.source();
    for (name, locator) in [("right", KERNEL), ("wrong", OTHER)] {
        source.write(name, std::fs::read(kernel_of(locator).image).expect("readable"));
    }
    source.changes("Makefile", "@cp image $(O)/arch", "@cp `cat fs/main.c` $(O)/arch");
    source.changes("Makefile", "@echo 'CONFIG_64BIT=y' >", "@cp config");
    let config = kernel_of(KERNEL).config.expect("a package has it");
    let options: String = config.options().map(|(name, value)| format!("CONFIG_{name}={value}\n")).collect();
    source.write("config", options);
    source.write("fs/main.c", "right\n");
    source.commit("two kernels");
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn the_patch_that_makes_a_program_fail_is_named() {
    let place = Place::new();
    let source = tree_with_kernels(&place);
    source.adds("fs/other.c", "int other;\n");
    source.write("fs/main.c", "wrong\n");
    let wrong = source.commit("fs: take the wrong kernel");
    source.adds("kernel/other.c", "int other;\n");
    let release = KERNEL.trim_start_matches("deb:");
    let program = place.script("is-right", &format!("test \"$(uname -r)\" = {release}"));
    let run = |range: &str, code| -> Done {
        let more = ["--config", "defconfig", "--exec", text(&program), "--json"];
        check(&place, &source, range, &more).run_within(BUILD).expect(code)
    };
    let found: SeriesCheck = run("main..", 1).stated();
    let tests = found.tests.as_ref().expect("it ran");
    let [change] = &tests.changes[..] else { panic!("{tests:#?}") };
    assert_eq!((tests.cases, change.case.as_str(), change.change), (1, "is-right", Change::Worse));
    let Some(Culprit::Patches { numbers, confidence }) = &change.culprit else { panic!("{change:#?}") };
    assert!(numbers[..] == [2] && *confidence >= 0.99, "{change:#?}");
    assert_eq!((found.patches[1].hash.as_str(), found.verdict), (wrong.as_str(), Verdict::Worse));
    assert_eq!(run(&format!("main..{wrong}~1"), 0).stated::<SeriesCheck>().verdict, Verdict::Same);
    assert_eq!(
        run(&format!("{wrong}..topic"), 0).stated::<SeriesCheck>().tests.expect("ran").failed_before,
        1
    );
}

/// What the makefiles of selftests do for a group.
const INSTALL: &str = "\
install:
\tmkdir -p $(KSFT_INSTALL_PATH)/$(TARGETS)
\tcp release/is-right $(KSFT_INSTALL_PATH)/release
\techo release:is-right > $(KSFT_INSTALL_PATH)/kselftest-list.txt
";

#[test]
#[ignore = "takes most of a minute of CPU"]
fn the_patch_that_makes_a_selftest_of_the_series_fail_is_named() {
    let place = Place::new();
    let source = tree_with_kernels(&place);
    source.changes("Makefile", "kernelrelease:", "headers:\n\t@:\nkernelrelease:");
    let release = KERNEL.trim_start_matches("deb:");
    let test = format!("#!/bin/sh\nif test $(uname -r) = {release}; then echo ok 1 it; else exit 1; fi\n");
    for (name, content) in [("Makefile", INSTALL), ("release/Makefile", ""), ("release/is-right", &test)] {
        source.write(&format!("tools/testing/selftests/{name}"), content);
    }
    source.commit("selftests: look at the release");
    source.write("MAINTAINERS", "FILES\nF:\tfs/\nF:\ttools/testing/selftests/fs/x.c\n");
    source.write("tools/testing/selftests/fs/Makefile", "");
    source.write("fs/main.c", "wrong\n");
    source.commit("fs: take the wrong kernel");
    source.adds("kernel/other.c", "int other;\n");
    let more = ["--config", "defconfig", "--kselftest", "release", "--measure", "none", "--json"];
    let found: SeriesCheck = check(&place, &source, "main..", &more).run_within(BUILD).expect(1).stated();
    let [change] = &found.tests.as_ref().expect("it ran").changes[..] else { panic!("{found:#?}") };
    assert_eq!((change.case.as_str(), change.change), ("release/is-right", Change::Worse));
    let Some(Culprit::Patches { numbers, .. }) = &change.culprit else { panic!("{change:#?}") };
    assert_eq!(numbers[..], [2], "the first patch brings the test, which passes on the kernel before it");
    let again =
        found.reproduce.iter().any(|line| line.contains("/selftests --case") || line.ends_with("/selftests"));
    assert!(again, "{:?}", found.reproduce);
    let suggestion = "MAINTAINERS has selftests for what the patches touch: --kselftest fs";
    assert_eq!(found.notes.last().map(String::as_str), Some(suggestion), "the one that ran is not suggested");
}

#[test]
fn wrong_input_is_one_clear_message() {
    let place = Place::new();
    let source = place.source();
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    for number in 1..=2 {
        source.write("fs/main.c", format!("int number_{number};\n"));
        source.commit(&format!("fs: {number}"));
    }
    let thread = mails(&place, &source, &[]);
    let without = std::fs::read_to_string(&thread).expect("just written");
    let at = without.find("Subject: [PATCH 2/2]").expect("two patches");
    let first = without[..at].rfind("From ").expect("a mail");
    let missing = place.file("missing.mbx", &without[..first]);
    let strange = place.file("strange.mbx", without.replace("\nindex ", "\nindex abcdef0"));
    let outside = place.file("outside.mbx", without.replace("/fs/main.c", "/../e.c"));
    source.git(&["checkout", "--quiet", "main"]);
    let nowhere = place.path().join("nowhere").display().to_string();
    for (patches, more, message) in [
        ("nothing.mbx", &[][..], "nothing.mbx: no such file"),
        (text(&missing), &[], "1 of 2 patches are missing"),
        (text(&strange), &[], "name it with --base"),
        (text(&thread), &["--base", "none"], "no commit none"),
        ("main..none", &[], "no commit none"),
        ("a...b", &[], "is no range: write FIRST..LAST"),
        ("topic..main", &[], "main is before topic: write main..topic"),
        ("main..topic", &["--mail", "draft"], "there is nobody to answer"),
        ("main..topic", &["--html", "/no/such/folder/page"], "name a file that can be written"),
        ("main..topic", &["--build-only", "--suite", "full"], "cannot be used with"),
        ("main..topic", &["--config", "no-such"], "there is no configuration"),
        ("main..topic", &["--tree", &nowhere], "nowhere"),
        (
            text(&outside),
            &["--base", "main"],
            "../e.c: does not exist in index; patches may not write outside the tree or into .git",
        ),
        (text(&thread), &["--require-attestation"], "nobody vouches for"),
        ("main..topic", &["--case", "no-such/case"], "no-such/case"),
        ("main..topic", &["--measure", "no-such/operation"], "no-such/operation"),
        ("main..topic", &["--exec", "no-such-program"], "no-such-program: no such file"),
        ("main..topic", &["--analyse", "lint"], "\"lint\" is no analyser of sparse, gcc, "),
    ] {
        let says = |words: &[&str]| words.iter().any(|word| more.contains(word));
        let config = if says(&["--config"]) { &[][..] } else { &["--config", "defconfig"] };
        let only = if says(&["--build-only", "--case", "--exec", "--measure"]) {
            &[][..]
        } else {
            &["--build-only"]
        };
        let own = &[config, only].concat()[..];
        let tree = if more.contains(&"--tree") { vec![] } else { vec!["--tree", text(&source.path)] };
        let arguments = [&["check", patches], &tree[..], own, more].concat();
        let call =
            place.kiln(arguments).env("XDG_CACHE_HOME", place.path().join(CACHE)).env("HOME", place.path());
        let done = call.run().expect(2);
        assert!(done.stderr.contains(message), "{patches} {more:?}: {}", done.stderr);
    }
    let kept = std::fs::read_dir(place.path().join("state/kiln/checks")).into_iter().flatten().count();
    assert_eq!(kept, 0, "nothing was found");
}

#[test]
#[ignore = "takes minutes"]
fn the_patch_that_breaks_a_case_and_the_one_that_makes_a_system_call_dearer_are_named_to_the_author() {
    let place = Place::new();
    let source = place.debian_source();
    source.git(&["config", "user.name", "Maintainer"]);
    source.git(&["config", "user.email", "m@example.net"]);
    source.git(&["checkout", "--quiet", "-b", "topic"]);
    source.adds("Documentation/one.txt", "words\n");
    source.breaks_pipes();
    source.makes_getppid_dearer();
    let thread = mails(&place, &source, &["--base=main"]);
    source.git(&["checkout", "--quiet", "main"]);
    let draft = place.path().join("draft");
    let more = ["--config", "tiny", "--case", "pipe/*", "--measure", "syscall/get*", "--mail", text(&draft)];
    let call = place.kiln([&["check", text(&thread), "--tree", text(&source.path)], &more[..]].concat());
    let call = call.env("XDG_CACHE_HOME", cache()).env("HOME", place.path()).from(text(&source.path));
    let done = call.run_within(BUILD).expect(1);
    let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "worse: pipe/broken fails with patch 2 of 3; syscall/getppid costs ";
    assert!(words.starts_with(expected) && words.contains(" with patch 3 of 3 base "), "{}", done.stdout);
    let draft = std::fs::read_to_string(draft).expect("asked for");
    for text in [
        "\nworse: pipe/broken\n",
        "by patch 2 of 3",
        "by patch 3 of 3",
        "sys_getppid",
        "Subject: Re: [PATCH 0/3]",
    ] {
        assert!(draft.contains(text), "{text}\n{draft}");
    }
    assert!(!draft.contains("Tested-by"), "{draft}");
}
