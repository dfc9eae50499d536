//! How a kernel accounts for CPU time.

use serde::{Deserialize, Serialize};

/// The choice "Cputime accounting" in `init/Kconfig`, with `CONFIG_IRQ_TIME_ACCOUNTING`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accounting {
    /// `CONFIG_TICK_CPU_ACCOUNTING`: a tick charges its whole period to what it interrupts. Interrupts and softirqs are part
    /// of the run time of the task that they interrupt.
    Tick,
    /// `CONFIG_IRQ_TIME_ACCOUNTING` as well: interrupts and softirqs are measured, and no task is charged for them.
    IrqTime,
    /// `CONFIG_VIRT_CPU_ACCOUNTING_GEN`: each change between user and kernel is measured where context tracking is on.
    /// Interrupts and softirqs are part of the time of the task.
    VirtualGeneric,
    /// The configuration of the kernel cannot be read.
    #[default]
    Unknown,
}

impl Accounting {
    /// What the text of a `.config` says.
    #[must_use]
    pub fn of(config: &str) -> Self {
        let is_set = |option: &str| config.lines().any(|line| line.strip_prefix(option) == Some("=y"));
        match () {
            () if is_set("CONFIG_IRQ_TIME_ACCOUNTING") => Self::IrqTime,
            () if is_set("CONFIG_VIRT_CPU_ACCOUNTING_GEN") => Self::VirtualGeneric,
            () if is_set("CONFIG_TICK_CPU_ACCOUNTING") => Self::Tick,
            () => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_decides() {
        let tick = "CONFIG_TICK_CPU_ACCOUNTING=y\n# CONFIG_VIRT_CPU_ACCOUNTING_GEN is not set\n";
        let both = "CONFIG_TICK_CPU_ACCOUNTING=y\nCONFIG_IRQ_TIME_ACCOUNTING=y\n";
        assert_eq!(Accounting::of(tick), Accounting::Tick);
        assert_eq!(Accounting::of(both), Accounting::IrqTime);
        assert_eq!(Accounting::of("CONFIG_VIRT_CPU_ACCOUNTING_GEN=y"), Accounting::VirtualGeneric);
        for unknown in ["", "CONFIG_TICK_CPU_ACCOUNTING=m", "CONFIG_TICK_CPU_ACCOUNTING_X=y"] {
            assert_eq!(Accounting::of(unknown), Accounting::Unknown, "{unknown}");
        }
    }
}
