//! From what was said to kernels that are measured.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use kernel::{Kernel, Locator};
use lab::suites::select::operations;
use lab::{Jobs, Plan};
use machine::{Accel, Engine, Spec, Timing};
use measure::{Candidate, Subject};

use crate::cli::{AccelName, BuildOptions, Figures, MachineOptions};
use crate::failure::WrongUsage;
use crate::find::find;
use crate::machine_options::describe;

/// One side of a comparison, as it was said.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    /// What it is called in tables.
    pub(crate) label: String,
    pub(crate) locator: Locator,
    /// Kernel parameters of its own.
    pub(crate) parameters: Option<String>,
    /// A program instead of the suite.
    pub(crate) program: Option<PathBuf>,
}

/// A side whose Kernel has been found.
#[derive(Debug)]
pub(crate) struct Found {
    side: Side,
    kernel: Kernel,
}

/// Finds the Kernels, one after the other: some may have to be built.
pub(crate) fn kernels(sides: Vec<Side>, said: &BuildOptions, interrupt: &AtomicBool) -> Result<Vec<Found>> {
    let find_it = |side: Side| Ok(Found { kernel: find(&side.locator, said, interrupt)?, side });
    sides.into_iter().map(find_it).collect()
}

/// What is measured of them, and in which machines.
pub(crate) fn all<'a>(
    found: &'a [Found],
    figures: &Figures,
    machine: &MachineOptions,
) -> Result<Vec<Candidate<'a>>> {
    let mut all: Vec<Candidate<'a>> = Vec::new();
    for Found { side, kernel } in found {
        let mut candidate = candidate(side, kernel, figures, machine)?;
        let is_same = |(other, before): (&Candidate<'_>, &Found)| {
            other.subject.identity == candidate.subject.identity && before.side.program == side.program
        };
        candidate.fresh = all.iter().zip(found).any(is_same);
        all.push(candidate);
    }
    Ok(all)
}

fn candidate<'a>(
    side: &Side,
    kernel: &'a Kernel,
    figures: &Figures,
    machine: &MachineOptions,
) -> Result<Candidate<'a>> {
    let engine = engine(kernel, figures.timed, machine)?;
    let fixed = machine.fixed(engine, None)?;
    let Jobs { jobs, plan } = match &side.program {
        Some(path) => Jobs::of_program(kernel, figures.program(path), fixed)?,
        None => Jobs::of_operations(&operations(&figures.metric)?, kernel, fixed)?,
    };
    if !figures.timed {
        check_countable(&plan)?;
    }
    let timing = if figures.timed { Timing::Host } else { Timing::Instructions { seed: 1 } };
    let append = machine.append.iter().chain(&side.parameters).cloned().collect::<Vec<_>>().join(" ");
    let spec = Spec { timing: Some(timing), append, ..machine.spec(&plan, engine) };
    Ok(Candidate { subject: subject(side, kernel, &spec), kernel, spec, jobs, fresh: false })
}

/// What runs the kernel: instructions can only be counted where QEMU translates them.
fn engine(kernel: &Kernel, timed: bool, machine: &MachineOptions) -> Result<Engine> {
    if !timed && machine.accel == AccelName::Kvm {
        let text = "--accel kvm: instructions are counted by TCG; --timed can use KVM";
        return Err(WrongUsage(text.to_string()).into());
    }
    match machine.engine(kernel)? {
        Engine::Uml => {
            Err(WrongUsage("User-Mode Linux cannot be measured: build for --arch x86_64".to_string()).into())
        }
        Engine::Qemu(_) if !timed => Ok(Engine::Qemu(Accel::Tcg)),
        engine => Ok(engine),
    }
}

/// What is counted must not depend on when somebody else is done.
fn check_countable(plan: &Plan) -> Result<()> {
    let why = if plan.cpus > 1 {
        "--cpus, --need cpus=N: counted CPUs share one clock, which says nothing about several; --timed can have them"
    } else if plan.disk_mib > 0 {
        "--need disk=SIZE: when a disk answers is up to the host, and with it what is counted; --timed can have one"
    } else {
        return Ok(());
    };
    Err(WrongUsage(why.to_string()).into())
}

fn subject(side: &Side, kernel: &Kernel, spec: &Spec) -> Subject {
    let parameters = spec.parameters();
    Subject {
        label: side.label.clone(),
        locator: side.locator.to_string(),
        kernel: kernel.exact_locator(),
        provenance: kernel.provenance.clone(),
        release: kernel.release.clone().unwrap_or_default(),
        identity: kernel.identity(&parameters),
        parameters,
        machine: describe(std::slice::from_ref(spec)),
    }
}
