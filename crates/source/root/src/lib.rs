//! From what a user typed to a Root: the user space that a guest gets beside the agent.
//!
//! * [`RootLocator`]: the text that names it
//! * [`Root`]: what a machine gets
//! * [`mod@debian`]: packages become an image, once
//! * [`mod@directory`]: so does a directory of the user's
//! * [`filesystem`]: what an image holds; [`image`]: how images are made; [`kept`]: those in the store
//! * [`host_files`]: this host's own files

mod debian;
mod directory;
mod error;
mod filesystem;
mod host_files;
mod image;
mod kept;
mod locator;
mod resolve;

pub use debian::MMDEBSTRAP;
pub use error::Error;
pub use filesystem::Filesystem;
pub use host_files::HostFiles;
pub use image::{Image, MKFS, Medium};
pub use locator::RootLocator;
pub use resolve::resolve;

/// A user space for machines.
#[derive(Debug, Clone)]
pub struct Root {
    /// The text that named it.
    pub locator: String,
    /// One line for people that says what it is.
    pub provenance: String,
    /// What is equal here is the same to a machine that boots; what is in this host's own files may change all the time.
    pub identity: String,
    /// Where its files are.
    pub files: Files,
}

/// Where the files of a root are.
#[derive(Debug, Clone)]
pub enum Files {
    /// In an image.
    Image(Image),
    /// On this host: machines see them as they are at that time.
    Host(HostFiles),
}

impl Root {
    /// The same for a machine that measures: its image is memory, since a disk answers when the host does.
    ///
    /// # Errors
    ///
    /// When it has no image, or one that cannot become memory.
    pub fn in_memory(self) -> Result<Self, Error> {
        let files = match self.files {
            Files::Image(image) => Files::Image(image.in_memory()?),
            Files::Host(_) => return Err(Error::HostFiles { locator: self.locator }),
        };
        Ok(Self { files, ..self })
    }

    /// Its image, if it has one.
    #[must_use]
    pub fn image(&self) -> Option<&Image> {
        match &self.files {
            Files::Image(image) => Some(image),
            Files::Host(_) => None,
        }
    }
}
