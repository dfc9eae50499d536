//! `kiln compare --exp`: what an experiment records on kernels, and how it ends there.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use verdict::{Comparison, Verdict};

use crate::support::{BUILD, Call, Place, text, until};

/// The kernel: it boots in a moment.
const UML: &str = "uml:deb";

/// What the script sees is what the parameters of the kernel say.
const SCRIPT: &str = r#"
experiment(
    question = "Which parameters are there?",
    measures = [
        metric_info("letters", unit = "letters"),
        metric_info("speed", unit = "1/s", better = "more", kind = "timed"),
        metric_info("only", unit = "things"),
    ],
)

def look(lab):
    words = lab.machine().run("cat /proc/cmdline").output.split()
    metric("letters", 1001 if "bad" in words else 1000)
    metric("speed", (120 if "quick" in words else 100) + lab.random())
    if "good" in words:
        metric("only", 1)
    expect("fails" not in words, "it does not fail")

step(look)
"#;

fn experiment(place: &Place) -> PathBuf {
    let folder = place.path().join("look");
    fs::create_dir_all(&folder).expect("writable");
    fs::write(folder.join("experiment.star"), SCRIPT).expect("writable");
    folder
}

/// `kiln compare UML --exp FOLDER` under two sets of parameters.
fn compare(place: &Place, new: &str, more: &[&str]) -> Call {
    let folder = experiment(place);
    let call = ["compare", UML, "--params", "good", new, "--exp", text(&folder)];
    place.kiln([&call[..], more].concat())
}

#[test]
fn metrics_and_ends_of_an_experiment_are_compared() {
    let place = Place::new();
    let page = place.path().join("page.html");
    let more = ["--json", "--seed", "1", "--html", text(&page)];
    let comparison: Comparison =
        compare(&place, "bad quick fails", &more).run_within(BUILD).expect(1).stated();
    let against = &comparison.others[0];
    let found: Vec<(&str, Verdict)> =
        against.rows.iter().map(|row| (row.metric.as_str(), row.verdict)).collect();
    assert_eq!(found, [("letters", Verdict::Worse), ("speed", Verdict::Better)]);
    assert!(against.missing.iter().any(|missing| missing.metric == "only" && missing.base.is_none()));
    let runs = against.runs.as_ref().expect("an experiment has runs");
    assert_eq!((runs.verdict, runs.base.failures(), runs.new.pass), (Verdict::Worse, 0, 0));
    let page = fs::read_to_string(page).expect("asked for");
    assert!(page.contains("letters, letters") && page.contains("runs: base"), "{page}");
}

#[test]
fn a_kernel_does_not_differ_from_itself() {
    let place = Place::new();
    let comparison: Comparison = compare(&place, "good", &["--json"]).run_within(BUILD).expect(0).stated();
    let claims = |verdict: &Verdict| matches!(verdict, Verdict::Worse | Verdict::Better);
    assert!(!comparison.others[0].verdicts().any(|verdict| claims(&verdict)), "{comparison:#?}");
    assert!(comparison.notes.iter().any(|note| note.contains("the same kernel")), "{:?}", comparison.notes);
}

#[test]
fn an_interrupted_comparison_is_resumed() {
    let place = Place::new();
    let measurements = place.path().join("state/kiln/measurements");
    let folders = || fs::read_dir(&measurements).into_iter().flatten().flatten().map(|entry| entry.path());
    let lines = |folder: PathBuf| {
        fs::read_to_string(folder.join("journal.jsonl")).map_or(0, |journal| journal.lines().count())
    };
    let running = compare(&place, "good", &["--boots", "2"]).start();
    until("a run is kept", || folders().any(|folder| lines(folder) > 0).then_some(()));
    running.signal(Signal::INT);
    let stopped = running.wait().expect(130);
    assert!(stopped.stderr.contains("interrupted: the same command resumes from here"), "{}", stopped.stderr);
    let done = compare(&place, "good", &["--boots", "2"]).run_within(BUILD).expect(0).says("figures in ");
    assert!(done.stderr.contains("of an earlier call of this command count"), "{}", done.stderr);
    let kept: Vec<PathBuf> = folders().collect();
    let [kept] = &kept[..] else { panic!("{kept:?}") };
    assert!(!text(kept).contains(".unfinished-") && lines(kept.clone()) == 4, "{kept:?}");
}

#[test]
fn two_boots_decide_nothing_but_what_is_the_same() {
    let place = Place::new();
    let done = compare(&place, "bad", &["--boots", "2", "--csv"]).run_within(BUILD).expect(0);
    let lines: Vec<&str> = done.stdout.lines().collect();
    let is_so = |metric: &str, verdict: &str| {
        lines
            .iter()
            .any(|line| line.contains(&format!(",{metric},")) && line.contains(&format!(",{verdict},")))
    };
    assert!(is_so("letters", "undecided") && is_so("failed runs", "same"), "{}", done.stdout);
    assert!(is_so("only", "not-measured"), "{}", done.stdout);
}

#[test]
fn experiments_that_cannot_be_compared() {
    let place = Place::new();
    let folder = experiment(&place);
    let refused = |call: Call, words: &[&str]| {
        let done = call.run().expect(2);
        assert!(words.iter().all(|word| done.stderr.contains(word)), "{}", done.stderr);
    };
    let ask = |more: &[&str]| place.kiln([&["compare", UML, UML], more].concat());
    refused(ask(&["--exp", "./nowhere"]), &["./nowhere: there is no experiment.star in it"]);
    for other in [
        &["--timed"][..],
        &["--why"],
        &["--metric", "pipe/*"],
        &["--exec", "/bin/true"],
        &["--suite", "micro"],
        &["--root", "debian"],
    ] {
        refused(ask(&[&["--exp", text(&folder)], other].concat()), &["cannot be used with"]);
    }
    refused(ask(&["--short"]), &["--exp"]);
    refused(ask(&["--exp", text(&folder), "--", "argument"]), &["arguments after --"]);
    let stored = place.kiln(["compare", UML, "measured:last", "--exp", text(&folder)]);
    refused(stored, &["measured:last: --exp runs on all kernels in turns"]);
    refused(place.kiln(["compare", UML, "--exp", text(&folder)]), &["there is only one kernel to compare"]);
    fs::write(folder.join("experiment.star"), SCRIPT.replace("question", "kernels = 2, question"))
        .expect("writable");
    refused(ask(&["--exp", text(&folder)]), &["takes 2 kernels at once: a comparison runs it on one"]);
}
