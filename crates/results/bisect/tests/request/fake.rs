//! A host of which the truth is known: what each Kernel does with its parameters.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bisect::{
    AxisRequest, BisectRequest, Bisection, Conclusion, Environment, Error, Opened, Progress, Question,
};
use kernel::{Arch, Kernel, Locator, Modules};
use lab::request::{KernelRequest, Selection};
use lab::source::Source;
use lab::{Backend, Waiting};
use machine::{AccelChoice, Spec};
use measure::{Candidate, Counting, Kind, Measurement, Metric, Unit, Value};
use root::{Root, RootLocator};
use tempfile::TempDir;

use crate::machines::FakeSource;

/// The case that runs.
pub(crate) const CASE: &str = "process/exit-status";

/// What a Kernel does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Does {
    /// The case passes.
    Passes,
    /// The case fails in these words.
    Fails(&'static str),
    /// It says this while it boots, and the case passes.
    Says(&'static str),
    /// It panics before it is up.
    Panics,
    /// The metric has this value.
    Costs(f64),
    /// The metric has this value and the seed of its boot.
    CostsAndSeed(f64),
    /// The n-th Run of the Kernel fails in these words, and each n-th after it.
    FailsEach(usize, &'static str),
}

/// What is seen at an image with these parameters.
pub(crate) type Truth = Box<dyn Fn(&str, &[&str]) -> Does + Send + Sync>;

/// A host, and the folders that bisections use.
pub(crate) struct World {
    truth: Truth,
    /// Runs that were made, by image and parameters, in their order.
    pub(crate) runs: Mutex<Vec<String>>,
    /// The user stops kiln after so many Runs.
    stop_after: usize,
    interrupt: AtomicBool,
    folder: TempDir,
}

impl World {
    pub(crate) fn new(truth: impl Fn(&str, &[&str]) -> Does + Send + Sync + 'static) -> Self {
        Self {
            truth: Box::new(truth),
            runs: Mutex::new(Vec::new()),
            stop_after: usize::MAX,
            interrupt: AtomicBool::new(false),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// One with this parameter fails.
    pub(crate) fn with_culprit(culprit: &'static str) -> Self {
        Self::new(
            move |_, words| if words.contains(&culprit) { Does::Fails("sum: is 2") } else { Does::Passes },
        )
    }

    pub(crate) fn stops_after(mut self, runs: usize) -> Self {
        self.stop_after = runs;
        self
    }

    /// The user calls again.
    pub(crate) fn goes_on(&mut self) {
        self.stop_after = usize::MAX;
        self.interrupt.store(false, Ordering::Relaxed);
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    pub(crate) fn bisections(&self) -> PathBuf {
        self.folder.path().join("bisections")
    }

    /// Runs that were made.
    pub(crate) fn count(&self) -> usize {
        self.runs.lock().unwrap().len()
    }

    fn environment(&self) -> Environment<'_> {
        Environment {
            backend: self,
            interrupt: &self.interrupt,
            on_slurm: false,
            sessions: self.sessions(),
            bisections: self.bisections(),
        }
    }

    /// Carries a request out.
    pub(crate) fn carry_out(&self, request: &BisectRequest) -> Result<Bisection, Error> {
        let environment = self.environment();
        let opened = Opened::new(request, &environment, &mut |_| ())?;
        opened.search(&mut |_: Progress| ()).map(|done| done.bisection)
    }

    /// Carries a request out along an axis of its own.
    pub(crate) fn along(
        &self,
        request: &BisectRequest,
        axis: impl bisect::Axis + 'static,
    ) -> Result<Bisection, Error> {
        let environment = self.environment();
        let opened = Opened::along(request, &environment, Box::new(axis));
        opened.search(&mut |_: Progress| ()).map(|done| done.bisection)
    }

    /// What a machine does, which has been made for it.
    pub(crate) fn does(&self, image: &Path, parameters: &str) -> Does {
        let image = image.file_name().unwrap_or_default().to_string_lossy();
        let words: Vec<&str> = parameters.split_whitespace().collect();
        (self.truth)(&image, &words)
    }

    /// Parameters that no Kernel knows.
    pub(crate) fn unknown(parameters: &str) -> Vec<String> {
        parameters.split_whitespace().filter(|word| word.starts_with("typo")).map(str::to_string).collect()
    }

    /// A Run is made; how many were made before in such a machine.
    pub(crate) fn run(&self, image: &Path, parameters: &str) -> usize {
        let name = format!("{} {parameters}", image.file_name().unwrap_or_default().to_string_lossy());
        let mut runs = self.runs.lock().unwrap();
        let before = runs.iter().filter(|run| **run == name).count();
        runs.push(name);
        if runs.len() >= self.stop_after {
            self.interrupt.store(true, Ordering::Relaxed);
        }
        before
    }
}

impl Backend for World {
    fn kernel(&self, wanted: &KernelRequest, _waiting: &mut Waiting<'_>) -> Result<Kernel, kbuild::Error> {
        let image = wanted.locator.path().unwrap_or_else(|| PathBuf::from("/host"));
        Ok(Kernel {
            locator: wanted.locator.to_string(),
            image_hash: image.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            image,
            release: Some("6.1.0".into()),
            version_text: None,
            arch: Arch::X86_64,
            modules: Modules::unknown(),
            config: None,
            system_map: None,
            provenance: "played".into(),
            warnings: None,
            commit: None,
            lease: None,
        })
    }

    fn root(&self, wanted: &RootLocator, _waiting: &mut Waiting<'_>) -> Result<Root, root::Error> {
        Err(root::Error::NotFound { path: wanted.to_string().into() })
    }

    fn machines<'a>(
        &'a self,
        spec: &'a Spec,
        kernel: &'a Kernel,
        _same_random_numbers: bool,
    ) -> Result<Box<dyn Source + 'a>, machine::Error> {
        Ok(Box::new(FakeSource { world: self, spec, kernel }))
    }

    fn procedure(&self) -> Result<String, machine::Error> {
        Ok("played".to_string())
    }

    fn count(
        &self,
        candidates: &[Candidate<'_>],
        how: Counting,
        _interrupt: &AtomicBool,
        tell: &mut dyn FnMut(measure::Progress),
    ) -> Result<Vec<Measurement>, measure::Failure> {
        for Candidate { subject, spec, .. } in candidates {
            let (kernel, unknown) = (subject.label.clone(), Self::unknown(&spec.append));
            tell(measure::Progress::Booted { kernel, took: Duration::ZERO, kept: false, unknown });
        }
        Ok(candidates.iter().map(|candidate| self.measurement(candidate, how.boots)).collect())
    }

    fn time(
        &self,
        _candidates: &[Candidate<'_>],
        _interrupt: &AtomicBool,
        _tell: &mut dyn FnMut(measure::Progress),
        _next: &mut dyn FnMut(&[Measurement]) -> Option<usize>,
    ) -> Result<Vec<Measurement>, measure::Failure> {
        panic!("nothing is timed")
    }
}

impl World {
    fn measurement(&self, candidate: &Candidate<'_>, boots: u32) -> Measurement {
        let does = self.does(&candidate.kernel.image, &candidate.spec.append);
        let value = |boot| {
            self.run(&candidate.kernel.image, &candidate.spec.append);
            let value = match does {
                Does::Costs(value) => value,
                Does::CostsAndSeed(value) => value + candidate.first_seed as f64 + f64::from(boot),
                other => panic!("{other:?} is no cost"),
            };
            Value { boot, min: value, median: value, max: value, repetitions: 3, left_out: 0 }
        };
        let metric = Metric {
            name: candidate.jobs[0].name.clone(),
            about: String::new(),
            unit: Unit::Instructions,
            values: (0..boots).map(value).collect(),
            samples: Vec::new(),
            not_measured: None,
            detail: None,
        };
        Measurement {
            subject: candidate.subject.clone(),
            kind: Kind::Exact,
            procedure: String::new(),
            boots: Vec::new(),
            metrics: vec![metric],
            code: std::collections::BTreeMap::new(),
            notes: Vec::new(),
        }
    }
}

/// Asks about the case, with these parameters at both ends.
pub(crate) fn request(first: &str, last: &str) -> BisectRequest {
    let axis = AxisRequest::Parameters {
        kernel: Locator::Path("/kernels/image".into()),
        first: first.to_string(),
        last: last.to_string(),
    };
    asks(BisectRequest::new(axis, Question::Case(CASE.to_string())))
}

/// The same of something else.
pub(crate) fn asks(request: BisectRequest) -> BisectRequest {
    let cases = Selection::Suite { suite: "smoke".to_string(), patterns: vec![CASE.to_string()] };
    let is_run = matches!(request.question, Question::Case(_));
    let mut request = BisectRequest { cases: is_run.then_some(cases), ..request };
    request.machine.accel = AccelChoice::Tcg;
    request.search.jobs = Some(1);
    request
}

/// Names of the culprits; all checks that were made hold.
pub(crate) fn culprits(bisection: &Bisection) -> Vec<&str> {
    for check in &bisection.proof {
        assert!(check.holds || check.untried.is_some(), "{check:?}");
    }
    match &bisection.conclusion {
        Conclusion::Culprits { candidates, .. } => {
            candidates.iter().map(|candidate| candidate.name.as_str()).collect()
        }
        other => panic!("{other:?}"),
    }
}
