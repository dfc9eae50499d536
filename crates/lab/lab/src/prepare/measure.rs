//! From requests to Kernels that are measured.

use std::sync::Arc;

use ::measure::{Candidate, Subject};
use kernel::{Kernel, News};
use machine::{Accel, AccelChoice, Engine, Spec, Timing};
use root::Root;

use super::{Context, Error, user_space};
use crate::jobs::Jobs;
use crate::plan::{Plan, uncountable};
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
    side: Side,
    kernel: Kernel,
    /// The user space in which its program runs, if it is not the agent's own; that of all sides.
    root: Option<Arc<Root>>,
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
    Found { side, kernel, root }: &'a Found,
    figures: &FiguresRequest,
    machine: &MachineRequest,
) -> Result<Candidate<'a>, Error> {
    let is_timed = figures.timed.is_some();
    let engine = engine(kernel, is_timed, machine)?;
    let fixed = machine.fixed(engine, None)?;
    let Jobs { jobs, mut plan } = match &side.program {
        Some(program) => Jobs::of_program(kernel, program.borrowed(), fixed)?,
        None => {
            let wanted = operations(&figures.operations).map_err(crate::suites::Error::from)?;
            Jobs::of_operations(&wanted, kernel, fixed)?
        }
    };
    let lacks_device = plan.give_devices(kernel, engine, &machine.hardware)?;
    let lacks_root = match root {
        Some(root) => plan.give_root(kernel, engine, root)?,
        None => None,
    };
    if let Some(why) = lacks_device.or(lacks_root) {
        return Err(Error::Usage(why));
    }
    if !is_timed {
        check_countable(&plan, machine)?;
    }
    let timing = if is_timed { Timing::Host } else { Timing::Instructions { seed: 1 } };
    let append = machine.append.iter().chain(&side.parameters).cloned().collect::<Vec<_>>().join(" ");
    let spec = Spec { timing: Some(timing), append, ..machine.spec(&plan, engine) };
    Ok(Candidate {
        subject: subject(side, kernel, &spec),
        kernel,
        spec,
        jobs,
        first_seed: figures.first_seed,
    })
}

/// What runs the kernel: instructions can only be counted where QEMU translates them.
fn engine(kernel: &Kernel, timed: bool, machine: &MachineRequest) -> Result<Engine, Error> {
    if !timed && machine.accel == AccelChoice::Kvm {
        let text = "--accel kvm: only TCG counts instructions; --timed can use KVM";
        return Err(Error::Usage(text.to_string()));
    }
    match machine.engine(kernel)? {
        Engine::Uml => {
            Err(Error::Usage("User-Mode Linux cannot be measured: build for --arch x86_64".to_string()))
        }
        Engine::Qemu(_) if !timed => Ok(Engine::Qemu(Accel::Tcg)),
        engine => Ok(engine),
    }
}

/// What is counted must not depend on when somebody else is done.
fn check_countable(plan: &Plan, machine: &MachineRequest) -> Result<(), Error> {
    if let Some(device) = uncountable(&machine.hardware) {
        let text = format!(
            "{device}: counted figures would depend on when the host answers for it; --timed can have it"
        );
        return Err(Error::Usage(text));
    }
    let why = if plan.cpus > 1 {
        "--cpus, --need cpus=N: counted figures say nothing about several CPUs, which share one clock; --timed can have them"
    } else if plan.disk_mib > 0 {
        "--need disk=SIZE: counted figures would depend on when the host answers for the disk; --timed can have one"
    } else {
        return Ok(());
    };
    Err(Error::Usage(why.to_string()))
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
