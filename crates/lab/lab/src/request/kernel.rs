//! A Kernel, and how it is built if it is source.

use kbuild::Recipe;
use kernel::{Arch, Locator};
use serde::{Deserialize, Serialize};

/// What source is built to run on, unless something else is said.
const DEFAULT_ARCH: Arch = Arch::X86_64;

/// A Kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelRequest {
    /// Its name.
    #[serde(with = "as_text")]
    pub locator: Locator,
    /// How it is built.
    #[serde(default)]
    pub build: BuildOptions,
}

/// How source becomes a Kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BuildOptions {
    /// Configurations, in the order in which they apply; none for the default.
    pub configurations: Vec<String>,
    /// What it is built to run on, if that was said.
    pub arch: Option<Arch>,
    /// Build also when Kconfig does not grant an option.
    pub allow_unmet: bool,
    /// Variables for make.
    pub variables: Vec<String>,
}

impl KernelRequest {
    /// A Kernel that is not built.
    #[must_use]
    pub fn named(locator: Locator) -> Self {
        Self { locator, build: BuildOptions::default() }
    }

    /// Whether kiln builds it.
    #[must_use]
    pub fn is_built(&self) -> bool {
        self.locator.is_source() || !self.build.configurations.is_empty()
    }

    /// The very Kernel that this was: what was built is kept, and `exact` names it by its identity.
    pub(crate) fn again(&self, exact: Locator) -> Self {
        let build = BuildOptions { configurations: Vec::new(), variables: Vec::new(), ..self.build.clone() };
        Self { locator: exact, build }
    }
}

impl BuildOptions {
    /// The same, as it is built.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        Recipe {
            configurations: self.configurations.clone(),
            arch: self.arch.unwrap_or(DEFAULT_ARCH),
            allow_unmet: self.allow_unmet,
            variables: self.variables.clone(),
        }
    }
}

impl From<Recipe> for BuildOptions {
    fn from(recipe: Recipe) -> Self {
        let Recipe { configurations, arch, allow_unmet, variables } = recipe;
        let arch = (arch != DEFAULT_ARCH).then_some(arch);
        Self { configurations, arch, allow_unmet, variables }
    }
}

/// A locator as the text that a user types.
pub mod as_text {
    use kernel::Locator;
    use serde::{Deserialize, Deserializer, Serializer, de};

    /// Writes it.
    ///
    /// # Errors
    ///
    /// When the serializer fails.
    pub fn serialize<S: Serializer>(locator: &Locator, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(locator)
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// When it is no locator.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Locator, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
