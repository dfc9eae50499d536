//! Experiments without machines: what they conclude depends on the Kernel and on chance.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bisect::{BisectRequest, Bisection, Conclusion, Error, Question, RecordedMetric};
use lab::experiment::ExperimentChoice;
use ledger::ExperimentResult;
use script::Mode;
use tempfile::TempDir;

use crate::fake::{Does, World, asks, culprits, request};
use crate::kernels::Images;

/// An experiment, and the host on which it is asked.
struct Asked {
    world: World,
    folder: TempDir,
}

impl Asked {
    /// One whose only step has this body; `change` is the number of changes in the Kernel.
    fn of(body: &str) -> Self {
        let asked = Self { world: World::new(|_, _| Does::Passes), folder: tempfile::tempdir().unwrap() };
        asked.write(body);
        asked
    }

    fn write(&self, body: &str) {
        let measures = "[metric_info(\"cost\", unit = \"steps\"), \
             metric_info(\"speed\", unit = \"Mbit/s\", better = \"more\", kind = \"timed\")]";
        let begin = format!("experiment(question = \"why?\", measures = {measures})\n\ndef look(lab):\n");
        let change = "    change = int(lab.kernels[0].locator.split(\"/\")[-1])\n";
        let script = format!("{begin}{change}    {body}\n\nstep(look)\n");
        std::fs::write(self.folder.path().join("experiment.star"), script).unwrap();
    }

    fn request(&self) -> BisectRequest {
        let folder = self.folder.path().to_path_buf();
        let choice = ExperimentChoice { name: "it".to_string(), folder, mode: Mode::Short };
        asks(BisectRequest { question: Question::Experiment(choice), ..request("", "") })
    }

    /// The same about a metric that it records.
    fn about(&self, metric: &str, worse_by: Option<f64>) -> BisectRequest {
        let folder = self.folder.path().to_path_buf();
        let experiment = ExperimentChoice { name: "it".to_string(), folder, mode: Mode::Short };
        let unit = experiment.unit(metric).unwrap();
        let asked = RecordedMetric { experiment, name: metric.to_string(), unit, worse_by };
        BisectRequest { question: Question::Recorded(asked), ..self.request() }
    }

    fn bisect(&self, request: &BisectRequest) -> Result<Bisection, Error> {
        self.world.along(request, Images::with(6))
    }

    /// Where the runs are of the only bisection.
    fn folder_of_runs(&self) -> PathBuf {
        let [folder] = &entries(&self.world.bisections())[..] else { panic!("there is one bisection") };
        folder.join("runs")
    }

    /// What all runs came to that were kept.
    fn results(&self) -> Vec<ExperimentResult> {
        let read = |run: PathBuf| std::fs::read(run.join("result.json")).unwrap();
        let runs = entries(&self.folder_of_runs()).into_iter();
        runs.map(|run| serde_json::from_slice(&read(run)).unwrap()).collect()
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect()
}

const FAILS_FROM_3: &str = "expect(change < 3, \"no change is wrong\")";

#[test]
fn the_change_with_which_an_experiment_fails_is_found_and_every_run_is_kept() {
    let asked = Asked::of(FAILS_FROM_3);
    let bisection = asked.bisect(&asked.request()).unwrap();
    assert_eq!(culprits(&bisection), ["change 3"]);
    assert!(bisection.rate.always && bisection.rate.decided_at_boot.is_none(), "{:?}", bisection.rate);
    let reason = bisection.last.state.evidence.run.as_ref().map(|run| run.reason.as_str());
    assert_eq!(reason, Some("expected: no change is wrong; this does not hold: change < 3"));
    let runs: Vec<&String> = bisection.states.iter().flat_map(|state| &state.evidence.runs).collect();
    assert_eq!(runs.len(), bisection.steps.runs as usize);
    let folder = asked.folder_of_runs();
    assert!(runs.iter().all(|run| folder.join(run).join("journal.jsonl").is_file()), "{runs:?}");
}

#[test]
fn no_two_runs_of_a_kernel_have_one_seed_also_side_by_side() {
    for jobs in [1, 3] {
        let asked = Asked::of(FAILS_FROM_3);
        let mut request = asked.request();
        request.search.jobs = Some(jobs);
        assert_eq!(culprits(&asked.bisect(&request).unwrap()), ["change 3"]);
        let results = asked.results();
        let runs = results.iter().map(|result| (&result.kernels, result.request.seed));
        assert_eq!(runs.collect::<BTreeSet<_>>().len(), results.len());
        assert!(results.len() > 10 && results.iter().all(|result| result.request.no_clones));
    }
}

#[test]
fn an_experiment_that_fails_with_some_seeds_is_shown_with_one_of_them() {
    let asked = Asked::of("expect(change < 3 or lab.seed % 3, \"chance is wrong\")");
    let bisection = asked.bisect(&asked.request()).unwrap();
    assert_eq!(culprits(&bisection), ["change 3"]);
    assert!((0.2..0.5).contains(&bisection.rate.mean), "{:?}", bisection.rate);
    let seed = bisection.last.state.evidence.run.as_ref().map_or(0, |run| run.seed);
    assert!(seed.is_multiple_of(3), "{seed}");
    let [_, bad] = bisection.reproduce.as_slice() else { panic!("{:?}", bisection.reproduce) };
    assert!((3..300).step_by(3).any(|seed| bad.contains(&format!("--seed {seed} "))), "{bad}");
}

#[test]
fn the_commands_run_the_experiment_on_both_sides() {
    let asked = Asked::of(FAILS_FROM_3);
    let bisection = asked.bisect(&asked.request()).unwrap();
    let [good, bad] = bisection.reproduce.as_slice() else { panic!("{:?}", bisection.reproduce) };
    let run = format!("kiln exp run {} --kernel /kernels/", asked.folder.path().display());
    let how = "--short --seed 1 --no-clones --accel tcg";
    assert_eq!((good, bad), (&format!("{run}2 {how}"), &format!("{run}3 {how}")));
}

#[test]
fn what_is_skipped_or_breaks_answers_nothing() {
    let skipped =
        Asked::of("skip(\"no such device\") if change in [2, 3] else expect(change < 2, \"wrong\")");
    let broken = Asked::of("expect(change < 2, \"wrong\") if change not in [2, 3] else [][change]");
    for (asked, why) in
        [(skipped, "it is skipped: no such device"), (broken, "it fails in another way: broken: ")]
    {
        let bisection = asked.bisect(&asked.request()).unwrap();
        let Conclusion::Suspects { candidates, .. } = &bisection.conclusion else { panic!("{bisection:?}") };
        let names: Vec<&str> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
        assert_eq!(names, ["change 2", "change 3", "change 4"]);
        let mut untestable = bisection.states.iter().filter_map(|state| state.untestable.as_deref());
        assert!(untestable.all(|text| text.starts_with(why)));
    }
}

#[test]
fn a_failure_of_another_kind_answers_nothing() {
    let asked = Asked::of("expect(change < 2, \"another\" if change in [2, 3] else \"wrong\")");
    let bisection = asked.bisect(&asked.request()).unwrap();
    assert!(matches!(bisection.conclusion, Conclusion::Suspects { .. }), "{bisection:?}");
    let mut any = asked.request();
    any.search.any_failure = true;
    assert_eq!(culprits(&asked.bisect(&any).unwrap()), ["change 2"]);
}

#[test]
fn an_experiment_that_was_changed_is_another_search() {
    let asked = Asked::of(FAILS_FROM_3);
    let request = asked.request();
    asked.bisect(&request).unwrap();
    let again = asked.bisect(&request).unwrap();
    assert_eq!(again.steps.reused, again.steps.runs);
    asked.write("expect(change < 5, \"no change is wrong\")");
    assert_eq!(culprits(&asked.bisect(&request).unwrap()), ["change 5"]);
    assert_eq!(entries(&asked.world.bisections()).len(), 2);
}

#[test]
fn runs_of_a_test_that_was_interrupted_count_unless_the_search_is_fresh() {
    let asked = Asked::of(FAILS_FROM_3);
    let mut request = asked.request();
    let first = asked.bisect(&request).unwrap();
    // As if kiln had been killed before the first answer was kept.
    let folder = asked.folder_of_runs();
    std::fs::write(folder.with_file_name("journal.jsonl"), "").unwrap();
    let again = asked.bisect(&request).unwrap();
    assert_eq!(culprits(&again), ["change 3"]);
    assert!(again.steps.reused >= first.steps.runs / 2, "{:?} {:?}", first.steps, again.steps);
    assert_eq!(entries(&folder).len() as u32, first.steps.runs + again.steps.runs - again.steps.reused);
    request.search.fresh = true;
    let fresh = asked.bisect(&request).unwrap();
    assert_eq!((fresh.steps.reused, entries(&folder).len() as u32), (0, fresh.steps.runs));
}

#[test]
fn the_change_that_moved_a_metric_is_found_whatever_its_kind_and_direction() {
    let steps = Asked::of("metric(\"cost\", 10 if change < 3 else 11)");
    let bisection = steps.bisect(&steps.about("cost", None)).unwrap();
    assert_eq!(culprits(&bisection), ["change 3"]);
    assert_eq!(bisection.threshold.map(|threshold| threshold.at), Some(10.5));
    assert_eq!((&bisection.first.state.values[..], bisection.last.state.bad), (&[10.0; 3][..], 3));

    let noisy = "metric(\"speed\", (100 if change < 4 else 80) + 10 * lab.random())";
    let slower = Asked::of(noisy);
    let bisection = slower.bisect(&slower.about("speed", None)).unwrap();
    assert_eq!(culprits(&bisection), ["change 4"]);
    assert!(bisection.threshold.is_some_and(|threshold| !threshold.above), "{:?}", bisection.threshold);

    let in_two = Asked::of("metric(\"speed\", [100, 98, 98, 80, 80, 80, 80][change] + lab.random())");
    assert_eq!(culprits(&in_two.bisect(&in_two.about("speed", None)).unwrap()), ["change 3"]);
    assert_eq!(culprits(&in_two.bisect(&in_two.about("speed", Some(0.01))).unwrap()), ["change 1"]);
}

#[test]
fn a_metric_that_is_better_at_the_bad_end_has_swapped_ends() {
    let asked = Asked::of("metric(\"speed\", (100 if change < 4 else 120) + lab.random())");
    let error = asked.bisect(&asked.about("speed", None)).unwrap_err();
    assert!(matches!(error, Error::Swapped { .. }) && error.is_usage(), "{error}");
}

#[test]
fn a_run_that_fails_counts_with_what_it_recorded_before_and_one_without_figure_answers_nothing() {
    let fails = "metric(\"cost\", 10 if change < 3 else 11)\n    expect(change < 2, \"wrong\")";
    let asked = Asked::of(fails);
    assert_eq!(culprits(&asked.bisect(&asked.about("cost", None)).unwrap()), ["change 3"]);
    let missing = "expect(change not in [2, 3], \"wrong\")\n    metric(\"cost\", 10 if change < 2 else 11)";
    let asked = Asked::of(missing);
    let bisection = asked.bisect(&asked.about("cost", None)).unwrap();
    assert!(matches!(bisection.conclusion, Conclusion::Suspects { .. }), "{bisection:?}");
    let mut untestable = bisection.states.iter().filter_map(|state| state.untestable.as_deref());
    assert!(untestable.all(|why| why.starts_with("it recorded no cost: fail: expected: wrong")));
    let nowhere = Asked::of("pass");
    let error = nowhere.bisect(&nowhere.about("cost", None)).unwrap_err().to_string();
    assert!(error.ends_with("cannot be tested: it recorded no cost"), "{error}");
}

#[test]
fn the_commands_of_a_metric_run_the_experiment_on_both_sides() {
    let asked = Asked::of("metric(\"cost\", 10 if change < 3 else 11)");
    let bisection = asked.bisect(&asked.about("cost", None)).unwrap();
    let run = format!("kiln exp run {} --kernel /kernels/", asked.folder.path().display());
    assert!(bisection.reproduce.iter().all(|line| line.starts_with(&run)), "{:?}", bisection.reproduce);
    assert_eq!(
        bisection.states.iter().flat_map(|state| &state.evidence.runs).count() as u32,
        bisection.steps.runs
    );
}
