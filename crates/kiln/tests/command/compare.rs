//! `kiln compare`: kernels, parameters and programs beside each other.

use measure::{Measurement, Unit};
use verdict::exact::ground::Boots;
use verdict::statistics::Random;
use verdict::{Comparison, Row, Steadiness, Verdict, compare_exact};

use crate::support::load::under_load;
use crate::support::{BUILD, Call, Done, KERNEL, Place};

/// One short operation on one boot.
const LITTLE: [&str; 4] = ["--metric", "syscall/getppid", "--boots", "1"];

/// `kiln compare KERNEL` with more arguments.
fn compare(place: &Place, more: &[&str]) -> Call {
    place.kiln([&["compare", KERNEL], more].concat())
}

fn row<'a>(comparison: &'a Comparison, metric: &str) -> &'a Row {
    let rows = &comparison.others[0].rows;
    rows.iter().find(|row| row.metric == metric).unwrap_or_else(|| panic!("no {metric} in {rows:?}"))
}

/// The figures of boots with the seeds from 1 on, in machines that nobody has kept.
fn measured(more: &[&str]) -> Measurement {
    let place = Place::new();
    place.kiln([&["measure", KERNEL, "--json"], more].concat()).run_within(BUILD).expect(0).stated()
}

/// The same boots on a quiet and on a busy host; more than so many operations are measured.
fn costs_the_same_under_load(more: &[&str], at_least: usize) {
    let (quiet, busy) = (measured(more), under_load(|| measured(more)));
    assert!(quiet.operations().count() > at_least, "{}", quiet.operations().count());
    assert_eq!(quiet.metrics.len(), busy.metrics.len());
    for (before, after) in quiet.metrics.iter().zip(&busy.metrics) {
        assert_eq!(before, after);
    }
}

#[test]
fn forty_operations_cost_the_same_in_the_same_boot_on_a_busy_host() {
    let some = ["syscall/*", "pipe/*", "fault/*", "signal/*"].map(|pattern| ["--metric", pattern]);
    // One boot of each: the load costs CPU time too, and all boots are in the test of all operations.
    costs_the_same_under_load(&[&["--boots", "1"], some.as_flattened()].concat(), 40);
}

#[test]
#[ignore = "takes minutes"]
fn all_operations_cost_the_same_in_the_same_boots_on_a_busy_host() {
    costs_the_same_under_load(&[], 100);
}

#[test]
fn a_kernel_is_not_worse_than_other_boots_of_itself() {
    let place = Place::new();
    let metrics = ["--metric", "directory/lookup-1", "--metric", "syscall/getppid", "--json"];
    let comparison: Comparison =
        compare(&place, &[&[KERNEL], &metrics[..]].concat()).run().expect(0).stated();
    assert!(comparison.notes[0].contains("the seeds 9, 10"), "{:?}", comparison.notes);
    let getppid = row(&comparison, "syscall/getppid");
    assert_eq!((getppid.verdict, getppid.steadiness), (Verdict::Same, Some(Steadiness::Constant)));
    assert_eq!(getppid.base.boots.len(), 2);
    let events = row(&comparison, "syscall/getppid:system-calls");
    assert_eq!((&events.base.boots[..], &events.new.boots[..]), (&[1.0, 1.0][..], &[1.0, 1.0][..]));
}

/// Boots from which comparisons are drawn, comparisons, and those of them in which the statement allows a false verdict.
const POOL: u32 = 32;
const PAIRS: u64 = 100;
const FALSE_ALLOWED: usize = 5;

/// Some boots of a measurement, as if they had been all.
fn drawn(of: &Measurement, boots: &[u32]) -> Measurement {
    let mut drawn = of.clone();
    for metric in &mut drawn.metrics {
        metric.values.retain(|value| boots.contains(&value.boot));
    }
    drawn
}

#[test]
#[ignore = "takes minutes"]
fn a_kernel_against_itself_over_a_hundred_pairs_of_seeds_is_seldom_worse_or_better() {
    let mut pool = measured(&["--boots", &POOL.to_string()]);
    // A kernel has no functions with other code than its own, and copies are smaller without them.
    pool.metrics.iter_mut().for_each(|metric| metric.detail = None);
    for boots in [2, 3, 8] {
        let mut of_metrics = std::collections::BTreeMap::<String, usize>::new();
        let (mut alarms, mut apart) = (0, 0);
        for seed in 0..PAIRS {
            let mut all: Vec<u32> = (0..POOL).collect();
            Random::new(seed).shuffle(&mut all);
            let (base, new) = (drawn(&pool, &all[..boots]), drawn(&pool, &all[boots..2 * boots]));
            let rows = compare_exact(&base, &new).rows;
            let costs = rows.iter().filter(|row| row.unit == Unit::Instructions);
            apart += costs.filter(|row| Boots::of(row).gap().is_some()).count();
            let wrong = rows.iter().filter(|row| matches!(row.verdict, Verdict::Worse | Verdict::Better));
            let wrong: Vec<&Row> = wrong.collect();
            alarms += usize::from(!wrong.is_empty());
            wrong.iter().for_each(|row| *of_metrics.entry(row.metric.clone()).or_default() += 1);
        }
        println!(
            "{boots} boots of each side: {alarms} of {PAIRS} comparisons with a false verdict: {of_metrics:?}"
        );
        println!("    {:.1} metrics of each would be false without a ground", apart as f64 / PAIRS as f64);
        assert!(alarms <= FALSE_ALLOWED, "{boots} boots: {alarms}");
    }
}

#[test]
fn a_comparison_is_told_in_every_form_and_kept() {
    let place = Place::new();
    let (results, page) = (place.path().join("results"), place.path().join("page.html"));
    let [results_text, page_text] =
        [&results, &page].map(|path| path.to_str().expect("paths of tests are UTF-8"));
    let more = [KERNEL, "--csv", "--results", results_text, "--html", page_text];
    let done = compare(&place, &[&more[..], &LITTLE].concat()).run().expect(0);
    let folders: Vec<_> =
        std::fs::read_dir(&results).expect("made").flatten().map(|entry| entry.path()).collect();
    let [folder] = &folders[..] else { panic!("{folders:?}") };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("kept");
    let comparison: Comparison = serde_json::from_str(&read("comparison.json")).expect("a Comparison");
    let against = &comparison.others[0];
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 1 + against.rows.len() + against.missing.len(), "{}", done.stdout);
    assert!(lines[0].starts_with("base_label,new_label,metric,unit,"), "{}", lines[0]);
    let words = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == words), "{}", done.stdout);
    for name in ["base.json", "new-1.json"] {
        let measured: measure::Measurement = serde_json::from_str(&read(name)).expect("a Measurement");
        assert_eq!(measured.boots.len(), 1);
    }
    let written = std::fs::read_to_string(page).expect("written");
    assert!(written.contains("<html") && written.contains("syscall/getppid"), "{written}");
    assert!(read("report.html").contains("syscall/getppid"));
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn parameters_are_compared_under_their_own_names() {
    let place = Place::new();
    let parameters = ["--params", "mitigations=auto", "mitigations=off", "--json", "--fail-on", "never"];
    let done = compare(&place, &[&parameters[..], &LITTLE].concat()).run().expect(0);
    let comparison: Comparison = done.stated();
    let against = &comparison.others[0];
    assert_eq!(
        (comparison.base.label.as_str(), against.subject.label.as_str()),
        ("mitigations=auto", "mitigations=off")
    );
    assert_ne!(comparison.base.identity, against.subject.identity);
    assert!(against.subject.parameters.ends_with("mitigations=off"), "{}", against.subject.parameters);
    assert_eq!(row(&comparison, "boot/user-space").unit, Unit::Instructions);
}

/// A program that executes this many instructions beside what all programs do, and then ends so.
fn workload(place: &Place, name: &str, instructions: u32, end: &str) -> String {
    let body = format!(
        "long turns = {};\nasm volatile(\"1: dec %0; jnz 1b\" : \"+r\"(turns));\n{end}",
        instructions / 2
    );
    place.program(name, &body).display().to_string()
}

#[test]
fn two_programs_differ_by_what_one_does_more() {
    let place = Place::new();
    let (few, many) = (workload(&place, "few", 20_000, ""), workload(&place, "many", 1_020_000, ""));
    let call = |more: &[&str]| {
        let programs = ["--exec-a", &few, "--exec-b", &many, "--boots", "1", "--json"];
        compare(&place, &[&programs[..], more].concat()).run()
    };
    let comparison: Comparison = call(&[]).expect(1).stated();
    let found = row(&comparison, "workload");
    assert_eq!(found.verdict, Verdict::Worse);
    // It takes longer than from one timer interrupt to the next, which are then among its costs.
    assert!((990_000.0..=1_050_000.0).contains(&found.difference), "{found:?}");
    let inside = |side: &verdict::Side| side.apart.expect("the plugin tells them apart").0;
    let difference = inside(&found.new) - inside(&found.base);
    assert_eq!(difference, 1_000_000, "the loop runs outside the kernel");
    call(&["--fail-on", "never"]).expect(0);
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_program_that_fails_is_not_compared() {
    let place = Place::new();
    let (well, fails) =
        (workload(&place, "well", 20_000, ""), workload(&place, "fails", 20_000, "return 1;"));
    let programs = ["--exec-a", &well, "--exec-b", &fails, "--boots", "1", "--json"];
    let text = place.file("text", "for the program");
    let done = compare(&place, &programs).with_input(&text).run().expect(1);
    assert!(done.stderr.contains("standard input is not passed to the program"), "{}", done.stderr);
    let comparison: Comparison = done.stated();
    let [missing] = &comparison.others[0].missing[..] else { panic!("{:?}", comparison.others[0].missing) };
    assert_eq!((missing.metric.as_str(), &missing.base), ("workload", &None));
    let why = missing.new.as_ref().expect("the program failed there");
    assert!(why.reason.contains("exit status: 1"), "{why:?}");

    let alone = Place::new();
    let done = alone.kiln(["measure", KERNEL, "--exec", &fails, "--boots", "1"]).run().expect(3);
    done.says("fail    fails: ").says("exit status: 1");
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn a_kernel_that_does_not_come_up_is_named() {
    let place = Place::new();
    let refused = |done: Done, code: i32, words: &[&str]| {
        let text = &done.expect(code).stderr;
        let line = text.lines().last().expect("a message");
        assert!(words.iter().all(|word| line.contains(word)), "{text}");
    };
    let resets = place.image_that_resets();
    let resets = resets.to_str().expect("paths of tests are UTF-8");
    let call = compare(&place, &[&[resets], &LITTLE[..]].concat());
    refused(call.run(), 1, &[resets, "the machine was reset"]);
    let panics = ["--params", "quiet", "rdinit=/nowhere"];
    let call = compare(&place, &[&panics[..], &LITTLE].concat());
    refused(call.run(), 1, &["rdinit=/nowhere: the kernel panicked: VFS: Unable to mount root fs"]);
    let silent = place.silent_image();
    let call = place.kiln(["measure", "--timed", silent.to_str().expect("paths of tests are UTF-8")]);
    refused(call.env("KILN_TIMEOUT_MUL", "0.2").run(), 3, &["no output on the console"]);
}

#[test]
#[ignore = "takes most of a minute of CPU"]
fn timing_decides_nothing_from_two_boots() {
    let place = Place::new();
    let more = [KERNEL, "--timed", "--boots", "2", "--metric", "syscall/getppid", "--fail-on", "never"];
    let done = compare(&place, &[&more[..], &["--json"]].concat()).run().expect(0);
    let comparison: Comparison = done.stated();
    let found = row(&comparison, "syscall/getppid");
    assert_eq!((&found.unit, found.base.boots.len(), found.new.boots.len()), (&Unit::Nanoseconds, 2, 2));
    assert!(matches!(found.verdict, Verdict::Undecided | Verdict::Same), "{found:?}");
    assert!(comparison.notes.iter().any(|note| note.contains("--seed ")), "{:?}", comparison.notes);
}
