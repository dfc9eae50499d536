//! An experiment from its request to its Run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use judge::{Blame, Judgement, Outcome, Run};
use kernel::Kernel;
use machine::{Engine, TimeoutScale};
use protocol::Need;
use script::call::{Call, GuestCall, LabCall, Request};
use script::describe::SegmentDescription;
use script::folder::Folder;
use script::show::shown;
use script::{Event, Experiment, Figure, FileStore, KernelInfo, Limits, Metadata, Problem, Setup, Verdict};

use super::catalogue::{case_of, name_of};
use super::laboratory::Laboratory;
use super::lines::lines;
use super::setting::{Setting, Subject};
use crate::prepare::{Context, Error};
use crate::request::ExperimentRequest;

/// Widest text about a call.
const WIDTH: usize = 60;

/// Bytes of lines that are kept with the Run.
const OUTPUT_MAX: usize = 256 << 10;

/// Stands for the lines beyond.
const CUT: &str = "[kiln cut this off: the journal has it all]\n";

/// An experiment whose Kernels were found.
#[derive(Debug)]
pub struct PreparedExperiment {
    pub(super) request: ExperimentRequest,
    experiment: Experiment,
    folder: Folder,
    /// A hash over all files of the folder.
    pub(super) content: String,
    pub(super) subjects: Vec<Subject>,
    needs: Vec<Need<String>>,
    pub(super) setup: Setup,
}

/// Whoever looks on.
pub struct Watching<'a> {
    /// Gets what the script records.
    pub on_record: &'a mut (dyn FnMut(&Event) + Send),
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
    /// Values of metrics, in the order in which the script records them.
    pub figures: Vec<Figure>,
    /// The identities of the roots that its machines had, by their locators.
    pub roots: BTreeMap<String, String>,
}

impl PreparedExperiment {
    /// The runs that are asked for: as many as the Kernels make, if each takes as many as the experiment says.
    ///
    /// # Errors
    ///
    /// When there is something wrong with the script, a Kernel is missing, or the last run gets too few of them.
    pub fn all(request: &ExperimentRequest, context: &mut Context<'_>) -> Result<Vec<Self>, Error> {
        let kernels = open(request)?.metadata().kernels as usize;
        let given = request.kernels.len();
        if !given.is_multiple_of(kernels) {
            let text =
                format!("the experiment takes {kernels} kernels at once: {given} are too few or too many");
            return Err(Error::Usage(text));
        }
        let runs = request.kernels.chunks(kernels);
        let runs = runs.map(|kernels| ExperimentRequest { kernels: kernels.to_vec(), ..request.clone() });
        runs.map(|request| Self::new(request, context)).collect()
    }

    fn new(request: ExperimentRequest, context: &mut Context<'_>) -> Result<Self, Error> {
        let experiment = open(&request)?;
        let folder = Folder::open(&request.folder).map_err(|error| Error::Usage(error.to_string()))?;
        let metadata = experiment.metadata();
        let needs: Result<Vec<Need<String>>, _> = metadata.needs.iter().map(|need| need.parse()).collect();
        let needs = needs.map_err(|error: protocol::need::WrongNeed| Error::Usage(error.to_string()))?;
        let mut subjects = Vec::new();
        for kernel in &request.kernels {
            let kernel = context.backend.kernel(kernel, &mut context.waiting)?;
            subjects.push(Subject { kernel: Arc::new(kernel) });
        }
        let content = machine::Folder::survey(folder.path())?.content()?;
        let setup = Setup {
            kernels: subjects.iter().map(|subject| info(&subject.kernel)).collect(),
            seed: request.seed,
            mode: request.mode,
            inputs: vec![
                content.clone(),
                serde_json::to_string(&request.machine).unwrap_or_default(),
                request.no_clones.to_string(),
            ],
            limits: Limits::default(),
        };
        Ok(Self { request, experiment, folder, content, subjects, needs, setup })
    }

    /// What is asked.
    #[must_use]
    pub fn request(&self) -> &ExperimentRequest {
        &self.request
    }

    /// What the experiment says about itself.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        self.experiment.metadata()
    }

    /// What a journal of it belongs to.
    #[must_use]
    pub fn identity(&self) -> String {
        self.experiment.identity(&self.setup)
    }

    /// The Kernels, by locators by which the very same are found later.
    #[must_use]
    pub fn locators(&self) -> Vec<String> {
        self.subjects.iter().map(|subject| subject.kernel.exact_locator()).collect()
    }

    /// The name of the experiment: that of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        name_of(self.folder.path())
    }

    /// The name of the case that it is.
    #[must_use]
    pub fn case(&self) -> String {
        case_of(&self.name())
    }

    /// Where its files are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its Kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.subjects.iter().map(|subject| &*subject.kernel)
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
        let Watching { on_record, on_call } = watching;
        let tell_call = |request: &Request| on_call(&about(request));
        let limit = self.limit()?;
        let deadline = Instant::now() + limit;
        let laboratory = Laboratory::new(Setting {
            backend: context.backend,
            subjects: self.subjects.clone(),
            machine: self.request.machine.clone(),
            no_clones: self.request.no_clones,
            needs: self.needs.clone(),
            folder: self.folder.clone(),
            results: results.to_path_buf(),
            seed: self.request.seed,
            deadline,
            interrupt: context.waiting.interrupt,
            on_call: &tell_call,
        });
        let recorded = Recorded { on_record, output: String::new(), is_cut: false, figures: Vec::new() };
        let listener = Recorder(Mutex::new(recorded));
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
        let Recorded { output, figures, .. } =
            listener.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let run = self.run_of(&verdict, output, start.elapsed());
        Ok(Carried { verdict, run, figures, roots: laboratory.roots() })
    }

    /// What runs the first Kernel.
    pub(super) fn engine(&self) -> Result<Option<Engine>, Error> {
        let engine = |kernel| self.request.machine.engine(kernel);
        Ok(self.kernels().next().map(engine).transpose()?)
    }

    /// The time of the experiment, as it is for machines like these.
    fn limit(&self) -> Result<Duration, Error> {
        let usual = self.experiment.metadata().time;
        Ok(self.engine()?.map_or(usual, |engine| TimeoutScale::new(engine).stretch(usual)))
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
        let run = judgement.with(&evidence).run_of(&self.case(), &self.experiment.metadata().question, 0);
        Run { output, duration, seed: self.request.seed, ..run }
    }
}

fn open(request: &ExperimentRequest) -> Result<Experiment, Error> {
    Experiment::open(&request.folder)
        .map_err(|problem| Error::Usage(problem.to_string().trim_end().to_string()))
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
        Call::Lab(LabCall::Segment(SegmentDescription { outside: true, .. })) => {
            "makes a segment from which machines reach all that this host reaches".to_string()
        }
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

/// What the script has recorded.
struct Recorded<'a> {
    on_record: &'a mut (dyn FnMut(&Event) + Send),
    output: String,
    is_cut: bool,
    figures: Vec<Figure>,
}

/// Keeps what a script records, and shows it.
struct Recorder<'a>(Mutex<Recorded<'a>>);

impl script::Listener for Recorder<'_> {
    fn event(&self, event: &Event) {
        let mut recorded = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Event::Metric(figure) = event {
            recorded.figures.push(figure.clone());
        }
        (recorded.on_record)(event);
        lines(event).iter().for_each(|line| recorded.add(line));
    }
}

impl Recorded<'_> {
    /// A line that goes beyond what is kept is left out, and so are all after it.
    fn add(&mut self, line: &str) {
        if self.is_cut {
            return;
        }
        let room = OUTPUT_MAX - CUT.len() - self.output.len();
        self.is_cut = line.len() >= room;
        if self.is_cut {
            self.output.push_str(CUT);
        } else {
            self.output.extend([line, "\n"]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_with_the_run_is_bounded() {
        let on_record: &mut (dyn FnMut(&Event) + Send) = &mut |_| ();
        let mut recorded = Recorded { on_record, output: String::new(), is_cut: false, figures: Vec::new() };
        recorded.add("first");
        (0..10_000).for_each(|_| recorded.add(&"x".repeat(1000)));
        recorded.add("last");
        let output = recorded.output;
        assert!(output.len() > OUTPUT_MAX - 2000 && output.len() <= OUTPUT_MAX, "{}", output.len());
        assert!(output.starts_with("first\nx") && output.ends_with(&format!("x\n{CUT}")));
    }
}
