//! Experiments without machines: what they record depends on the Kernel and on chance.

use compare::{CompareRequest, Compared, Conclusion, Error};
use lab::experiment::ExperimentChoice;
use lab::request::TimedRequest;
use measure::{Measurement, Unit};
use script::Mode;
use tempfile::TempDir;
use verdict::{Comparison, Row, Steadiness, Verdict};

use crate::fake::{World, compared};

/// What the experiment declares.
const MEASURES: &str = r#"
    metric_info("cost", unit = "steps"),
    metric_info("speed", unit = "Mbit/s", better = "more", kind = "timed"),
    metric_info("rare", unit = "things"),
"#;

/// A host, and an experiment whose only step has this body: `new` is whether the Kernel is that of this name.
struct Asked {
    world: World,
    folder: TempDir,
}

impl Asked {
    fn of(body: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = "    new = lab.kernels[0].locator.endswith(\"/new\")\n";
        // A declared metric must be recorded somewhere.
        let never =
            "    if 1 > 2:\n        [metric(\"cost\", 0), metric(\"speed\", 0), metric(\"rare\", 0)]\n";
        let begin = format!(
            "experiment(question = \"why?\", measures = [{MEASURES}])\n\ndef look(lab):\n{name}{never}"
        );
        let script = format!("{begin}    {}\n\nstep(look)\n", body.trim().replace('\n', "\n    "));
        std::fs::write(folder.path().join("experiment.star"), script).unwrap();
        Self { world: World::new(|_, _| None), folder }
    }

    fn request(&self, sides: &[&str], boots: Option<u32>) -> CompareRequest {
        let folder = self.folder.path().to_path_buf();
        let choice = ExperimentChoice { name: "it".to_string(), folder, mode: Mode::Short };
        let mut request = CompareRequest { experiment: Some(choice), ..compared(sides) };
        request.figures.operations.clear();
        request.figures.boots = boots;
        request.figures.timed = Some(TimedRequest { seed: Some(7), ..TimedRequest::default() });
        request
    }

    fn compare(&self, boots: Option<u32>) -> Compared {
        self.world.compare(&self.request(&["old", "new"], boots)).unwrap()
    }
}

fn row<'a>(comparison: &'a Comparison, metric: &str) -> &'a Row {
    let rows = &comparison.others[0].rows;
    rows.iter().find(|row| row.metric == metric).unwrap_or_else(|| panic!("no {metric} in {rows:?}"))
}

/// What each Kernel does more is better for one metric, and worse for another.
const DIFFERS: &str = r#"
metric("cost", 1001 if new else 1000)
for _ in range(3):
    metric("speed", (110 if new else 100) + lab.random())
"#;

#[test]
fn what_an_experiment_records_is_compared_by_its_kind_and_direction() {
    let asked = Asked::of(DIFFERS);
    let done = asked.compare(None);
    let Compared { comparison, conclusion, kept } = &done;
    assert_eq!(*conclusion, Conclusion::Worse);
    let (cost, speed) = (row(comparison, "cost"), row(comparison, "speed"));
    assert_eq!((cost.verdict, cost.steadiness), (Verdict::Worse, Some(Steadiness::Constant)));
    assert_eq!((cost.difference, speed.verdict, speed.steadiness), (1.0, Verdict::Better, None));
    assert!(speed.interval.is_some_and(|(low, high)| low > 5.0 && high < 15.0), "{speed:?}");
    assert!(matches!(&speed.unit, Unit::Own(own) if own.name == "Mbit/s"), "{speed:?}");
    let [missing] = &comparison.others[0].missing[..] else { panic!("{:?}", comparison.others[0].missing) };
    assert_eq!((missing.metric.as_str(), missing.base.is_some()), ("rare", true));
    let runs = comparison.others[0].runs.as_ref().expect("an experiment has runs");
    assert_eq!((runs.verdict, runs.base.pass, runs.new.failures()), (Verdict::Same, 8, 0));
    let base: Measurement = kept.read("base").unwrap();
    assert_eq!(base.metrics[1].values[0].repetitions, 3);
    assert_eq!(kept.read::<Comparison>("comparison").unwrap(), done.comparison);
}

#[test]
fn no_two_runs_have_one_seed_and_all_are_kept() {
    let asked = Asked::of(DIFFERS);
    let done = asked.world.compare(&asked.request(&["old", "new", "other"], Some(4))).unwrap();
    let figures = ["base", "new-1", "new-2"].map(|name| done.kept.read::<Measurement>(name).unwrap());
    let mut seeds: Vec<u64> = figures.iter().flat_map(|one| &one.boots).map(|boot| boot.seed).collect();
    assert!(figures.iter().all(|one| one.boots.len() == 4), "{seeds:?}");
    seeds.sort_unstable();
    assert!(seeds.iter().copied().eq(1..=12), "{seeds:?}");
    let runs = std::fs::read_dir(done.kept.path("runs")).unwrap().flatten();
    assert_eq!(runs.filter(|run| run.path().join("result.json").is_file()).count(), 12);
}

/// Folders of comparisons, with the hidden ones.
fn folders(asked: &Asked) -> Vec<String> {
    let entries = std::fs::read_dir(asked.world.measurements()).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn the_same_command_resumes_what_was_interrupted_and_comes_to_the_same() {
    let mut asked = Asked::of(DIFFERS);
    let request = asked.request(&["old", "new"], None);
    // Two images are looked for in the beginning of each call, and one for each run.
    asked.world.stop_at_image = 2 + 7;
    let error = asked.world.compare(&request).unwrap_err();
    assert!(error.is_interrupt() && error.to_string().contains("the same command resumes"), "{error}");
    let [unfinished] = &folders(&asked)[..] else { panic!("{:?}", folders(&asked)) };
    assert!(unfinished.starts_with(".unfinished-"), "{unfinished}");
    asked.world.goes_on();
    let resumed = asked.world.compare(&request).unwrap();
    assert_eq!(asked.world.found.lock().unwrap().len(), 2 + 2 + 16 + 1, "one run was interrupted");
    assert!(folders(&asked).iter().all(|folder| !folder.starts_with('.')), "{:?}", folders(&asked));
    // What has come to its end is not resumed, and chance comes from the seed.
    let again = asked.world.compare(&request).unwrap();
    assert_eq!((asked.world.found.lock().unwrap().len(), folders(&asked).len()), (21 + 2 + 16, 2));
    assert_eq!(again.comparison, resumed.comparison);
}

#[test]
fn another_order_is_drawn_each_time_and_stays_when_it_is_resumed() {
    let mut asked = Asked::of(DIFFERS);
    let mut request = asked.request(&["old", "new"], Some(4));
    request.figures.timed = None;
    asked.world.stop_at_image = 2 + 3;
    asked.world.compare(&request).unwrap_err();
    let unfinished = asked.world.measurements().join(&folders(&asked)[0]);
    let kept: CompareRequest = ledger::Figures::at(unfinished).read("request").unwrap();
    let seed = kept.figures.timed.and_then(|timed| timed.seed).expect("it was drawn");
    asked.world.goes_on();
    let done = asked.world.compare(&request).unwrap();
    let note = format!("--seed {seed}");
    assert!(done.comparison.notes.iter().any(|text| text.ends_with(&note)), "{:?}", done.comparison.notes);
}

#[test]
fn what_has_changed_is_not_resumed() {
    let mut asked = Asked::of(DIFFERS);
    asked.world.stop_at_image = 2 + 3;
    asked.world.compare(&asked.request(&["old", "new"], None)).unwrap_err();
    asked.world.goes_on();
    std::fs::write(asked.folder.path().join("guest.sh"), "exit 0").unwrap();
    asked.world.compare(&asked.request(&["old", "new"], None)).unwrap();
    let unfinished = folders(&asked).into_iter().filter(|folder| folder.starts_with('.'));
    assert_eq!((folders(&asked).len(), unfinished.count()), (2, 1));
}

#[test]
fn a_kernel_is_the_same_as_itself() {
    let asked = Asked::of("metric(\"cost\", 7)\nmetric(\"speed\", 100 + lab.random() / 10)");
    let done = asked.world.compare(&asked.request(&["old", "old"], None)).unwrap();
    assert_eq!(done.conclusion, Conclusion::NotWorse);
    assert!(done.comparison.others[0].verdicts().all(|verdict| verdict == Verdict::Same));
    assert!(
        done.comparison.notes.iter().any(|note| note.contains("the same kernel")),
        "{:?}",
        done.comparison.notes
    );
}

#[test]
fn an_experiment_that_fails_on_one_kernel_is_a_change_and_keeps_what_it_recorded_before() {
    let done = Asked::of("metric(\"cost\", 7)\nexpect(not new, \"it is old\")").compare(None);
    let against = &done.comparison.others[0];
    let runs = against.runs.as_ref().expect("an experiment has runs");
    assert_eq!((done.conclusion, runs.verdict), (Conclusion::Worse, Verdict::Worse));
    assert_eq!((runs.base.failures(), runs.new.pass, runs.new.fail), (0, 0, 8));
    assert!(runs.new.reason.as_ref().is_some_and(|why| why.starts_with("expected: it is old")), "{runs:?}");
    assert_eq!(row(&done.comparison, "cost").verdict, Verdict::Same);
    // Too few for a verdict, and yet the base can do what the other cannot.
    let few = Asked::of("expect(not new, \"it is old\")").compare(Some(1));
    let runs = few.comparison.others[0].runs.as_ref().expect("an experiment has runs");
    assert_eq!((few.conclusion, runs.verdict), (Conclusion::Worse, Verdict::Undecided));
}

#[test]
fn what_is_skipped_or_breaks_says_nothing() {
    for (body, why, runs) in [
        ("skip(\"no device\") if new else metric(\"cost\", 1)", "no device", 1),
        ("[][1] if new else metric(\"cost\", 1)", "out of bound", 3),
    ] {
        let done = Asked::of(body).compare(None);
        assert_eq!(done.conclusion, Conclusion::Nothing, "{body}");
        let against = &done.comparison.others[0];
        let ended = against.runs.as_ref().expect("an experiment has runs");
        assert_eq!((ended.new.total(), ended.verdict, against.rows.len()), (0, Verdict::Undecided, 0));
        let notes =
            done.comparison.notes.iter().filter(|note| note.contains("says nothing about the kernel"));
        assert_eq!(notes.count(), runs, "{:?}", done.comparison.notes);
        let cost =
            against.missing.iter().find(|missing| missing.metric == "cost").expect("it is not on both");
        let reason = cost.new.as_ref().map(|new| new.reason.clone()).unwrap_or_default();
        assert!(reason.contains(why), "{cost:?}");
    }
}

#[test]
fn a_kernel_without_an_answer_does_not_keep_the_others_from_a_verdict() {
    let asked = Asked::of("skip(\"no device\") if new else metric(\"cost\", 1)");
    let done = asked.world.compare(&asked.request(&["old", "new", "other"], None)).unwrap();
    let verdicts: Vec<usize> = done.comparison.others.iter().map(|against| against.rows.len()).collect();
    assert_eq!((done.conclusion, &verdicts[..]), (Conclusion::NotWorse, &[0, 1][..]));
}

#[test]
fn what_cannot_be_asked_is_refused_before_a_kernel_is_looked_for() {
    let asked = Asked::of("pass");
    let refused = |request: &CompareRequest| {
        let error = asked.world.compare(request).unwrap_err();
        assert!(error.is_usage(), "{error}");
        error.to_string()
    };
    let kept = refused(&asked.request(&["old", "measured:last"], None));
    assert_eq!(kept, "measured:last: --exp runs on all kernels in turns: name the kernel");
    let script = asked.folder.path().join("experiment.star");
    std::fs::write(script, "experiment(question = \"why?\", kernels = 2)\ndef f(lab):\n    pass\nstep(f)\n")
        .unwrap();
    let two = refused(&asked.request(&["old", "new"], None));
    assert!(two.ends_with("takes 2 kernels at once: a comparison runs it on one"), "{two}");
    assert!(asked.world.found.lock().unwrap().is_empty() && !asked.world.measurements().exists());
}

#[test]
fn the_time_is_kept() {
    let asked = Asked::of("metric(\"cost\", 1)");
    let mut request = asked.request(&["old", "new"], None);
    request.figures.timed =
        Some(TimedRequest { budget: Some(std::time::Duration::ZERO), ..TimedRequest::default() });
    let done = asked.world.compare(&request);
    assert!(matches!(&done, Ok(done) if done.conclusion == Conclusion::Nothing), "{done:?}");
    assert!(!matches!(done, Err(Error::Nothing)));
}
