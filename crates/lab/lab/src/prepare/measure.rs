//! From requests to Kernels that are measured.

use std::sync::Arc;

use ::measure::count::FIRST_SEED;
use ::measure::{Candidate, Subject};
use kernel::{Kernel, News};
use machine::{Accel, AccelChoice, Engine, Spec, Timing};
use root::Root;

use super::{Context, Error, user_space};
use crate::jobs::Jobs;
use crate::plan::{Fixed, Plan, uncountable};
use crate::request::machine::describe;
use crate::request::{FiguresRequest, KernelRequest, MachineRequest, MeasureRequest, ProgramRequest};
use crate::suites::select::operations;

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct Side {
    /// What it is called in tables.
    pub label: String,
    /// The Kernel.
    pub kernel: KernelRequest,
    /// Kernel parameters of its own.
    pub parameters: Option<String>,
    /// A program instead of the operations.
    pub program: Option<ProgramRequest>,
}

/// A side whose Kernel has been found.
#[derive(Debug)]
pub struct Found {
    pub(super) side: Side,
    pub(super) kernel: Kernel,
    /// The user space in which its program runs, if it is not the agent's own; that of all sides.
    root: Option<Arc<Root>>,
}

/// What a Kernel boots for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Time is measured.
    Timed,
    /// Instructions are counted.
    Counted,
    /// The same, while the kernel records.
    Recorded,
}

impl Way {
    /// What has no need of counted instructions.
    fn instead(self) -> &'static str {
        match self {
            Self::Timed | Self::Counted => "--timed",
            Self::Recorded => "a recording without --exact",
        }
    }
}

/// Operations need nothing but the agent.
const ROOT_OF_OPERATIONS: &str = "--root has no effect on the suite of operations: use it with --exec";

/// Digits of a root's hash that are shown.
const SHOWN: usize = 16;

impl Side {
    /// The only side of a measurement.
    #[must_use]
    pub fn of(request: &MeasureRequest) -> Self {
        let (kernel, program) = (request.kernel.clone(), request.program.clone());
        Self { label: kernel.locator.to_string(), kernel, parameters: None, program }
    }
}

/// Finds the root of the machine and the Kernels, one after the other: some may have to be built, which takes longer than
/// to make a root.
///
/// # Errors
///
/// When there is none, or it does not build, or nothing can be measured in the root.
pub fn find(
    sides: Vec<Side>,
    machine: &MachineRequest,
    context: &mut Context<'_>,
) -> Result<Vec<Found>, Error> {
    if machine.root.is_some() && sides.iter().any(|side| side.program.is_none()) {
        return Err(Error::Usage(ROOT_OF_OPERATIONS.to_string()));
    }
    let root = user_space::find_in_memory(machine, context)?;
    if let Some(root) = &root {
        let note = format!("root {}: {}", root.locator, root.provenance);
        (context.waiting.progress)(News::Note(&note));
    }
    let mut find_it = |side: Side| {
        let kernel = context.backend.kernel(&side.kernel, &mut context.waiting)?;
        Ok(Found { side, kernel, root: root.clone() })
    };
    sides.into_iter().map(&mut find_it).collect()
}

/// What is measured of them, and in which machines. A Kernel that is there more than once has other seeds each time:
/// boots of the same seeds are the same, and no check.
///
/// # Errors
///
/// When it cannot be measured in such a machine.
pub fn candidates<'a>(
    found: &'a [Found],
    figures: &FiguresRequest,
    machine: &MachineRequest,
) -> Result<Vec<Candidate<'a>>, Error> {
    let mut all: Vec<Candidate<'a>> = Vec::new();
    for one in found {
        let mut candidate = candidate(one, figures, machine)?;
        let is_same = |(other, before): &(&Candidate<'_>, &Found)| {
            other.subject.identity == candidate.subject.identity && before.side.program == one.side.program
        };
        let same = all.iter().zip(found).filter(is_same).map(|(other, _)| other.first_seed);
        if let Some(before) = same.max() {
            candidate.first_seed = before.saturating_add(figures.seeds_of_a_kernel());
        }
        all.push(candidate);
    }
    Ok(all)
}

fn candidate<'a>(
    found: &'a Found,
    figures: &FiguresRequest,
    machine: &MachineRequest,
) -> Result<Candidate<'a>, Error> {
    let Found { side, kernel, .. } = found;
    let jobs = |fixed| match &side.program {
        Some(program) => Ok(Jobs::of_program(kernel, program.borrowed(), fixed)?),
        None => {
            let wanted = operations(&figures.operations).map_err(crate::suites::Error::from)?;
            Ok(Jobs::of_operations(&wanted, kernel, fixed)?)
        }
    };
    let way = if figures.timed.is_some() { Way::Timed } else { Way::Counted };
    let candidate = candidate_of(found, way, machine, jobs)?;
    Ok(Candidate { first_seed: figures.first_seed, ..candidate })
}

/// One whose jobs are these, with the seed of the first boot of all.
pub(super) fn candidate_of<'a>(
    Found { side, kernel, root }: &'a Found,
    way: Way,
    machine: &MachineRequest,
    jobs: impl FnOnce(Fixed) -> Result<Jobs, Error>,
) -> Result<Candidate<'a>, Error> {
    let engine = engine(kernel, way, machine)?;
    let Jobs { jobs, mut plan } = jobs(machine.fixed(engine, None)?)?;
    let lacks_device = plan.give_devices(kernel, engine, &machine.hardware)?;
    let lacks_root = match root {
        Some(root) => plan.give_root(kernel, engine, root)?,
        None => None,
    };
    if let Some(why) = lacks_device.or(lacks_root) {
        return Err(Error::Usage(why));
    }
    let timing = match way {
        Way::Timed => Timing::Host,
        Way::Counted | Way::Recorded => {
            check_countable(&plan, machine, way)?;
            Timing::Instructions { seed: FIRST_SEED }
        }
    };
    let append = machine.append.iter().chain(&side.parameters).cloned().collect::<Vec<_>>().join(" ");
    let spec = Spec { timing: Some(timing), append, ..machine.spec(&plan, engine) };
    Ok(Candidate { subject: subject(side, kernel, &spec), kernel, spec, jobs, first_seed: FIRST_SEED })
}

/// What runs the kernel: instructions can only be counted where QEMU translates them.
fn engine(kernel: &Kernel, way: Way, machine: &MachineRequest) -> Result<Engine, Error> {
    if way != Way::Timed && machine.accel == AccelChoice::Kvm {
        let instead = way.instead();
        return Err(Error::Usage(format!(
            "--accel kvm: only TCG counts instructions; {instead} can use KVM"
        )));
    }
    match machine.engine(kernel)? {
        Engine::Uml => {
            Err(Error::Usage("User-Mode Linux cannot be measured: build for --arch x86_64".to_string()))
        }
        Engine::Qemu(_) if way != Way::Timed => Ok(Engine::Qemu(Accel::Tcg)),
        engine => Ok(engine),
    }
}

/// What is counted must not depend on when somebody else is done.
fn check_countable(plan: &Plan, machine: &MachineRequest, way: Way) -> Result<(), Error> {
    let instead = way.instead();
    let depends = "what is counted would depend on when the host answers for it";
    let why = if let Some(device) = uncountable(&machine.hardware) {
        format!("{device}: {depends}; {instead} can have it")
    } else if plan.cpus > 1 {
        let one = "counted instructions say nothing about several CPUs, which share one clock";
        format!("--cpus, --need cpus=N: {one}; {instead} can have them")
    } else if plan.disk_mib > 0 {
        format!("--need disk=SIZE: {depends}; {instead} can have one")
    } else {
        return Ok(());
    };
    Err(Error::Usage(why))
}

fn subject(side: &Side, kernel: &Kernel, spec: &Spec) -> Subject {
    let parameters = spec.parameters();
    Subject {
        label: side.label.clone(),
        locator: side.kernel.locator.to_string(),
        kernel: kernel.exact_locator(),
        provenance: kernel.provenance.clone(),
        release: kernel.release.clone().unwrap_or_default(),
        identity: kernel.identity(&parameters),
        parameters,
        machine: exactly(spec),
        size: kernel.size(),
        warnings: kernel.warnings,
    }
}

/// The machine in words, with the hash of its root: figures in another one are of another machine.
fn exactly(spec: &Spec) -> String {
    let root = spec.root.as_ref().map(|root| root.identity.chars().take(SHOWN).collect::<String>());
    let root = root.map(|hash| format!(", hash of the root {hash}")).unwrap_or_default();
    format!("{}{root}", describe(std::slice::from_ref(spec)))
}
