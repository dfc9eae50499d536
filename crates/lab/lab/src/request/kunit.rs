//! The tests that a kernel runs while it boots.

use kernel::{Arch, Locator};
use serde::{Deserialize, Serialize};

use super::{KernelRequest, MachineRequest, Version};

/// The kernel's own unit tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KunitRequest {
    /// Its version.
    pub version: Version<1>,
    /// The Kernel, or its source.
    pub kernel: KernelRequest,
    /// Only suites whose names match one of these; all without patterns.
    pub suites: Vec<String>,
    /// The machine.
    #[serde(default)]
    pub machine: MachineRequest,
}

impl KunitRequest {
    /// The Kernel: source is built as User-Mode Linux and with KUnit, unless something else was said.
    #[must_use]
    pub fn building(&self) -> KernelRequest {
        let KernelRequest { locator, build } = &self.kernel;
        let is_tree = || locator.path().is_some_and(|path| path.join("Kconfig").is_file());
        let mut build = build.clone();
        if locator.is_source() || is_tree() {
            if build.configurations.is_empty() {
                build.configurations.push("kunit".to_owned());
            }
            build.arch.get_or_insert(Arch::Um);
        }
        KernelRequest { locator: locator.clone(), build }
    }

    /// The same tests on the very same Kernel: they run in one boot, so all of them run again.
    pub(crate) fn again(&self, exact: Locator) -> Self {
        Self { kernel: KernelRequest::named(exact), ..self.clone() }
    }

    /// The kernel can leave out what does not match one pattern; of several it runs all.
    pub(crate) fn filter(&self) -> String {
        match self.suites.as_slice() {
            [suite] => format!("kunit.filter_glob={suite}"),
            _ => String::new(),
        }
    }
}
