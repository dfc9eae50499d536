//! What each stressor is.

use serde::{Deserialize, Serialize};

use super::{Domain, Instance};
use crate::Need;

/// The argument with which `stress` writes its catalogue, in JSON, and ends.
pub const ARGUMENT: &str = "--catalogue";

/// All stressors, by name in alphabetical order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Catalogue {
    /// What there is.
    pub stressors: Vec<Stressor>,
}

/// A stressor as its author describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Stressor {
    /// By which it is asked for.
    pub name: String,
    /// What it belongs to, the main one first.
    pub classes: Vec<Class>,
    /// What it exercises, in one line.
    pub about: String,
    /// What one bogo operation is, in one line.
    pub operation: String,
    /// What it verifies, in one line.
    pub verifies: String,
    /// What can be set.
    pub options: Vec<StressorOption>,
    /// Figures of its own that it reports.
    pub rates: Vec<RateName>,
    /// Without these it is skipped.
    pub needs: Vec<Need<String>>,
}

/// An option of a stressor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StressorOption {
    /// Without the name of the stressor.
    pub name: String,
    /// What it sets, in one line.
    pub about: String,
    /// Which values it takes.
    pub domain: Domain,
}

/// A figure that a stressor reports beside its operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RateName {
    /// What it is of.
    pub name: String,
    /// Its unit, such as `MB/s`.
    pub unit: String,
}

/// A part of the machine or of the kernel that a stressor loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Computes.
    Cpu,
    /// Computes on data that fits into caches, or just not.
    CpuCache,
    /// Reads and writes memory.
    Memory,
    /// Mappings, faults and reclaim.
    Vm,
    /// Names, inodes, locks and attributes of files.
    Filesystem,
    /// Reads and writes files.
    Io,
    /// Sockets and interfaces.
    Network,
    /// Makes the scheduler choose.
    Scheduler,
    /// Signals, timers and other interrupts of a process.
    Interrupt,
    /// Between processes.
    Ipc,
    /// Other system calls.
    Os,
    /// Keys, cryptography, privileges.
    Security,
    /// Device nodes.
    Device,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Cpu,
        Self::CpuCache,
        Self::Memory,
        Self::Vm,
        Self::Filesystem,
        Self::Io,
        Self::Network,
        Self::Scheduler,
        Self::Interrupt,
        Self::Ipc,
        Self::Os,
        Self::Security,
        Self::Device,
    ];

    /// Its name, as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::CpuCache => "cpu-cache",
            Self::Memory => "memory",
            Self::Vm => "vm",
            Self::Filesystem => "filesystem",
            Self::Io => "io",
            Self::Network => "network",
            Self::Scheduler => "scheduler",
            Self::Interrupt => "interrupt",
            Self::Ipc => "ipc",
            Self::Os => "os",
            Self::Security => "security",
            Self::Device => "device",
        }
    }
}

impl Catalogue {
    /// The stressor called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Stressor> {
        self.stressors.iter().find(|stressor| stressor.name == name)
    }

    /// All stressors of a class.
    pub fn of(&self, class: Class) -> impl Iterator<Item = &Stressor> {
        self.stressors.iter().filter(move |stressor| stressor.classes.contains(&class))
    }
}

impl Stressor {
    /// The option called `name`.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&StressorOption> {
        self.options.iter().find(|option| option.name == name)
    }

    /// Whether the options of `instance` are options of this stressor with values that they take, on a machine with this
    /// much `memory` in bytes.
    ///
    /// # Errors
    ///
    /// Which one is wrong, and what is allowed.
    pub fn check(&self, instance: &Instance, memory: u64) -> Result<(), String> {
        for (name, text) in &instance.options {
            let Some(option) = self.option(name) else {
                let names: Vec<&str> = self.options.iter().map(|option| option.name.as_str()).collect();
                let there_are = if names.is_empty() { "none".to_string() } else { names.join(", ") };
                return Err(format!("{} has no option {name:?}; it has {there_are}", self.name));
            };
            option.domain.parse(text, memory).map_err(|why| format!("{}: {name}: {why}", self.name))?;
        }
        Ok(())
    }
}
