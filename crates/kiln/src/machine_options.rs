//! From what was said about the machine to what it shall be.

use std::time::Duration;

use kernel::Kernel;
use lab::Plan;
use lab::plan::Fixed;
use machine::TimeoutScale;
use machine::{Engine, Error, Spec};

use crate::cli::MachineOptions;

/// Time for a boot on the bare, idle host.
const BOOT_LIMIT: Duration = Duration::from_secs(15);

/// Silence of a boot on the bare, idle host after which it has failed.
const SILENCE_LIMIT: Duration = Duration::from_secs(6);

impl MachineOptions {
    /// What shall run the kernel here.
    pub(crate) fn engine(&self, kernel: &Kernel) -> Result<Engine, Error> {
        Engine::choose(kernel.arch, self.accel.into())
    }

    /// What the user, or what runs the machine, fixes about a plan.
    pub(crate) fn fixed(&self, engine: Engine, limit: Option<Duration>) -> Result<Fixed, Error> {
        Ok(Fixed { memory_mib: self.memory, cpus: engine.cpus(self.cpus)?, limit })
    }

    /// The machine for `plan`.
    pub(crate) fn spec(&self, plan: &Plan, engine: Engine) -> Spec {
        let timeouts = TimeoutScale::new(engine);
        let boot_limit = self.timeout.unwrap_or_else(|| timeouts.stretch(BOOT_LIMIT));
        Spec {
            memory_mib: plan.memory_mib,
            cpus: plan.cpus,
            append: self.append.join(" "),
            engine,
            boot_limit,
            silence_limit: self.timeout.unwrap_or_else(|| timeouts.stretch(SILENCE_LIMIT)),
            disk_mib: plan.disk_mib,
            dumps: None,
            timing: None,
            payload: plan.payload.clone(),
        }
    }
}

/// The machines in words: they differ in nothing but their CPUs.
pub(crate) fn describe(specs: &[Spec]) -> String {
    let Some(first) = specs.first() else { return String::new() };
    let counts: Vec<String> = specs.iter().map(|spec| spec.cpus.to_string()).collect();
    let noun = if counts == ["1"] { "CPU" } else { "CPUs" };
    format!("{}, {} {noun}, {} MiB", first.engine, counts.join(" or "), first.memory_mib)
}
