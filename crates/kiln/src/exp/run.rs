//! `kiln exp run`: an experiment on kernels, one run after the other.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use judge::Summary;
use judge::exit::INTERRUPTED;
use lab::HostBackend;
use lab::experiment::{PreparedExperiment, Watching, lines};
use lab::prepare;
use ledger::{ExperimentFolder, ExperimentResult, experiments_root};
use script::Metadata;
use serde_json::Value;

use super::print;
use crate::cli::ExpRun;
use crate::find::preparing;
use crate::signals;
use crate::terminal::Progress;

/// Runs the experiment in `folder` and gives the exit code.
pub(super) fn run(args: &ExpRun, folder: &Path) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let request = args.request(folder);
    let runs = preparing(&interrupt, |context| PreparedExperiment::all(&request, context))?;
    let (mut results, mut summary) = (Vec::new(), Summary::default());
    for run in &runs {
        if runs.len() > 1 && !args.json {
            print(&format!("on {}:\n", run.locators().join(", ")))?;
        }
        let result = run_one(args, run, &interrupt)?;
        if interrupt.load(Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        summary.count(result.run.outcome);
        results.push(result);
    }
    if let ([first, _, ..], false) = (&*runs, args.json) {
        print(&compared(first.metadata(), &results))?;
    }
    Ok(summary.exit_code())
}

/// Carries out one run, shows what it records, and keeps the result.
fn run_one(args: &ExpRun, run: &PreparedExperiment, interrupt: &AtomicBool) -> Result<ExperimentResult> {
    let root = args.results.clone().unwrap_or_else(experiments_root);
    let kept = ExperimentFolder::open(&root, &run.name(), &run.identity(), args.fresh)
        .with_context(|| format!("{}; choose another with --results", root.display()))?;
    let progress = Mutex::new(Progress::new());
    let progress = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let mut failed = None;
    if !args.json && kept.is_resumed {
        print("goes on after the steps that an earlier run has completed; --fresh begins again\n")?;
    }
    let mut on_line = |line: &str| {
        if !args.json {
            // Its line goes before another is printed.
            progress().clear();
            failed = failed.take().or(print(&format!("{line}\n")).err());
        }
    };
    let on_call = |text: &str| progress().show(text);
    let waiting = lab::Waiting { interrupt, progress: &mut |news| progress().tell(news) };
    let context = prepare::Context { backend: &HostBackend, waiting };
    let watching = Watching { on_line: &mut on_line, on_call: &on_call };
    let carried = run.run(&context, (&kept.journal(), kept.path()), watching);
    progress().clear();
    let carried = carried?;
    if let Some(error) = failed {
        return Err(error);
    }
    let is_interrupted = interrupt.load(Ordering::Relaxed);
    let is_final = carried.verdict.is_final() && !is_interrupted;
    let result = ExperimentResult::new(run, carried);
    let path = kept.finish(&result, is_final)?;
    print(&match (args.json, is_interrupted) {
        (true, _) => format!("{}\n", serde_json::to_string(&result)?),
        (false, true) => "interrupted; the same call goes on after the last complete step\n".to_string(),
        (false, false) => conclusion(&result, &path),
    })?;
    Ok(result)
}

/// The last lines of a run.
fn conclusion(result: &ExperimentResult, path: &Path) -> String {
    let ExperimentResult { name, run, kernels, .. } = result;
    let by = run.blame.map(|blame| format!(", by {}", blame.name())).unwrap_or_default();
    let mut text = format!("{:<8}{name} on {}{by}", run.outcome.name(), kernels.join(", "));
    // The evidence begins with the reason, and with its place.
    if run.evidence.is_empty() && !run.reason.is_empty() {
        text.push_str(&format!(": {}", report::safe(&run.reason)));
    }
    text.push('\n');
    for line in &run.evidence {
        text.push_str(&format!("        {}\n", report::safe(line)));
    }
    text.push_str(&format!("{:.1} s; results in {}\n", run.duration.as_secs_f64(), path.display()));
    text
}

/// The outcomes and metrics of all runs beside each other.
fn compared(about: &Metadata, results: &[ExperimentResult]) -> String {
    let columns: Vec<String> = ["", "unit"]
        .map(str::to_string)
        .into_iter()
        .chain(results.iter().map(|result| result.kernels.join(", ")))
        .collect();
    let outcomes = results.iter().map(|result| Value::from(result.run.outcome.name()));
    let outcomes = [Value::from("outcome"), Value::from("")].into_iter().chain(outcomes).collect();
    let metrics = about.measures.iter().map(|metric| {
        let values = results.iter().map(|result| value_of(result, &metric.name));
        [Value::from(&*metric.name), Value::from(&*metric.unit)].into_iter().chain(values).collect()
    });
    let rows: Vec<Vec<Value>> = std::iter::once(outcomes).chain(metrics).collect();
    lines::table("all kernels", &columns, &rows).iter().map(|line| format!("{line}\n")).collect()
}

/// What a run has recorded of a metric: its value, or how many it has.
fn value_of(result: &ExperimentResult, metric: &str) -> Value {
    let mut values = result.figures.iter().filter(|figure| figure.name == metric).map(|figure| figure.value);
    match (values.next(), values.count()) {
        (None, _) => Value::from("-"),
        (Some(value), 0) => Value::from(value),
        (Some(_), more) => Value::from(format!("{} values", more + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::{Outcome, Run};
    use lab::request::{ExperimentRequest, MachineRequest, Version};
    use script::{Figure, Mode};

    fn result(kernel: &str, outcome: Outcome, figures: &[(&str, f64)]) -> ExperimentResult {
        let request = ExperimentRequest {
            version: Version,
            folder: "a".into(),
            kernels: Vec::new(),
            seed: 1,
            mode: Mode::Full,
            machine: MachineRequest::default(),
            no_clones: false,
        };
        let figure = |&(name, value): &(&str, f64)| Figure { name: name.to_string(), value };
        ExperimentResult {
            name: "a".to_string(),
            ended: jiff::Timestamp::UNIX_EPOCH,
            request,
            kernels: vec![kernel.to_string()],
            run: Run { outcome, ..Run::unstarted() },
            figures: figures.iter().map(figure).collect(),
        }
    }

    #[test]
    fn kernels_stand_beside_each_other() {
        let source = "experiment(question = \"why?\", measures = [\
            metric_info(\"cost\", unit = \"us\"), metric_info(\"left\", unit = \"files\"), \
            metric_info(\"each\", unit = \"s\")])\n";
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(script::folder::SCRIPT), source).unwrap();
        let experiment = script::Experiment::open(folder.path()).unwrap();
        let results = [
            result("deb:a", Outcome::Pass, &[("cost", 1.25), ("left", 3.0), ("each", 1.0), ("each", 2.0)]),
            result("deb:b", Outcome::Crash, &[("cost", 20.0)]),
        ];
        let text = compared(experiment.metadata(), &results);
        let expected = "\
all kernels
           unit   deb:a     deb:b
  outcome         pass      crash
  cost     us     1.250     20
  left     files  3         -
  each     s      2 values  -
";
        assert_eq!(text, expected);
    }
}
