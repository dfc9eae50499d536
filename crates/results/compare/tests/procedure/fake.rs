//! A host of which the truth is known: what an operation costs on each Kernel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use compare::{
    CalibrateRequest, Calibrated, CompareRequest, Compared, Environment, Error, Measured, SideRequest,
    SidesRequest,
};
use judge::Outcome;
use kernel::{Arch, Kernel, Modules};
use lab::request::{FiguresRequest, KernelRequest, MachineRequest, MeasureRequest, Version};
use lab::source::Source;
use lab::{Backend, Waiting};
use machine::{AccelChoice, Spec, Timing};
use measure::{
    Boot, Candidate, Counting, Failure, Kind, Measurement, Metric, NotMeasured, Progress, Unit, Value,
};
use root::{Files, Filesystem, HostFiles, Image, Medium, Root, RootLocator};
use tempfile::TempDir;

/// The operation that is measured.
pub(crate) const OPERATION: &str = "syscall/getppid";

/// What the operation costs on the image of this name, after so many boots of this host; nothing where it crashes.
pub(crate) type Truth = fn(&str, u32) -> Option<f64>;

/// A host, and the folder of its measurements.
pub(crate) struct World {
    truth: Truth,
    /// By what figures come about.
    pub(crate) procedure: &'static str,
    /// Images that were looked for, and those that were booted, in their order.
    pub(crate) found: Mutex<Vec<String>>,
    pub(crate) booted: Mutex<Vec<String>>,
    /// Bytes of the image of a root.
    pub(crate) image_size: u64,
    /// The user stops kiln at this boot.
    pub(crate) stop_at: usize,
    /// The user stops kiln when it looks for an image for this time.
    pub(crate) stop_at_image: usize,
    interrupt: AtomicBool,
    folder: TempDir,
}

impl World {
    pub(crate) fn new(truth: Truth) -> Self {
        Self {
            truth,
            procedure: "1",
            found: Mutex::new(Vec::new()),
            booted: Mutex::new(Vec::new()),
            image_size: 2 << 20,
            stop_at: usize::MAX,
            stop_at_image: usize::MAX,
            interrupt: AtomicBool::new(false),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn measurements(&self) -> PathBuf {
        self.folder.path().join("measurements")
    }

    pub(crate) fn booted(&self) -> Vec<String> {
        self.booted.lock().unwrap().clone()
    }

    fn environment(&self) -> Environment<'_> {
        Environment { backend: self, interrupt: &self.interrupt, measurements: self.measurements() }
    }

    /// The user calls kiln again, and does not stop it.
    pub(crate) fn goes_on(&mut self) {
        (self.stop_at, self.stop_at_image) = (usize::MAX, usize::MAX);
        self.interrupt.store(false, Ordering::Relaxed);
    }

    pub(crate) fn compare(&self, request: &CompareRequest) -> Result<Compared, Error> {
        compare::compare(request, &self.environment(), &mut |_| ())
    }

    pub(crate) fn measure(&self, request: &MeasureRequest) -> Result<Measured, Error> {
        compare::measure(request, &self.environment(), &mut |_| ())
    }

    pub(crate) fn calibrate(&self, request: &CalibrateRequest) -> Result<Calibrated, Error> {
        compare::calibrate(request, &self.environment(), &mut |_| ())
    }

    /// A boot of a candidate, and what the operation costs in it.
    fn boot(&self, candidate: &Candidate<'_>) -> Option<f64> {
        let image = candidate.kernel.image_hash.clone();
        let mut booted = self.booted.lock().unwrap();
        let cost = (self.truth)(&image, u32::try_from(booted.len()).unwrap());
        booted.push(image);
        if booted.len() >= self.stop_at {
            self.interrupt.store(true, Ordering::Relaxed);
        }
        cost
    }
}

impl Backend for World {
    fn kernel(&self, wanted: &KernelRequest, _waiting: &mut Waiting<'_>) -> Result<Kernel, kbuild::Error> {
        let image = wanted.locator.path().unwrap();
        let name = image.file_name().unwrap().to_string_lossy().into_owned();
        let mut found = self.found.lock().unwrap();
        found.push(name.clone());
        if found.len() >= self.stop_at_image {
            self.interrupt.store(true, Ordering::Relaxed);
        }
        Ok(Kernel {
            locator: wanted.locator.to_string(),
            image_hash: name,
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
        let image = |path: &Path| Image {
            path: path.to_path_buf(),
            filesystem: Filesystem::Erofs,
            size: self.image_size,
            medium: Medium::Disk,
            lease: None,
        };
        let (locator, identity) = (wanted.to_string(), "0123456789abcdef0123".to_string());
        let files = match wanted {
            RootLocator::Host { writable } => Files::Host(HostFiles { writable: writable.clone() }),
            RootLocator::Path(path) => Files::Image(image(path)),
            RootLocator::Debian { .. } => panic!("no packages are played"),
        };
        Ok(Root { locator, provenance: "played".into(), identity, files })
    }

    fn machines<'a>(
        &'a self,
        _spec: &'a Spec,
        _kernel: &'a Kernel,
        _same_random_numbers: bool,
    ) -> Result<Box<dyn Source + 'a>, machine::Error> {
        panic!("no case runs")
    }

    fn procedure(&self) -> Result<String, machine::Error> {
        Ok(self.procedure.to_string())
    }

    fn count(
        &self,
        candidates: &[Candidate<'_>],
        how: Counting,
        interrupt: &AtomicBool,
        _tell: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Measurement>, Failure> {
        let mut all = Vec::new();
        for candidate in candidates {
            assert!(matches!(candidate.spec.timing, Some(Timing::Instructions { .. })));
            let mut measured = nothing(candidate, Kind::Exact, self.procedure);
            for boot in 0..how.boots {
                add(&mut measured, self.boot(candidate), candidate.first_seed + u64::from(boot));
            }
            all.push(measured);
        }
        if interrupt.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(all) }
    }

    fn time(
        &self,
        candidates: &[Candidate<'_>],
        interrupt: &AtomicBool,
        emit: &mut dyn FnMut(Progress),
        next: &mut dyn FnMut(&[Measurement]) -> Option<usize>,
    ) -> Result<Vec<Measurement>, Failure> {
        let mut all: Vec<Measurement> =
            candidates.iter().map(|candidate| nothing(candidate, Kind::Timed, self.procedure)).collect();
        while let Some(which) = next(&all) {
            // A clock that counts instructions knows no time.
            assert_eq!(candidates[which].spec.timing, Some(Timing::Host));
            emit(Progress::Boot { kernel: String::new(), number: 1, of: None });
            add(&mut all[which], self.boot(&candidates[which]), 0);
            if interrupt.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
        }
        Ok(all)
    }
}

/// Figures before the first boot.
fn nothing(candidate: &Candidate<'_>, kind: Kind, procedure: &str) -> Measurement {
    let metrics = candidate.jobs.iter().map(|job| Metric {
        name: job.name.clone(),
        about: String::new(),
        unit: if kind == Kind::Exact { Unit::Instructions } else { Unit::Nanoseconds },
        values: Vec::new(),
        samples: Vec::new(),
        not_measured: None,
        detail: None,
    });
    Measurement {
        subject: candidate.subject.clone(),
        kind,
        procedure: procedure.to_string(),
        boots: Vec::new(),
        metrics: metrics.collect(),
        code: BTreeMap::new(),
        notes: vec!["a note".to_string()],
    }
}

/// Adds a boot in which the operation had this cost, or crashed.
fn add(measured: &mut Measurement, cost: Option<f64>, seed: u64) {
    let boot = u32::try_from(measured.boots.len()).unwrap();
    measured.boots.push(Boot { seed, took: Duration::ZERO, conditions: None, run: None });
    for metric in &mut measured.metrics {
        match cost {
            Some(cost) => metric.values.push(Value {
                boot,
                min: cost,
                median: cost,
                max: cost,
                repetitions: 3,
                left_out: 0,
            }),
            None => {
                metric.not_measured =
                    Some(NotMeasured { outcome: Outcome::Crash, reason: "oops".to_string() });
            }
        }
    }
}

/// An image of this name.
pub(crate) fn kernel(name: &str) -> KernelRequest {
    KernelRequest::named(format!("/kernels/{name}").parse().unwrap())
}

/// The operation, in two boots, without asking the host for KVM.
pub(crate) fn figures() -> (FiguresRequest, MachineRequest) {
    let operations = vec![OPERATION.to_string()];
    let machine = MachineRequest { accel: AccelChoice::Tcg, ..MachineRequest::default() };
    (FiguresRequest { operations, boots: Some(2), ..FiguresRequest::default() }, machine)
}

/// What the operation costs on an image of this name.
pub(crate) fn measured(name: &str) -> MeasureRequest {
    let (figures, machine) = figures();
    MeasureRequest { version: Version, kernel: kernel(name), program: None, figures, machine }
}

/// These sides beside each other: `measured:` stands before names of figures.
pub(crate) fn compared(sides: &[&str]) -> CompareRequest {
    let side = |name: &&str| match name.strip_prefix("measured:") {
        Some(name) => SideRequest::Measured(name.to_string()),
        None => SideRequest::Kernel(kernel(name)),
    };
    let sides = SidesRequest::Kernels { sides: sides.iter().map(side).collect(), program: None };
    let (figures, machine) = figures();
    CompareRequest { figures, machine, ..CompareRequest::new(sides) }
}
