//! A Kernel that stands in the store with all that belongs to it, so that a second use reads no image and
//! no module.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::arch::Arch;
use crate::context::Context;
use crate::error::Error;
use crate::kernel::{Kernel, read_config};
use crate::modules::Modules;
use crate::modules::index::Index;
use crate::modules::survey::{Layout, Survey};
use crate::store::{FORMAT, Shelf, Store, read_json, write_json};
use crate::tree::{self, Parts};

/// The folder of an entry that holds the kernel's files as they would lie below `/`.
pub const ROOT: &str = "root";
const MANIFEST: &str = "manifest.json";
const INDEX: &str = "modules.json";

/// What is known about the Kernel of an entry.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    pub(crate) provenance: String,
    pub(crate) arch: Arch,
    pub(crate) release: Option<String>,
    pub(crate) version_text: Option<String>,
    /// These paths are relative to the entry's root.
    image: PathBuf,
    image_size: u64,
    image_hash: String,
    modules: Option<PathBuf>,
    modules_hash: Option<String>,
    config: Option<PathBuf>,
    system_map: Option<PathBuf>,
}

/// Reads everything in an entry once and writes down what was found; false if there is no kernel below its root.
///
/// # Errors
///
/// When a file of it cannot be read or is damaged, and when the entry cannot be written.
pub fn describe(entry: &Path, provenance: String, context: &mut Context<'_>) -> Result<bool, Error> {
    let root = entry.join(ROOT);
    let Some(parts) = tree::installed_root(&root)?.or_else(|| tree::unpacked_uml(&root)) else {
        return Ok(false);
    };
    let manifest = manifest(entry, &parts, provenance, context)?;
    write_json(&entry.join(MANIFEST), &manifest)?;
    Ok(true)
}

fn manifest(
    entry: &Path,
    parts: &Parts,
    provenance: String,
    context: &mut Context<'_>,
) -> Result<Manifest, Error> {
    // The survey has real paths, and so must all that is made relative to the root.
    let root = entry.join(ROOT);
    let root = root.canonicalize().map_err(Error::io("find", &root))?;
    let inspected = tree::inspect(&parts.image)?;
    let relative = |path: &Path| -> Result<PathBuf, Error> {
        let path = path.canonicalize().map_err(Error::io("find", path))?;
        Ok(path.strip_prefix(&root).map(Path::to_owned).unwrap_or_default())
    };
    let mut modules_hash = None;
    if let Some((modules, _)) = &parts.modules {
        let survey = Survey::make(modules, Layout::Installed)?;
        context.progress(&format!("reading {} modules", survey.files.len()));
        let index = Index::build(&survey)?;
        write_json(&entry.join(INDEX), &index)?;
        modules_hash = Some(index.hash);
    }
    Ok(Manifest {
        format: FORMAT,
        provenance,
        arch: inspected.image.arch,
        release: inspected.image.release().or_else(|| parts.release.clone()),
        version_text: inspected.image.version,
        image: relative(&parts.image)?,
        image_size: inspected.size,
        image_hash: inspected.hash,
        modules: parts.modules.as_ref().map(|(modules, _)| relative(modules)).transpose()?,
        modules_hash,
        config: parts.config.as_deref().map(relative).transpose()?,
        system_map: parts.system_map.as_deref().map(relative).transpose()?,
    })
}

/// All entries of a shelf, by name, with what is known of each.
pub(crate) fn all(shelf: &Shelf) -> Vec<(String, Manifest)> {
    let known = |name: String| Some((read_json(&shelf.entry(&name).join(MANIFEST))?, name));
    shelf.names().filter_map(known).map(|(manifest, name)| (name, manifest)).collect()
}

/// The Kernel of an entry; nothing if a part is missing, so that it is made again.
pub fn open(entry: &Path, locator: &str) -> Option<Kernel> {
    // Taken before anything is read, so that all of it stays.
    let lease = match Store::lease(entry) {
        Ok(lease) => Some(Arc::new(lease)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        // Some file systems cannot lock; nothing is ever pruned from those.
        Err(_) => None,
    };
    let manifest: Manifest = read_json(&entry.join(MANIFEST))?;
    let root = entry.canonicalize().ok()?.join(ROOT);
    let image = root.join(&manifest.image);
    let size = image.metadata().ok()?.len();
    if manifest.format != FORMAT || size != manifest.image_size {
        return None;
    }
    let modules = match &manifest.modules {
        Some(path) => {
            let index: Index = read_json(&entry.join(INDEX))?;
            let is_whole = root.join(path).is_dir() && manifest.modules_hash.as_ref() == Some(&index.hash);
            is_whole.then(|| Modules::new(root.join(path), index))?
        }
        None => Modules::unknown(),
    };
    let config = manifest.config.as_ref().map(|path| read_config(&root.join(path)));
    Some(Kernel {
        locator: locator.to_owned(),
        image,
        image_hash: manifest.image_hash,
        release: manifest.release,
        version_text: manifest.version_text,
        arch: manifest.arch,
        modules,
        config: config.transpose().ok()?,
        system_map: manifest.system_map.map(|path| root.join(path)),
        provenance: manifest.provenance,
        warnings: None,
        commit: None,
        lease,
    })
}
