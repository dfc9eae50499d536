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

/// Whether a build can make it: a path may lead to a tree.
#[must_use]
pub fn may_be_built(locator: &Locator) -> bool {
    locator.is_source() || locator.path().is_some()
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

    /// A Kernel that is built like this if it may be source.
    #[must_use]
    pub fn of(locator: Locator, build: &BuildOptions) -> Self {
        let build = if may_be_built(&locator) { build.clone() } else { BuildOptions::default() };
        Self { locator, build }
    }

    /// Whether kiln builds it.
    #[must_use]
    pub fn is_built(&self) -> bool {
        self.locator.is_source() || !self.build.configurations.is_empty()
    }

    /// What was said about the build of something that is not built, if it is so.
    pub(crate) fn idle_option(&self) -> Option<&'static str> {
        self.build.first().filter(|_| !self.is_built())
    }
}

impl BuildOptions {
    /// The first option of the command line that was said, if one was.
    #[must_use]
    pub fn first(&self) -> Option<&'static str> {
        let said = [
            (!self.configurations.is_empty(), "--config"),
            (self.arch.is_some(), "--arch"),
            (self.allow_unmet, "--allow-unmet"),
            (!self.variables.is_empty(), "--make"),
        ];
        said.into_iter().find_map(|(said, option)| said.then_some(option))
    }

    /// What is built of a source, in one line: `boot,debug x86_64 LLVM=1`.
    #[must_use]
    pub fn name(&self) -> String {
        let recipe = self.recipe();
        let words = [recipe.named(), recipe.arch.to_string()];
        words.into_iter().chain(recipe.variables).collect::<Vec<_>>().join(" ")
    }

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
