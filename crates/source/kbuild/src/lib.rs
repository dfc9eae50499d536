//! From source to a Kernel: `make`, out of tree, once for each source, configuration and compiler.
//!
//! [`Recipe`] is what the user says; `recipe` makes a base and fragments of it, `source` finds what is to
//! be built, `toolchain` by what and `installed` where that is. `configure` asks Kconfig, unless `earlier` says that it would give the same, `make` builds in a `work` directory, `collect`
//! puts the result into the store under its identity, with what was `printed`; `recompile` has a part of it printed again.
//! `analysis` asks static analysers about files. `sandbox` reports builds without one. `diagnostics` reads what compilers print. `difference` finds
//! what two configurations differ in.

pub mod analysis;
mod collect;
mod configure;
pub mod diagnostics;
mod difference;
mod earlier;
mod error;
mod failure;
mod installed;
#[cfg(test)]
mod made_up;
mod make;
mod printed;
mod progress;
mod recipe;
mod recompile;
mod request;
mod sandbox;
mod source;
mod toolchain;
mod warnings;
mod work;

pub use difference::{Difference, Setting, difference};
pub use error::Error;
pub use installed::directories_of;
pub use printed::{Printed, printed};
pub use recipe::Recipe;
pub use recompile::recompile;
pub use request::{SourceTree, build, source_tree};
pub use sandbox::note_missing_sandbox;
