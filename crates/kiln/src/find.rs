//! From a locator on the command line to a Kernel.

use std::sync::atomic::AtomicBool;

use kbuild::{Recipe, SourceTree};
use kernel::{Arch, Context, Kernel, Locator, Store};

use crate::cli::{ArchName, BuildOptions};
use crate::terminal::Progress;

/// Finds the kernel that `locator` names, and builds it first if it is source; what takes long is told on a
/// terminal.
pub(crate) fn find(
    locator: &Locator,
    said: &BuildOptions,
    interrupt: &AtomicBool,
) -> Result<Kernel, kbuild::Error> {
    let mut progress = Progress::new();
    find_telling(locator, &said.recipe(), interrupt, &mut |text| progress.show(text))
}

/// As [`find`]; what takes long is told to `listener`.
pub(crate) fn find_telling(
    locator: &Locator,
    recipe: &Recipe,
    interrupt: &AtomicBool,
    listener: &mut dyn FnMut(&str),
) -> Result<Kernel, kbuild::Error> {
    let store = Store::new(Store::default_dir());
    let mut context = Context { store: &store, listener, interrupt };
    match is_built(locator, &recipe.configurations) {
        true => kbuild::build(locator, recipe, &mut context),
        false => Ok(kernel::resolve(locator, &mut context)?),
    }
}

/// Whether kiln builds what the locator names.
fn is_built(locator: &Locator, configurations: &[String]) -> bool {
    locator.is_source() || !configurations.is_empty()
}

/// The source of a kernel that kiln builds.
pub(crate) fn source_tree(
    locator: &Locator,
    said: &BuildOptions,
    interrupt: &AtomicBool,
) -> Result<Option<SourceTree>, kbuild::Error> {
    let tree = || in_context(interrupt, |context| kbuild::source_tree(locator, &said.recipe(), context));
    is_built(locator, &said.config).then(tree).transpose()
}

/// Builds what `locator` names.
pub(crate) fn build(
    locator: &Locator,
    said: &BuildOptions,
    interrupt: &AtomicBool,
) -> Result<Kernel, kbuild::Error> {
    let recipe = said.recipe();
    in_context(interrupt, |context| kbuild::build(locator, &recipe, context))
}

/// Does what needs a store, an ear and a patience: takes long, is told on a terminal, and can be interrupted.
pub(crate) fn in_context<T>(interrupt: &AtomicBool, work: impl FnOnce(&mut Context<'_>) -> T) -> T {
    let mut progress = Progress::new();
    let store = Store::new(Store::default_dir());
    let mut listener = |text: &str| progress.show(text);
    work(&mut Context { store: &store, listener: &mut listener, interrupt })
}

impl BuildOptions {
    pub(crate) fn recipe(&self) -> Recipe {
        Recipe {
            configurations: self.config.clone(),
            arch: match self.arch {
                None | Some(ArchName::X86_64) => Arch::X86_64,
                Some(ArchName::Um) => Arch::Um,
            },
            allow_unmet: self.allow_unmet,
            variables: self.make.clone(),
        }
    }
}
