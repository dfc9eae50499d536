//! The Kernel: an image with what belongs to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kconfig::Config;
use serde::{Deserialize, Serialize};

use crate::arch::Arch;
use crate::decompress::decompress;
use crate::error::Error;
use crate::files::{self, PartsHash};
use crate::modules::Modules;
use crate::store::Lease;

/// An image with what belongs to it.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// The text that named it.
    pub locator: String,
    /// What QEMU gets with `-kernel`, or the program that is User-Mode Linux.
    pub image: PathBuf,
    /// SHA-256 of the image, in hexadecimal.
    pub image_hash: String,
    /// Such as `6.1.0-56-cloud-amd64`.
    pub release: Option<String>,
    /// The whole version text of the image.
    pub version_text: Option<String>,
    /// The architecture it is for.
    pub arch: Arch,
    /// Its modules, as far as they are known.
    pub modules: Modules,
    /// The configuration it was built with.
    pub config: Option<Config>,
    /// Where its symbols stand.
    pub system_map: Option<PathBuf>,
    /// One line for people that says where it is from.
    pub provenance: String,
    /// Different warnings about all that it was compiled from, where kiln built it.
    pub warnings: Option<u64>,
    /// The commit that it was built from, where that is known.
    pub commit: Option<Commit>,
    /// Keeps it in the store, if it is from there.
    pub lease: Option<Arc<Lease>>,
}

/// A commit of a tree of the user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Commit {
    /// The tree, by its absolute path.
    pub tree: PathBuf,
    /// The full hash.
    pub hash: String,
}

/// How large a Kernel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Bytes of its image, compressed as it is.
    pub image: u64,
    /// Its modules, if they are known; those that are part of the image do not count.
    pub modules: Option<u64>,
}

impl Kernel {
    /// The text that names this very kernel also later, when `latest` and `HEAD` mean others: a build by its
    /// identity, a package by its release, an image by its absolute path.
    pub fn exact_locator(&self) -> String {
        match (self.locator.split_once(':'), &self.release) {
            (Some(("deb", _)), Some(release)) => format!("deb:{release}"),
            (Some(("deb" | "built" | "uml", _)), _) => self.locator.clone(),
            // Where its files are differs from distribution to distribution.
            _ if self.locator == "host" => self.locator.clone(),
            _ => {
                std::path::absolute(&self.image).unwrap_or_else(|_| self.image.clone()).display().to_string()
            }
        }
    }

    /// How large it is; nothing if its image is gone.
    pub fn size(&self) -> Option<Size> {
        let image = self.image.metadata().ok()?.len();
        Some(Size { image, modules: self.modules.count() })
    }

    /// SHA-256 over image, modules, configuration and parameters: what is equal here behaves equally.
    pub fn identity(&self, parameters: &str) -> String {
        let mut hash = PartsHash::default();
        hash.part(&self.image_hash);
        hash.part(self.modules.hash());
        hash.part(if self.config.is_some() { "configuration" } else { "no configuration" });
        for (name, value) in self.config.iter().flat_map(Config::options) {
            hash.part(name);
            hash.part(value);
        }
        hash.part("parameters");
        hash.part(parameters);
        hash.finish()
    }
}

pub(crate) fn read_config(path: &Path) -> Result<Config, Error> {
    let content = files::read(path, files::CONFIG)?;
    // The package of User-Mode Linux has it among its documents, compressed as they all are.
    let content = decompress(content, files::CONFIG.bytes)
        .map_err(|why| Error::Unreadable { path: path.to_owned(), source: std::io::Error::other(why) })?;
    Ok(Config::parse(&String::from_utf8_lossy(&content)))
}
