//! `kiln watch`: kernels that are tested as they arrive.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::checks::{CACHE, tree_with_kernels};
use crate::support::source::Source;
use crate::support::{BUILD, Call, Done, KERNEL, Place};

/// Watches a branch for a program that passes on one of two kernels.
fn watches(place: &Place, source: &Source, suite: &str, more: &[&str]) -> Call {
    let branch = format!("git:{}@topic", source.path.display());
    let arguments = ["watch", &branch, "--config", "defconfig", "--suite", suite];
    let call = place.kiln([&arguments, more].concat());
    call.env("XDG_CACHE_HOME", place.path().join(CACHE)).env("HOME", place.path())
}

#[test]
fn a_commit_is_tested_once_and_what_changed_is_told() {
    let place = Place::new();
    let source = tree_with_kernels(&place);
    let release = KERNEL.trim_start_matches("deb:");
    let suite = place.suite(&[("is-right", &format!("test \"$(uname -r)\" = {release}"))]);
    let told = place.path().join("told");
    let tell = format!("cat >> {}", told.display());
    let look = |run: &str, code| -> Done {
        watches(&place, &source, &suite, &["--once", "--run", run]).run_within(BUILD).expect(code)
    };
    let sessions = || {
        let listed = place.kiln(["results", "--json"]).run().expect(0).stdout;
        listed.lines().count()
    };
    let first = look(&tell, 0).stdout;
    assert!(first.ends_with(": 1 case, none fails\n") && !told.exists(), "{first}");
    let good = source.git(&["rev-parse", "HEAD"]);
    source.write("fs/main.c", "wrong\n");
    let bad = source.commit("fs: take the wrong kernel");
    let refused = look("echo nobody there >&2; false", 3).stderr;
    assert!(refused.contains("--run: nobody there; kiln tries again"), "{refused}");
    assert_eq!(sessions(), 2);
    let second = look(&tell, 1).stdout;
    assert!(second.contains(": 1 case worse, compared with "), "{second}");
    assert_eq!(sessions(), 2, "it was tested before, and only told now");
    let message = fs::read_to_string(&told).expect("told");
    for text in ["worse      is-right: pass before, now fail", "kiln show ", &good, &bad, "--show"] {
        assert!(message.contains(text), "{text}\n{message}");
    }
    let command =
        message.lines().find_map(|line| line.trim().strip_prefix("kiln matrix ")).expect("a command");
    let words = shlex::split(command).expect("words");
    let grid = place.kiln(["matrix"].into_iter().chain(words.iter().map(String::as_str)));
    let grid = grid.env("HOME", place.path()).run().expect(1).stdout;
    assert!(
        grid.contains("1 case on 2 kernels; different between kernels: 1") && grid.contains("is-right"),
        "{grid}"
    );
    assert_eq!(look(&tell, 0).stdout, "", "there is nothing new");
    assert_eq!(fs::read_to_string(&told).expect("told"), message);
}

#[test]
fn one_kiln_watches_until_it_is_interrupted() {
    let place = Place::new();
    let source = tree_with_kernels(&place);
    let suite = place.suite(&[("passes", "true")]);
    let running = watches(&place, &source, &suite, &["--every", "1s"]).start();
    running.await_stdout("1 case, none fails");
    let other = Place::new();
    let busy =
        watches(&other, &source, &suite, &["--once"]).env("XDG_STATE_HOME", place.path().join("state"));
    let busy = busy.run().expect(3).stderr;
    assert!(busy.contains("another kiln uses it") && busy.lines().count() == 1, "{busy}");
    source.adds("fs/other.c", "int other;\n");
    running.await_stdout("as with ");
    fs::rename(&source.path, place.path().join("away")).expect("the same disk");
    running.await_stderr("kiln tries again");
    fs::rename(place.path().join("away"), &source.path).expect("the same disk");
    running.signal(Signal::INT);
    let done = running.wait().expect(130);
    assert_eq!(done.stdout.lines().count(), 2, "{}", done.stdout);
}

#[test]
fn what_cannot_be_watched_is_one_clear_message() {
    let place = Place::new();
    for (arguments, message) in [
        (&["host"][..], "no new kernels come from there: name apt:linux-image"),
        (&["apt:vim"], "no new kernels come from there"),
        (&["deb:6.1.*", "--every", "soon"], "write 30s, 5m or 1h"),
        (&["deb:6.1.*", "--webhook", "ftp://x"], "write https://HOST/PATH"),
        (&["deb:6.1.*", "--mail", "nobody"], "write an address such as me@example.org"),
        (&[], "required"),
    ] {
        let done = place.kiln([&["watch"], arguments].concat()).run().expect(2);
        assert!(done.stderr.contains(message), "{arguments:?}: {}", done.stderr);
    }
    let gone = place.kiln(["watch", "git:/nowhere@main", "--once"]).run().expect(3).stderr;
    assert!(gone.contains("git:/nowhere@main: ") && gone.contains("kiln tries again"), "{gone}");
    let none = place.kiln(["watch", "deb:9.*", "--once"]).run().expect(0);
    assert!(
        none.stdout.is_empty() && none.stderr.contains("deb:9.*: no kernel matches yet"),
        "{}",
        none.stderr
    );
}

/// How often it is killed, at most.
const KILLS: u64 = 100;

#[test]
#[ignore = "takes minutes"]
fn a_kiln_that_is_killed_again_and_again_tests_every_package_once() {
    let place = Place::new();
    let suite =
        place.suite(&[("old", "case $(uname -r) in 6.1.0-4*) exit 0; esac; exit 1"), ("passes", "true")]);
    let arguments = ["watch", "deb:6.1.*", "--flavour", "cloud", "--suite", &suite, "--once"];
    for number in 1..=KILLS {
        let running = place.kiln(arguments).start();
        // From the first moment to the middle of a case, in steps that share no factor with anything.
        sleep(Duration::from_millis(number * 7919 % 9973));
        running.signal(Signal::KILL);
        if running.wait().code.is_some() {
            break;
        }
    }
    // Killed or not, the rest is for a call that nobody disturbs.
    let last = place.kiln(arguments).run_within(BUILD);
    assert!(matches!(last.code, Some(0 | 1)), "{}{}", last.stdout, last.stderr);
    assert_eq!(place.kiln(arguments).run().expect(0).stdout, "", "there is nothing new");
    let grid = ["matrix", "deb:6.1.*", "--flavour", "cloud", "--suite", &suite, "--show", "--json"];
    let grids: Value = serde_json::from_str(&place.kiln(grid).run().expect(1).stdout).expect("JSON");
    let rows = grids[0]["rows"].as_array().expect("rows");
    let cells: Vec<&Value> = rows.iter().flat_map(|row| row["cells"].as_array().expect("cells")).collect();
    assert!(cells.len() > 10 && cells.iter().all(|cell| cell.is_object()), "{grids:#}");
    let listed = place.kiln(["results", "--json", "--limit", "0"]).run().expect(0).stdout;
    let mut whole: Vec<(String, String)> = Vec::new();
    for line in listed.lines() {
        let run: Value = serde_json::from_str(line).expect("JSON");
        let word = |name: &str| run[name].as_str().expect("text").to_owned();
        whole.push((word("locator"), word("case")));
    }
    whole.sort();
    let total = whole.len();
    whole.dedup();
    // A kill between the end of a case and that of its session costs that session.
    assert!(total < whole.len() + usize::try_from(KILLS).expect("small"), "{total} of {}", whole.len());
}
