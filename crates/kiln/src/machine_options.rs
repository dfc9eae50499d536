//! From what was said about the machine to what it shall be.

use std::time::Duration;

use lab::Plan;
use lab::plan::Fixed;
use lab::watch::Patience;
use machine::{Accel, Error, Spec};

use crate::cli::MachineOptions;

/// Time for a boot on the bare, idle host.
const BOOT_LIMIT: Duration = Duration::from_secs(15);

/// Silence of a boot on the bare, idle host after which it has failed.
const SILENCE_LIMIT: Duration = Duration::from_secs(6);

impl MachineOptions {
    /// What the user fixed about a plan.
    pub(crate) fn fixed(&self, limit: Option<Duration>) -> Fixed {
        Fixed { memory_mib: self.memory, cpus: self.cpus, limit }
    }

    /// How instructions shall be executed here.
    pub(crate) fn accel(&self) -> Result<Accel, Error> {
        Accel::choose(self.accel.into())
    }

    /// The machine for `plan`.
    pub(crate) fn spec(&self, plan: &Plan, accel: Accel) -> Spec {
        let patience = Patience::new(accel);
        let boot_limit = self.timeout.unwrap_or_else(|| patience.stretch(BOOT_LIMIT));
        Spec {
            memory_mib: plan.memory_mib,
            cpus: plan.cpus,
            append: self.append.join(" "),
            accel,
            boot_limit,
            silence_limit: self.timeout.unwrap_or_else(|| patience.stretch(SILENCE_LIMIT)),
            disk_mib: plan.disk_mib,
            payload: plan.payload.clone(),
        }
    }
}

/// The machine in words.
pub(crate) fn describe(spec: &Spec) -> String {
    let cpus = if spec.cpus == 1 { "1 CPU".to_string() } else { format!("{} CPUs", spec.cpus) };
    format!("QEMU with {}, {cpus}, {} MiB", spec.accel.name().to_uppercase(), spec.memory_mib)
}
