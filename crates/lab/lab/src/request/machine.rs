//! The machine of a Kernel.

use std::time::Duration;

use ::machine::{AccelChoice, Engine, Error, Spec, TimeoutScale};
use judge::Dialect;
use kernel::Kernel;
use root::RootLocator;
use serde::{Deserialize, Serialize};

use crate::plan::{Fixed, Plan};

/// Time for a boot on the bare, idle host.
const BOOT_LIMIT: Duration = Duration::from_secs(15);

/// Silence of a boot on the bare, idle host after which it has failed.
const SILENCE_LIMIT: Duration = Duration::from_secs(6);

/// What LTP's tests expect to have passed since the boot: some set the clock of a time namespace back by 10 s, and the
/// kernel refuses a negative time.
const LTP_AGING: Duration = Duration::from_secs(11);

/// What the user fixed about a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineRequest {
    /// Memory in MiB.
    pub memory_mib: Option<u64>,
    /// CPUs.
    pub cpus: Option<u32>,
    /// Kernel parameters after kiln's own.
    pub append: Vec<String>,
    /// How QEMU executes instructions.
    pub accel: AccelChoice,
    /// The user space in which programs run, instead of the agent's own.
    pub root: Option<RootLocator>,
    /// Time limit of a boot.
    #[serde(default, with = "judge::json::optional_seconds")]
    pub boot_limit: Option<Duration>,
}

impl MachineRequest {
    /// Whether programs see files of this host, which may change at any time.
    #[must_use]
    pub fn shows_host_files(&self) -> bool {
        matches!(self.root, Some(RootLocator::Host { .. }))
    }

    /// What runs the kernel here.
    ///
    /// # Errors
    ///
    /// When the user asked for an accelerator that there is not.
    pub fn engine(&self, kernel: &Kernel) -> Result<Engine, Error> {
        Engine::choose(kernel.arch, self.accel)
    }

    /// What the user, or what runs the machine, fixes about a plan.
    ///
    /// # Errors
    ///
    /// When the machine cannot have so many CPUs.
    pub fn fixed(&self, engine: Engine, limit: Option<Duration>) -> Result<Fixed, Error> {
        let (memory_mib, has_root) = (self.memory_mib, self.root.is_some());
        Ok(Fixed { memory_mib, cpus: engine.cpus(self.cpus)?, limit, has_root })
    }

    /// The machine for `plan`.
    #[must_use]
    pub fn spec(&self, plan: &Plan, engine: Engine) -> Spec {
        let timeouts = TimeoutScale::new(engine);
        let is_ltp = plan.items.iter().any(|item| item.dialect == Dialect::Ltp);
        let limit = |usual| self.boot_limit.unwrap_or_else(|| timeouts.stretch(usual));
        Spec {
            memory_mib: plan.memory_mib,
            cpus: plan.cpus,
            append: self.append.join(" "),
            engine,
            boot_limit: limit(BOOT_LIMIT),
            silence_limit: limit(SILENCE_LIMIT),
            aging: if is_ltp { LTP_AGING } else { Duration::ZERO },
            disk_mib: plan.disk_mib,
            root: plan.root.clone(),
            dumps: None,
            timing: None,
            payload: plan.payload.clone(),
        }
    }
}

/// The machines in words: they differ in nothing but their CPUs.
#[must_use]
pub fn describe(specs: &[Spec]) -> String {
    let Some(first) = specs.first() else { return String::new() };
    let counts: Vec<String> = specs.iter().map(|spec| spec.cpus.to_string()).collect();
    let noun = if counts == ["1"] { "CPU" } else { "CPUs" };
    let root = first.root.as_ref().map(|root| format!(", root {}", root.locator)).unwrap_or_default();
    format!("{}, {} {noun}, {} MiB{root}", first.engine, counts.join(" or "), first.memory_mib)
}
