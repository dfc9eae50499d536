//! A bisection that is stopped, by a user or by whoever kills it, goes on where it was and leaves nothing behind.

use std::path::{Path, PathBuf};

use bisect::Point;
use bisect::{Bisection, Conclusion};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{BUILD, Call, KERNEL, Place, sessions};

/// A search among two parameters for the one with which a program fails.
fn search(place: &Place) -> Call {
    let program = place.script(
        "fails",
        "read -r line < /proc/cmdline\ncase \" $line \" in *\" bad \"*) exit 1;; esac\nexit 0",
    );
    let bad = "o1 bad";
    let program = program.display().to_string();
    place.kiln(["bisect", KERNEL, "--params", "quiet", bad, "--exec", &program, "--json"])
}

/// The answers that were kept.
fn journal(place: &Place) -> Vec<Value> {
    let folders = std::fs::read_dir(place.path().join("state/kiln/bisections")).expect("made at the start");
    let folders: Vec<PathBuf> = folders.flatten().map(|entry| entry.path()).collect();
    let [folder] = &folders[..] else { panic!("one search, one folder: {folders:?}") };
    lines(&folder.join("journal.jsonl"))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("it is there");
    text.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect()
}

/// Runs the search to its end, which begins with what is known.
fn goes_on(place: &Place) {
    let known = journal(place);
    assert!(!known.is_empty(), "it was stopped after an answer");
    let begun = sessions(&place.path().join("state")).len();
    let done = search(place).run_within(BUILD).expect(0);
    let resumed = format!("answers reused from an earlier session: {}", known.len());
    assert!(done.stderr.contains(&resumed), "{}", done.stderr);
    let all = journal(place);
    assert_eq!(all[..known.len()], known[..], "what is known stays");
    // Five runs of the bad end, in three boots, and one for the proof: no more is wanted of what fails each time.
    let last = serde_json::to_value(Point::Last).expect("JSON");
    assert!(all.iter().filter(|kept| kept["point"] == last).count() <= 4, "{all:#?}");
    let more = sessions(&place.path().join("state")).len() - begun;
    assert_eq!(more, all.len() - known.len(), "a session for each new answer");

    let bisection: Bisection = done.stated();
    let Conclusion::Culprits { candidates, .. } = &bisection.conclusion else { panic!("{bisection:#?}") };
    assert_eq!(candidates.iter().map(|candidate| candidate.name.as_str()).collect::<Vec<_>>(), ["bad"]);
    assert!(bisection.proof.iter().all(|check| check.holds), "{:#?}", bisection.proof);
}

/// As soon as the first answer is told, and the next machine boots.
fn after_one_answer(place: &Place) -> crate::support::Running {
    let running = search(place).start();
    running.await_stderr("bad     ");
    running.qemu();
    running
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_search_that_was_killed_leaves_nothing_behind_and_goes_on() {
    let place = Place::new();
    let running = after_one_answer(&place);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    goes_on(&place);
}

#[test]
fn a_search_that_was_interrupted_says_how_it_goes_on() {
    let place = Place::new();
    let running = after_one_answer(&place);
    running.signal(Signal::INT);
    let done = running.wait().expect(130);
    assert!(done.stderr.contains("the same command resumes from here"), "{}", done.stderr);
    assert!(!journal(&place).is_empty(), "the answer is kept");
}

#[test]
fn an_answer_that_was_half_written_is_asked_for_again() {
    let place = Place::new();
    let source = place.source();
    source.grows("kernel", 3);
    source.adds("kernel/wrong.c", "int broken;\n");
    source.grows("kernel", 3);
    let call = || source.bisect(&place, &format!("{}..main", source.first), &["--build"]);
    let first = call().run_within(BUILD).expect(0);
    let whole = journal(&place);
    let folders = std::fs::read_dir(place.path().join("state/kiln/bisections")).expect("made");
    let file = folders.flatten().next().expect("one").path().join("journal.jsonl");
    let text = std::fs::read(&file).expect("it is there");
    std::fs::write(&file, &text[..text.len() - 10]).expect("ours");
    let again = call().run_within(BUILD).expect(0);
    assert!(again.stderr.contains(&format!("earlier session: {}", whole.len() - 1)), "{}", again.stderr);
    assert_eq!(again.stdout.lines().next(), first.stdout.lines().next());
    assert_eq!(journal(&place).len(), whole.len());
}
