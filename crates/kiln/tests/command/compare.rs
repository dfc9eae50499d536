//! `kiln compare`: kernels, parameters and programs beside each other.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use measure::Unit;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use verdict::{Comparison, Row, Side, Verdict};

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

/// Runs something on one CPU of the host that has something else to do all the while.
fn under_load<T>(work: impl FnOnce() -> T) -> T {
    let all = sched_getaffinity(None).expect("every thread has CPUs");
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).expect("every thread has a CPU"));
    // Threads and programs that are started from now on have this CPU only.
    sched_setaffinity(None, &one).expect("it is one of ours");
    let is_over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        // The other thread ends also when this one panics.
        let done = catch_unwind(AssertUnwindSafe(work));
        is_over.store(true, Ordering::Relaxed);
        done
    });
    sched_setaffinity(None, &all).expect("it had them before");
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

/// A kernel beside itself on a busy host; more than so many operations are compared.
fn costs_the_same_as_itself(more: &[&str], at_least: usize) {
    let place = Place::new();
    let done = under_load(|| compare(&place, &[&[KERNEL, "--json"], more].concat()).run_within(BUILD));
    let comparison: Comparison = done.stated();
    let against = &comparison.others[0];
    let operations = against.rows.iter().filter(|row| row.unit == Unit::Instructions).count();
    assert!(operations > at_least, "{operations}");
    for row in &against.rows {
        assert_eq!((row.verdict, row.difference), (Verdict::Same, 0.0), "{row:?}");
        let all = |side: &Side| (side.min, side.median, side.max, side.boots.clone());
        assert_eq!(all(&row.base), all(&row.new), "{row:?}");
    }
    for missing in &against.missing {
        assert_eq!(missing.base, missing.new, "{missing:?}");
    }
    done.expect(0);
}

#[test]
fn forty_operations_cost_the_same_on_other_boots_and_a_busy_host() {
    let some = ["syscall/*", "pipe/*", "fault/*", "signal/*"].map(|pattern| ["--metric", pattern]);
    // One boot of each side: the load costs CPU time too, and all boots are in the test of all operations.
    costs_the_same_as_itself(&[&["--boots", "1"], some.as_flattened()].concat(), 40);
}

#[test]
#[ignore = "takes minutes"]
fn all_operations_cost_the_same_on_other_boots_and_a_busy_host() {
    costs_the_same_as_itself(&[], 100);
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
fn a_program_that_fails_is_not_compared() {
    let place = Place::new();
    let (well, fails) =
        (workload(&place, "well", 20_000, ""), workload(&place, "fails", 20_000, "return 1;"));
    let programs = ["--exec-a", &well, "--exec-b", &fails, "--boots", "1", "--json"];
    let comparison: Comparison = compare(&place, &programs).run().expect(1).stated();
    let [missing] = &comparison.others[0].missing[..] else { panic!("{:?}", comparison.others[0].missing) };
    assert_eq!((missing.metric.as_str(), &missing.base), ("workload", &None));
    let why = missing.new.as_ref().expect("the program failed there");
    assert!(why.reason.contains("exit status: 1"), "{why:?}");

    let alone = Place::new();
    let done = alone.kiln(["measure", KERNEL, "--exec", &fails, "--boots", "1"]).run().expect(3);
    done.says("fail    workload: ").says("exit status: 1");
}

#[test]
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
fn timing_decides_nothing_from_two_boots() {
    let place = Place::new();
    let more = [KERNEL, "--timed", "--boots", "2", "--metric", "syscall/getppid", "--fail-on", "never"];
    let done = compare(&place, &[&more[..], &["--json"]].concat()).run().expect(0);
    let comparison: Comparison = done.stated();
    let found = row(&comparison, "syscall/getppid");
    assert_eq!((found.unit, found.base.boots.len(), found.new.boots.len()), (Unit::Nanoseconds, 2, 2));
    assert!(matches!(found.verdict, Verdict::Undecided | Verdict::Same), "{found:?}");
    assert!(comparison.notes.iter().any(|note| note.contains("--seed ")), "{:?}", comparison.notes);
}
