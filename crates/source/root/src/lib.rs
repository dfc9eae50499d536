//! From what a user typed to a Root: the user space that a guest gets beside the agent.
//!
//! * [`RootLocator`]: the text that names it
//! * [`Root`]: what a machine gets
//! * [`mod@debian`]: packages become an image, once
//! * [`mod@directory`]: so does a directory of the user's
//! * [`filesystem`]: what an image holds; [`image`]: how images are made; [`kept`]: those in the store

mod debian;
mod directory;
mod error;
mod filesystem;
mod image;
mod kept;
mod locator;
mod resolve;

use std::path::PathBuf;
use std::sync::Arc;

use kernel::Lease;

pub use debian::MMDEBSTRAP;
pub use error::Error;
pub use filesystem::Filesystem;
pub use image::MKFS;
pub use locator::RootLocator;
pub use resolve::resolve;

/// A user space for machines.
#[derive(Debug, Clone)]
pub struct Root {
    /// The text that named it.
    pub locator: String,
    /// One line for people that says what it is.
    pub provenance: String,
    /// What is equal here behaves equally.
    pub identity: String,
    /// Its image, which machines read as a disk.
    pub image: PathBuf,
    /// What the image holds.
    pub filesystem: Filesystem,
    /// Keeps it in the store, if it is from there.
    pub lease: Option<Arc<Lease>>,
}
