//! The machine of a Kernel.

use std::time::Duration;

use ::machine::{Accel, AccelChoice, Conditions, Connections, Engine, Error, Spec, TimeoutScale};
use hardware::{Device, Hardware};
use judge::Dialect;
use kernel::Kernel;
use root::{Medium, RootLocator};
use serde::{Deserialize, Serialize};

use crate::plan::{Fixed, Plan};

/// Time for a boot on the bare, idle host.
const BOOT_LIMIT: Duration = Duration::from_secs(15);

/// Silence of a boot on the bare, idle host after which it has failed.
const SILENCE_LIMIT: Duration = Duration::from_secs(6);

/// Time for the init of a root to start its services on the bare, idle host: half of it is enough for Debian's systemd.
const SERVICES_LIMIT: Duration = Duration::from_secs(10);

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
    /// What it has besides.
    #[serde(skip_serializing_if = "Hardware::is_empty")]
    pub hardware: Hardware,
    /// The user space in which programs run, instead of the agent's own.
    pub root: Option<RootLocator>,
    /// The root's own init runs its services.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub services: bool,
    /// What is a hazard, if hazards are looked for.
    #[serde(skip_serializing_if = "Conditions::is_empty")]
    pub hazards: Conditions,
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
    /// When the user asked for an accelerator that there is not, or that does not find hazards.
    pub fn engine(&self, kernel: &Kernel) -> Result<Engine, Error> {
        let accel = if self.hardware.has_instruction_clock() { AccelChoice::Tcg } else { self.accel };
        self.hazards.engine(kernel.arch, accel)
    }

    /// What the user, or what runs the machine, fixes about a plan.
    ///
    /// # Errors
    ///
    /// When the machine cannot have so many CPUs, or its devices exclude each other, or ask for others.
    pub fn fixed(&self, engine: Engine, limit: Option<Duration>) -> Result<Fixed, Error> {
        self.hardware.check()?;
        let cpus = agreed("--cpus", self.cpus, self.hardware.cpus())?.or(self.hazards.cpus());
        let memory_mib = agreed("--memory in MiB", self.memory_mib, self.hardware.memory_mib())?;
        Ok(Fixed { memory_mib, cpus: engine.cpus(cpus)?, limit, has_root: self.root.is_some() })
    }

    /// The machine for `plan`.
    #[must_use]
    pub fn spec(&self, plan: &Plan, engine: Engine) -> Spec {
        // A lab script has machines of its own beside what was asked for.
        let is_other = self.hardware.has_instruction_clock() && matches!(engine, Engine::Qemu(_));
        let engine = if is_other { Engine::Qemu(Accel::Tcg) } else { engine };
        let timeouts = TimeoutScale::new(engine);
        let is_ltp = plan.items.iter().any(|item| item.dialect == Dialect::Ltp);
        let mut payload = plan.payload.clone();
        payload.disks(self.disks(plan));
        let limit = |usual| self.boot_limit.unwrap_or_else(|| timeouts.stretch(usual));
        // What comes of a slow or silent init is for the agent to say: it is not the kernel's boot.
        let services = if self.services { limit(SERVICES_LIMIT) } else { Duration::ZERO };
        if self.services {
            payload.services(services);
        }
        Spec {
            memory_mib: plan.memory_mib,
            cpus: plan.cpus,
            append: self.append.join(" "),
            engine,
            boot_limit: limit(BOOT_LIMIT) + services,
            silence_limit: limit(SILENCE_LIMIT) + services,
            aging: if is_ltp { LTP_AGING } else { Duration::ZERO },
            disk_mib: plan.disk_mib,
            hardware: self.hardware.clone(),
            connections: Connections::default(),
            root: plan.root.clone(),
            dumps: None,
            timing: None,
            hazards: self.hazards.clone(),
            payload,
        }
    }
}

impl MachineRequest {
    /// How many disks the agent waits for: nothing unless the user asked for one, or the root is memory, whose driver looks
    /// for it later, too.
    fn disks(&self, plan: &Plan) -> u32 {
        let is_disk = |device: &&Device| matches!(device, Device::Disk(_));
        let image = plan.root.as_ref().and_then(|root| root.image());
        match self.hardware.devices.iter().filter(is_disk).count() {
            0 if image.is_none_or(|image| image.medium == Medium::Disk) => 0,
            count => {
                let others = u32::from(plan.disk_mib > 0) + u32::from(image.is_some());
                u32::try_from(count).unwrap_or(u32::MAX).saturating_add(others)
            }
        }
    }
}

/// What the user asked for, which must be what the devices ask for if both do.
fn agreed<T: PartialEq + std::fmt::Display>(
    option: &str,
    asked: Option<T>,
    devices: Option<T>,
) -> Result<Option<T>, Error> {
    match (asked, devices) {
        (Some(asked), Some(devices)) if asked != devices => {
            let text = format!("{option} is {asked}, but the devices of the machine make {devices}");
            Err(Error::Hardware(hardware::Error::Conflict(text)))
        }
        (asked, devices) => Ok(asked.or(devices)),
    }
}

/// The machines in words: they differ in nothing but their CPUs.
#[must_use]
pub fn describe(specs: &[Spec]) -> String {
    let Some(first) = specs.first() else { return String::new() };
    let counts: Vec<String> = specs.iter().map(|spec| spec.cpus.to_string()).collect();
    let noun = if counts == ["1"] { "CPU" } else { "CPUs" };
    let root = first.root.as_ref().map(|root| format!(", root {}", root.locator)).unwrap_or_default();
    let devices: String = first.hardware.devices.iter().map(|device| format!(", {device}")).collect();
    format!("{}, {} {noun}, {} MiB{root}{devices}", first.engine, counts.join(" or "), first.memory_mib)
}
