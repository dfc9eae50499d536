//! `kiln exp run`: an experiment on kernels, one run after the other.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use judge::Summary;
use judge::exit::INTERRUPTED;
use lab::event::Session;
use lab::experiment::{Places, PreparedExperiment, lines};
use lab::prepare::Again;
use lab::request::ExperimentRequest;
use lab::{Event, HostBackend, Listener, prepare};
use ledger::ExperimentResult;
use script::Metadata;
use serde_json::Value;

use super::print;
use crate::cli::{ExpRun, Format};
use crate::failure::WrongUsage;
use crate::find::preparing;
use crate::listeners::{Listeners, View};
use crate::output::Output;
use crate::signals;
use crate::terminal::Progress;

/// Runs the experiment in `folder` and gives the exit code.
pub(super) fn run(args: &ExpRun, folder: &Path, color: bool) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let request = args.request(folder);
    let runs = preparing(&interrupt, |context| PreparedExperiment::all(&request, context))?;
    let is_human = args.format == Format::Human;
    check_form(args.format, runs.len())?;
    let view = View { format: args.format, color, verbose: false };
    let output = Output { view, results: args.results.as_deref() };
    let (mut results, mut summary) = (Vec::new(), Summary::default());
    for run in &runs {
        if runs.len() > 1 && is_human {
            print(&format!("on {}:\n", run.locators().join(", ")))?;
        }
        let session = run.session(None)?;
        let listeners = output.listeners_of_experiment(&session, args.fresh)?;
        let result = run_one(run, session, listeners, &interrupt)?;
        if interrupt.load(Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        summary.count(result.run.outcome);
        results.push(result);
    }
    if let ([first, _, ..], true) = (&*runs, is_human) {
        print(&compared(first.metadata(), &results))?;
    }
    Ok(summary.exit_code())
}

/// Runs an experiment of an earlier session once more, from its beginning, and gives the exit code.
pub(crate) fn again(request: &ExperimentRequest, again: &Again, output: Output<'_>) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let (run, session) = prepared_again(request, again, &interrupt)?;
    let mut listeners = output.listeners_of_experiment(&session, true)?;
    again.copy_note().into_iter().for_each(|note| listeners.note(note));
    let result = run_one(&run, session, listeners, &interrupt)?;
    Ok(if interrupt.load(Ordering::Relaxed) { INTERRUPTED } else { result.run.outcome.exit_code() })
}

/// The run of an earlier session, and the session that begins now; refused if a kernel or the experiment is another one.
pub(crate) fn prepared_again(
    request: &ExperimentRequest,
    again: &Again,
    interrupt: &AtomicBool,
) -> Result<(PreparedExperiment, Session)> {
    let runs = preparing(interrupt, |context| PreparedExperiment::all(request, context))?;
    let run = runs.into_iter().next().context("the experiment has no kernel")?;
    let session = run.session(Some(again))?;
    Ok((run, session))
}

/// These forms are one document for one session, and each run is a session.
fn check_form(format: Format, runs: usize) -> Result<()> {
    if matches!(format, Format::Human | Format::Json) || runs < 2 {
        return Ok(());
    }
    let text = format!("--format ktap and junit have one run, not {runs}: call kiln once for each kernel");
    Err(WrongUsage(text).into())
}

/// Carries out one run, shows and records it.
fn run_one(
    run: &PreparedExperiment,
    session: Session,
    mut listeners: Listeners,
    interrupt: &AtomicBool,
) -> Result<ExperimentResult> {
    let recorder = listeners.recorder();
    let (journal, files) = (recorder.journal(), recorder.directory().to_path_buf());
    if !recorder.keep_experiment(&run.name(), &machine::Folder::survey(run.folder())?)? {
        let folder = run.folder().display().to_string();
        listeners.note(format!(
            "the session keeps no copy of {folder}, which is large: a replay needs it as it is"
        ));
    }
    let progress = Mutex::new(Progress::new());
    let progress = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let on_call = |text: &str| progress().show(text);
    let waiting = lab::Waiting { interrupt, progress: &mut |news| progress().tell(news) };
    let context = prepare::Context { backend: &HostBackend, waiting };
    let mut shown = Shown { listeners: &mut listeners, clear: &|| progress().clear() };
    let places = Places { journal: &journal, files: &files };
    let carried = run.run_session(session, (&context, places), &mut shown, &on_call);
    progress().clear();
    let result = carried.map(|carried| ExperimentResult::new(run, carried));
    let is_concluded = !interrupt.load(Ordering::Relaxed);
    if let (Ok(result), true) = (&result, is_concluded) {
        listeners.recorder().keep_result(result)?;
    }
    listeners.finish()?;
    Ok(result?)
}

/// Takes the line about what is going on away before anything is shown.
struct Shown<'a> {
    listeners: &'a mut Listeners,
    clear: &'a (dyn Fn() + Sync),
}

impl Listener for Shown<'_> {
    fn on_event(&mut self, event: &Event) {
        (self.clear)();
        self.listeners.on_event(event);
    }
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
            roots: [].into(),
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
