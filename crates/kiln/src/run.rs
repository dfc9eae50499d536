//! `kiln run`: from a kernel to a verdict.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use kernel::Kernel;
use lab::source::HostedSource;
use lab::suites::kselftest;
use lab::watch::Patience;
use lab::{Plan, Runner, Suite, Summary};
use machine::{Accel, Built, Engine, Spec, kvm};
use protocol::End;

use crate::choice::Chosen;
use crate::cli::{AccelName, Run};
use crate::failure::{BROKEN, INTERRUPTED};
use crate::find::{find, source_tree};
use crate::listeners::{Listeners, print};
use crate::machine_options::describe;
use crate::{session, signals};

/// Of a kernel without its configuration nobody can say before the boot what it was built without.
const NO_CONFIGURATION: &str = "the configuration of this kernel is not known, so what it was built without may show as \
                                a failure: name its tree, or put config-RELEASE beside vmlinuz-RELEASE";

/// Runs the cases that were asked for and gives the exit code.
pub(crate) fn run(said: &Run, color: bool) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let Prepared { kernel, engine, plan, spec } = prepare(said, &interrupt)?;
    if said.dry_run {
        return dry_run(&plan, &spec, &kernel);
    }
    let mut source = HostedSource::new(&spec, &kernel)?;
    let cases = plan.items.iter().map(|item| item.name.clone()).collect();
    let session = session::begin(&said.kernel, &kernel, &spec, &plan.suite, cases);
    let session = session::again(session, said.again.as_ref())?;
    let mut listeners = session::listeners(&session, said.results.as_deref(), said.format, color)?;
    listeners.note_accel(said, engine);
    said.again.iter().filter_map(|again| again.note(&session)).for_each(|note| listeners.note(note));
    if kernel.config.is_none() && said.exec.is_none() {
        listeners.note(NO_CONFIGURATION.to_string());
    }
    plan.notes.iter().for_each(|note| listeners.note(note.clone()));
    let outcome =
        Runner::new(&mut source, &mut listeners, &interrupt, Patience::new(engine)).run(session, &plan);
    let last_end = listeners.last_end();
    let recorded = listeners.finish();
    let summary = outcome?;
    recorded?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(INTERRUPTED);
    }
    Ok(exit_code(said, summary, last_end.as_ref()))
}

/// What a run is made of.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) kernel: Kernel,
    pub(crate) engine: Engine,
    pub(crate) plan: Plan,
    pub(crate) spec: Spec,
}

/// Finds the kernel and plans what runs on it, and in which machine.
pub(crate) fn prepare(said: &Run, interrupt: &AtomicBool) -> Result<Prepared> {
    // A wrong name is told before anything is fetched.
    let chosen = said.choice.check()?;
    let kernel = find(&said.kernel, &said.build, interrupt)?;
    let source = match &chosen {
        Chosen::Group(_) => source_tree(&said.kernel, &said.build, interrupt)?,
        Chosen::Suite(_) | Chosen::Selftests(_) => None,
    };
    let root = source.as_ref().map(|source| source.path.clone()).or_else(|| kselftest::tree_of(&kernel));
    let suite = said.choice.suite(chosen, root, interrupt)?;
    // Others may want the tree.
    drop(source);
    let engine = said.machine.engine(&kernel)?;
    let mut plan = plan(said, engine, &kernel, &suite)?;
    if let Some(again) = &said.again {
        again.narrow(&mut plan)?;
    }
    let spec = said.machine.spec(&plan, engine);
    Ok(Prepared { kernel, engine, plan, spec })
}

fn plan(said: &Run, engine: Engine, kernel: &Kernel, suite: &Suite) -> Result<Plan> {
    let fixed = said.machine.fixed(engine, said.case_timeout)?;
    if let Some(program) = &said.exec {
        return Ok(Plan::for_program(program, &said.arguments, fixed)?);
    }
    Ok(match suite {
        Suite::Own { name, cases } => Plan::for_cases(name, kernel, cases, fixed)?,
        Suite::External(suite) => Plan::for_external(suite, kernel, fixed)?,
    })
}

/// Shows what would be done.
fn dry_run(plan: &Plan, spec: &Spec, kernel: &Kernel) -> Result<u8> {
    let built = Built::new(spec, kernel)?;
    print(&format!("kernel     {}\n", kernel.provenance))?;
    print(&format!("image      {}\n", kernel.image.display()))?;
    print(&format!("machine    {}\n", describe(spec)))?;
    print(&format!("initramfs  {} KiB\n", built.initramfs_size().div_ceil(1024)))?;
    for item in &plan.items {
        let why = item.skip.as_ref().map(|why| format!("  (skip: {why})")).unwrap_or_default();
        print(&format!("case       {}{why}\n", item.name))?;
    }
    print(&format!("command    {}\n", built.command_line()))?;
    Ok(0)
}

/// The exit code; with `--exec` that of the user's own program, which is then named.
#[expect(clippy::print_stderr, reason = "this is the command line")]
fn exit_code(said: &Run, summary: Summary, last_end: Option<&End>) -> u8 {
    if said.exec.is_none() {
        return summary.exit_code();
    }
    match last_end {
        Some(&End::Exited(code @ 1..)) if summary.broken == 0 => {
            eprintln!("kiln: exit status {code} is that of the program");
            u8::try_from(code).unwrap_or(BROKEN)
        }
        _ => summary.exit_code(),
    }
}

impl Listeners {
    /// Says why KVM is not used, where one might expect it.
    fn note_accel(&mut self, said: &Run, engine: Engine) {
        if said.machine.accel == AccelName::Auto
            && engine == Engine::Qemu(Accel::Tcg)
            && std::path::Path::new("/dev/kvm").exists()
            && let Err(why) = kvm::verdict()
        {
            self.note(format!("{why}: using TCG"));
        }
    }
}
