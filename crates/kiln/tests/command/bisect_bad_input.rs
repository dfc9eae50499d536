//! Bisections that cannot be: one clear message each, and the right exit code.

use crate::support::{Done, KERNEL, Place};

const RANGE: &str = "deb:6.1.0-47-cloud..deb:6.1.0-56-cloud";

/// A call of `kiln bisect` that is refused with these words in a message of two lines at most.
#[track_caller]
fn refused(place: &Place, arguments: &[&str], code: i32, words: &[&str]) {
    explains(&place.kiln([&["bisect"], arguments].concat()).run().expect(code), words);
}

#[track_caller]
fn explains(done: &Done, words: &[&str]) {
    for word in words {
        assert!(done.stderr.contains(word), "no {word:?} in\n{}", done.stderr);
    }
    // What was seen until then may come before it; the reader of the command line adds the usage and where help is.
    let is_message = |line: &&str| line.starts_with("kiln: ") || line.starts_with("error: ");
    let lines: Vec<&str> = done.stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    let start = lines.iter().position(is_message).expect("a message");
    let message = &lines[start..];
    let most = if done.stderr.contains("try '--help'") { 4 } else { 2 };
    assert!(message.len() <= most, "{}", done.stderr);
    assert!(done.stdout.is_empty(), "{}", done.stdout);
}

#[test]
fn ends_that_do_not_belong_together() {
    let place = Place::new();
    let build = |range: &str, words: &[&str]| refused(&place, &[range, "--build"], 2, words);
    build("deb:6.1.0-56-cloud..deb:6.1.0-47-cloud", &["deb:6.1.0-56-cloud", "newer than"]);
    build("deb:6.1.0-56-cloud..deb:6.1.0-56-cloud-amd64", &["are both"]);
    build("deb:6.1.0-47-cloud..deb:6.1.0-56", &["of one flavour"]);
    build("deb:6.1.0-47-cloud..git:/nowhere@HEAD", &["git:/nowhere@HEAD"]);
    build("git:/nowhere@HEAD..deb:6.1.0-47-cloud", &["in different trees"]);
    build("git:/nowhere@a..git:/elsewhere@b", &["git:/elsewhere@b", "in different trees"]);
    build("git:/nowhere@a...b", &["git:TREE@FIRST..LAST"]);
    build("git:/nowhere@a..b", &["/nowhere: not a git repository"]);
    build("deb:9.9.9-99-nowhere-amd64..deb:6.1.0-56-cloud", &["deb:9.9.9-99-nowhere-amd64"]);
    build(KERNEL, &["is one kernel", "FIRST..LAST", "--params"]);
    build("nonsense", &["nonsense"]);
}

#[test]
fn questions_that_are_none() {
    let place = Place::new();
    refused(&place, &[RANGE], 2, &["--case", "--exec", "--metric", "--boot", "--build", "--log"]);
    refused(&place, &[RANGE, "--boot", "--build"], 2, &["cannot be used with"]);
    refused(
        &place,
        &[RANGE, "--case", "pipe/full", "--metric", "pipe/round-trip"],
        2,
        &["cannot be used with"],
    );
    refused(&place, &[RANGE, "--case", "no/such-case"], 2, &["no/such-case"]);
    refused(&place, &[RANGE, "--case", "pipe/full", "--root", "debian"], 2, &["--root debian", "--exec"]);
    refused(&place, &[RANGE, "--exec", "/bin/true", "--root", "host"], 2, &["--root host", "may change"]);
    refused(&place, &[RANGE, "--case", "pipe/*"], 2, &["pipe/*", "name one"]);
    refused(&place, &[RANGE, "--metric", "no/such-operation"], 2, &["no/such-operation"]);
    refused(&place, &[RANGE, "--metric", "poll/*"], 2, &["poll/*", "name one"]);
    refused(&place, &[RANGE, "--exec", "/nowhere/program"], 2, &["/nowhere/program"]);
    refused(&place, &[RANGE, "--boot", "--confidence", "100%"], 2, &["100%", "99.99%"]);
    refused(&place, &[RANGE, "--boot", "--tries", "0"], 2, &["--tries"]);
    refused(&place, &[RANGE, "--boot", "--html", "/nowhere/x.html"], 2, &["--html", "/nowhere/x.html"]);
    refused(&place, &[RANGE, "--boot", "--mail", "/"], 2, &["--mail /"]);
    refused(&place, &[RANGE, "--boot", "--suite", "ltp"], 2, &["cannot be used with"]);
    refused(&place, &[RANGE, "--boot", "--need", "2 CPUs"], 2, &["cannot be used with"]);
    refused(&place, &[RANGE, "--log", "text", "--timed"], 2, &["cannot be used with"]);
    refused(&place, &[RANGE, "--boot", "--worse-by", "1%"], 2, &["cannot be used with"]);
    refused(&place, &[RANGE, "--boot", "--", "argument"], 2, &["cannot be used with"]);
}

#[test]
fn axes_that_are_none() {
    let place = Place::new();
    refused(&place, &["--boot"], 2, &["FIRST..LAST", "--series"]);
    refused(&place, &["--series", "/nowhere", "--boot"], 2, &["--base"]);
    let base = ["--base", "deb:6.1.0-47-cloud"];
    refused(&place, &[&["--series", "/nowhere", "--boot"], &base[..]].concat(), 2, &["git:TREE@REVISION"]);
    refused(&place, &[KERNEL, "--params", "a", "--boot"], 2, &["--params"]);
    refused(&place, &[KERNEL, "--params", "a b", "b a", "--boot"], 2, &["same kernel parameters"]);
    let unknown = ["the kernel does not know frobnicate=1", "leave it out"];
    refused(&place, &[KERNEL, "--params", "quiet", "frobnicate=1", "--boot"], 2, &unknown);
    refused(&place, &[RANGE, "--params", "a", "b", "--boot"], 2, &["take one kernel"]);
    refused(&place, &[RANGE, "--path", "fs", "--boot"], 2, &["need commits"]);
    refused(&place, &[RANGE, "--config", "tiny", "--boot"], 2, &["nothing is built"]);
    refused(&place, &[KERNEL, "--config-good", "tiny", "--boot"], 2, &["--config-bad"]);
}

/// Parameters of the kernel of all tests.
#[derive(Clone, Copy)]
struct Ends {
    good: &'static str,
    bad: &'static str,
}

/// Two ends on the kernel of all tests, and a program that is asked.
#[track_caller]
fn asked(place: &Place, Ends { good, bad }: Ends, body: &str, code: i32, words: &[&str]) {
    let body = format!("read -r line < /proc/cmdline\n{body}");
    let program = place.script("asked", &body).display().to_string();
    let arguments = ["bisect", KERNEL, "--params", good, bad, "--exec", &program, "--tries", "6"];
    let text = place.file("text", "for the program");
    let done = place.kiln(arguments).with_input(&text).run().expect(code);
    let start = done.stderr.lines().next().unwrap_or_default();
    assert!(start.starts_with("note ") && start.contains("standard input is not passed"), "{}", done.stderr);
    explains(&done, words);
}

const FAILS_IF_BAD: &str = "case \" $line \" in *\" bad \"*) exit 1;; esac";

#[test]
#[ignore = "takes most of a minute of CPU"]
fn ends_that_are_not_what_they_should_be() {
    let place = Place::new();
    asked(
        &place,
        Ends { good: "good: bad", bad: "bad: quiet" },
        FAILS_IF_BAD,
        2,
        &["the ends are swapped", "5 of 5 runs"],
    );
    asked(
        &place,
        Ends { good: "quiet", bad: "one two" },
        FAILS_IF_BAD,
        2,
        &["nothing to search for", "0 of 6 runs", "--tries"],
    );
    asked(
        &place,
        Ends { good: "bad quiet", bad: "bad one" },
        FAILS_IF_BAD,
        2,
        &["both ends share it", "as well"],
    );
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn ends_at_which_the_program_says_nothing() {
    let place = Place::new();
    let body = "case \" $line \" in *\" bad \"*) exit 125;; esac";
    asked(
        &place,
        Ends { good: "quiet", bad: "bad one" },
        body,
        3,
        &["with bad one cannot be tested", "exit status 125"],
    );
    let body = "case \" $line \" in *\" bad \"*) exit 1;; esac; exit 125";
    asked(
        &place,
        Ends { good: "quiet", bad: "bad one" },
        body,
        3,
        &["with quiet cannot be tested", "exit status 125"],
    );
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_failure_of_another_kind_at_the_good_end() {
    let place = Place::new();
    let body = "case \" $line \" in *\" bad \"*) exit 1;; esac; kill -9 $$";
    asked(
        &place,
        Ends { good: "quiet", bad: "bad one" },
        body,
        2,
        &["the good end, fails in another way", "killed"],
    );
}

#[test]
fn commits_between_which_nothing_lies() {
    let place = Place::new();
    let source = place.source();
    source.grows("kernel", 2);
    let refused = |range: &str, more: &[&str], words: &[&str]| {
        explains(&source.bisect(&place, range, &[&["--build"], more].concat()).run().expect(2), words);
    };
    refused("main..HEAD", &[], &["are the same commit"]);
    refused("main..main~1", &[], &["main~1"]);
    refused("main~1..nowhere", &[], &["has no commit nowhere"]);
    refused("main~1..main", &["--path", "no/such"], &["touches no/such"]);
    refused("main~1..main", &[], &["nothing to search for", "0 of 1 run"]);
    refused("main~1..", &[], &["git:TREE@FIRST..LAST"]);
    source.git(&["checkout", "--quiet", "-b", "side", "main~1"]);
    source.grows("fs", 1);
    refused("side..main", &[], &["side is not an ancestor of main", "merge base"]);
    source.git(&["checkout", "--quiet", "--orphan", "other"]);
    source.commit("unrelated");
    refused("main..other", &[], &["have no common ancestor"]);
    source.adds("kernel/wrong.c", "int broken;\n");
    source.grows("kernel", 1);
    refused("other~1..other", &[], &["both ends share it"]);
}

#[test]
fn patches_that_do_not_apply() {
    let place = Place::new();
    let source = place.source();
    let base = format!("git:{}@main", source.path.display());
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).expect("new");
    let empty = empty.display().to_string();
    refused(&place, &["--series", &empty, "--base", &base, "--build"], 2, &["no patch in it"]);
    source.adds("kernel/other.c", "int other;\n");
    source.write("kernel/other.c", "int another;\n");
    source.commit("change it");
    let patch = place.file("one.patch", source.git(&["format-patch", "--stdout", "-1"]) + "\n");
    source.git(&["reset", "--quiet", "--hard", &source.first]);
    let patch = patch.display().to_string();
    let words = ["patch 1 of 1 (\"change it\") does not apply"];
    refused(&place, &["--series", &patch, "--base", &base, "--build"], 2, &words);
}
