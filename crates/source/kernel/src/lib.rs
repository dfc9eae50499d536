//! A locator becomes a Kernel: packages, images and trees.
//!
//! [`Locator`] is what the user typed, [`resolve`] finds or fetches what it names, [`Kernel`] is the image with
//! all that belongs to it. The parsers (`image`, `elf`, `modinfo`, `lists`, `config`, `version`) take
//! bytes and do no I/O; `tree`, `survey` and `index` look at disks; `deb`, `apt` and `store` fetch; [`catalogue`]
//! lists what can be named. [`build`] makes kernels of source, [`history`] finds and makes the commits of source
//! between two kernels; both use `git`.

mod apt;
pub mod build;
mod bytes;
pub mod catalogue;
mod closure;
mod config;
mod context;
mod deb;
mod decompress;
mod elf;
mod error;
mod files;
#[cfg(test)]
mod fixture;
mod flaw;
mod git;
pub mod history;
mod image;
mod index;
mod kconfig;
mod kept;
mod kernel;
mod lists;
mod locator;
mod meanings;
mod modinfo;
mod modules;
mod store;
mod survey;
pub mod symbols;
mod tree;
pub mod version;

pub use build::{BuildError, Recipe, Record};
pub use config::Config;
pub use context::Context;
pub use error::Error;
pub use files::PartsHash;
pub use flaw::Flaw;
pub use history::HistoryError;
pub use kernel::{Arch, Kernel, resolve};
pub use locator::Locator;
pub use modules::{Module, Modules, Presence};
pub use store::{Entry as StoreEntry, Lease, Lock, Pruned, Shelf, Store};
pub use symbols::Symbols;
