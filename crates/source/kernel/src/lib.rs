//! A locator becomes a Kernel: packages, images and trees.
//!
//! [`Locator`] is what the user typed, [`resolve()`] finds or fetches what it names, [`Kernel`] is the image with
//! all that belongs to it. The parsers ([`image`], `elf`, [`version`]) take bytes and do no I/O;
//! `tree` and [`modules`] look at disks; [`deb`], [`apt`] and [`store`] fetch; [`builds`] opens what was built;
//! [`catalogue`] lists what can be named; `belongings` are what is handed on with an image.

pub mod apt;
mod arch;
mod belongings;
pub mod builds;
pub mod bytes;
mod caller;
pub mod catalogue;
mod context;
pub mod deb;
mod decompress;
mod elf;
pub mod entry;
mod error;
pub mod files;
pub mod image;
mod kernel;
mod locator;
pub mod modules;
pub mod name_cache;
mod prune;
mod resolve;
pub mod store;
pub mod symbols;
mod tree;
pub mod version;

pub use arch::Arch;
pub use belongings::Belongings;
pub use builds::Record;
pub use caller::{Caller, News};
pub use context::Context;
pub use error::Error;
pub use files::PartsHash;
pub use image::ImageError;
pub use kconfig::Config;
pub use kernel::{Commit, Kernel, Size};
pub use locator::{Locator, is_package_name};
pub use modules::{Module, Modules, Presence};
pub use prune::{Entry as StoreEntry, Pruned, Usage};
pub use resolve::{resolve, update};
pub use store::{Lease, Lock, Shelf, Store};
pub use symbols::Symbols;
