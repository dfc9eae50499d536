//! An experiment from its request to its Run.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use judge::{Blame, Judgement, Outcome, Run};
use kernel::Kernel;
use machine::TimeoutScale;
use protocol::Need;
use script::call::{Call, GuestCall, LabCall, Request};
use script::folder::Folder;
use script::show::shown;
use script::{Event, Experiment, FileStore, KernelInfo, Limits, Problem, Setup, Verdict};

use super::calling::Subject;
use super::laboratory::{Laboratory, Setting};
use crate::prepare::{Context, Error};
use crate::request::ExperimentRequest;

/// Widest text of a value in a table.
const WIDTH: usize = 60;

/// An experiment whose Kernels were found.
#[derive(Debug)]
pub struct PreparedExperiment {
    request: ExperimentRequest,
    experiment: Experiment,
    folder: Folder,
    subjects: Vec<Subject>,
    needs: Vec<Need<String>>,
    setup: Setup,
}

/// Whoever looks on.
pub struct Watching<'a> {
    /// Gets what the script records, as lines.
    pub on_line: &'a mut (dyn FnMut(&str) + Send),
    /// Gets what it is about to do, as a line.
    pub on_call: &'a (dyn Fn(&str) + Sync),
}

impl std::fmt::Debug for Watching<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watching").finish_non_exhaustive()
    }
}

/// What came of an experiment.
#[derive(Debug)]
pub struct Carried {
    /// What it concludes.
    pub verdict: Verdict,
    /// The same as the Run of a case.
    pub run: Run,
}

impl PreparedExperiment {
    /// Reads the experiment and finds its Kernels.
    ///
    /// # Errors
    ///
    /// When there is something wrong with the script, a Kernel is missing, or there are too few of them.
    pub fn new(request: &ExperimentRequest, context: &mut Context<'_>) -> Result<Self, Error> {
        let usage = |problem: script::Problem| Error::Usage(problem.to_string());
        let experiment = Experiment::open(&request.folder).map_err(usage)?;
        let folder = Folder::open(&request.folder).map_err(|error| Error::Usage(error.to_string()))?;
        let metadata = experiment.metadata();
        let needs: Result<Vec<Need<String>>, _> = metadata.needs.iter().map(|need| need.parse()).collect();
        let needs = needs.map_err(|error: protocol::need::WrongNeed| Error::Usage(error.to_string()))?;
        if request.kernels.len() < metadata.kernels as usize {
            let text = format!("the experiment takes {} kernels: give --kernel so often", metadata.kernels);
            return Err(Error::Usage(text));
        }
        let mut subjects = Vec::new();
        for kernel in &request.kernels {
            let kernel = context.backend.kernel(kernel, &mut context.waiting)?;
            subjects.push(Subject { kernel: Arc::new(kernel) });
        }
        let setup = Setup {
            kernels: subjects.iter().map(|subject| info(&subject.kernel)).collect(),
            seed: request.seed,
            mode: request.mode,
            inputs: vec![serde_json::to_string(&request.machine).unwrap_or_default()],
            limits: Limits::default(),
        };
        Ok(Self { request: request.clone(), experiment, folder, subjects, needs, setup })
    }

    /// What a journal of it belongs to.
    #[must_use]
    pub fn identity(&self) -> String {
        self.experiment.identity(&self.setup)
    }

    /// The Kernels.
    #[must_use]
    pub fn kernels(&self) -> Vec<&Kernel> {
        self.subjects.iter().map(|subject| &*subject.kernel).collect()
    }

    /// The name of the experiment: that of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        self.folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Runs it, from where the journal in `journal` ends; what it keeps goes to `results`.
    ///
    /// # Errors
    ///
    /// When the journal cannot be opened.
    pub fn run(
        &self,
        context: &Context<'_>,
        (journal, results): (&Path, &Path),
        watching: Watching<'_>,
    ) -> Result<Carried, Error> {
        let mut store = FileStore::open(journal).map_err(|error| Error::Usage(error.to_string()))?;
        let Watching { on_line, on_call } = watching;
        let tell_call = |request: &Request| on_call(&about(request));
        let limit = self.limit()?;
        let deadline = Instant::now() + limit;
        let laboratory = Laboratory::new(Setting {
            backend: context.backend,
            subjects: self.subjects.clone(),
            machine: self.request.machine.clone(),
            needs: self.needs.clone(),
            folder: self.folder.clone(),
            results: results.to_path_buf(),
            seed: self.request.seed,
            deadline,
            interrupt: context.waiting.interrupt,
            on_call: &tell_call,
        });
        let listener = Lines { on_line: Mutex::new((on_line, String::new())) };
        let start = Instant::now();
        let mut verdict = self.experiment.run(&self.setup, &laboratory, &mut store, &listener);
        if Instant::now() >= deadline && verdict.outcome != Outcome::Pass {
            let text = format!("the experiment did not end within its time, {} s here", limit.as_secs());
            verdict = Verdict {
                outcome: Outcome::Hang,
                blame: None,
                ..Verdict::broken(Blame::Case, Problem::new(text))
            };
        }
        let (_, output) = listener.on_line.into_inner().unwrap_or_else(PoisonError::into_inner);
        let run = self.run_of(&verdict, output, start.elapsed());
        Ok(Carried { verdict, run })
    }

    /// The time of the experiment, as it is for machines like these.
    fn limit(&self) -> Result<Duration, Error> {
        let first =
            self.subjects.first().map(|subject| self.request.machine.engine(&subject.kernel)).transpose()?;
        let usual = self.experiment.metadata().time;
        Ok(first.map_or(usual, |engine| TimeoutScale::new(engine).stretch(usual)))
    }

    fn run_of(&self, verdict: &Verdict, output: String, duration: Duration) -> Run {
        let reason = verdict.problem.as_ref().map(|problem| problem.text.clone()).unwrap_or_default();
        let judgement = match verdict.outcome {
            Outcome::Broken => Judgement::broken(verdict.blame.unwrap_or(Blame::Case), reason),
            outcome => Judgement::new(outcome, reason),
        };
        let evidence: Vec<String> = verdict
            .problem
            .iter()
            .flat_map(|problem| problem.to_string().lines().map(str::to_string).collect::<Vec<_>>())
            .collect();
        let run = judgement.with(&evidence).run_of(&self.name(), &self.experiment.metadata().question, 0);
        Run { output, duration, seed: self.request.seed, ..run }
    }
}

fn info(kernel: &Kernel) -> KernelInfo {
    KernelInfo {
        locator: kernel.exact_locator(),
        release: kernel.release.clone().unwrap_or_default(),
        identity: kernel.identity(""),
    }
}

/// What a script is about to do, in a few words.
fn about(request: &Request) -> String {
    let what = match &request.call {
        Call::Lab(LabCall::Machine(_)) => "starts a machine".to_string(),
        Call::Lab(LabCall::Segment(_)) => "makes a segment".to_string(),
        Call::Lab(LabCall::Sleep { .. }) => "sleeps".to_string(),
        Call::Guest { machine, call: GuestCall::Run { command, .. } } => {
            format!("machine {machine} runs {command}")
        }
        Call::Guest { machine, .. } | Call::Machine { machine, .. } => format!("machine {machine}"),
        Call::Job { .. } => "waits for a command".to_string(),
        Call::Segment { .. } => "changes a segment".to_string(),
    };
    let at = &request.at;
    format!("{} {}:{}: {}", request.step, at.file, at.line, shown(&what, WIDTH))
}

type OnLine<'a> = &'a mut (dyn FnMut(&str) + Send);

/// Turns what a script records into lines.
struct Lines<'a> {
    on_line: Mutex<(OnLine<'a>, String)>,
}

impl script::Listener for Lines<'_> {
    fn event(&self, event: &Event) {
        let mut guard = self.on_line.lock().unwrap_or_else(PoisonError::into_inner);
        let (on_line, all) = &mut *guard;
        for line in lines(event) {
            on_line(&line);
            all.push_str(&line);
            all.push('\n');
        }
    }
}

/// What a person reads of an event.
fn lines(event: &Event) -> Vec<String> {
    match event {
        Event::Started { step, resumed: true } => vec![format!("step {step}: done before")],
        Event::Started { step, resumed: false } => vec![format!("step {step}")],
        Event::Metric { name, value } => vec![format!("  {name} = {value}")],
        Event::Finding { text, values } => {
            let values: Vec<String> =
                values.iter().map(|(key, value)| format!("{key} = {}", cell(value))).collect();
            let separator = if values.is_empty() { "" } else { ": " };
            vec![format!("  {text}{separator}{}", values.join(", "))]
        }
        Event::Table { name, columns, rows } => table(name, columns, rows),
        Event::Note { text } => vec![format!("  note: {text}")],
        Event::Ended { outcome, reason, step } => match reason {
            Some(reason) => vec![format!("  {}: {reason}", outcome.name())],
            None if *outcome == Outcome::Pass => Vec::new(),
            None => vec![format!("  {step}: {}", outcome.name())],
        },
    }
}

fn cell(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => shown(text, WIDTH),
        value => shown(&value.to_string(), WIDTH),
    }
}

/// A table with columns as wide as what is in them.
fn table(name: &str, columns: &[String], rows: &[Vec<serde_json::Value>]) -> Vec<String> {
    let head: Vec<String> = columns.iter().map(|column| shown(column, WIDTH)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    let width = |place: usize| {
        let all = std::iter::once(&head).chain(&rows).filter_map(|row| row.get(place));
        all.map(|text| text.chars().count()).max().unwrap_or_default()
    };
    let line = |row: &Vec<String>| {
        let mut text = String::from("   ");
        for (place, cell) in row.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(text, " {cell:<width$} ", width = width(place));
        }
        text.trim_end().to_string()
    };
    let title = format!("  {}", shown(name, WIDTH));
    std::iter::once(title).chain(std::iter::once(&head).chain(&rows).map(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_recorded_can_be_read() {
        let rows = vec![vec![json!("none"), json!(2048)], vec![json!("intel"), json!(0)]];
        let table =
            Event::Table { name: "isolation".into(), columns: vec!["iommu".into(), "bytes".into()], rows };
        assert_eq!(lines(&table), ["  isolation", "    iommu  bytes", "    none   2048", "    intel  0"]);
        let values = json!({ "port": 1 }).as_object().cloned().unwrap_or_default();
        let finding = Event::Finding { text: "lost".into(), values };
        assert_eq!(lines(&finding), ["  lost: port = 1"]);
        assert_eq!(lines(&Event::Started { step: "a".into(), resumed: true }), ["step a: done before"]);
    }
}
