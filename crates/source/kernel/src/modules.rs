//! A kernel's modules: which are there, and in which order they load.
//!
//! `survey` finds the files of a tree, [`lists`] and [`modinfo`] read them, `index` keeps the result, `closure` computes
//! the order in which modules load.

mod closure;
pub(crate) mod index;
pub mod lists;
pub mod modinfo;
pub(crate) mod survey;

use std::path::PathBuf;

use crate::decompress::decompress;
use crate::error::Error;
use crate::files;
use index::{Entry, Found, Index};

/// The index of a module tree, or the admission that nothing is known.
#[derive(Debug, Clone, Default)]
pub struct Modules {
    tree: Option<Tree>,
}

#[derive(Debug, Clone)]
struct Tree {
    root: PathBuf,
    index: Index,
}

/// How a kernel has a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is part of the image.
    BuiltIn,
    /// It is a file that can be loaded.
    Loadable,
    /// The kernel lacks it.
    Absent,
    /// Nothing is known about it.
    Unknown,
}

/// A file to load into the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name, with `_` and never `-`.
    pub name: String,
    /// The file, which may be compressed.
    pub path: PathBuf,
}

impl Module {
    /// The module as the kernel takes it, decompressed.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        let content = files::read(&self.path, files::MODULE)?;
        decompress(content, files::MODULE.bytes)
            .map_err(|reason| Error::DamagedModule { path: self.path.clone(), reason })
    }
}

impl Modules {
    /// The modules of a kernel of which only the image is known.
    pub fn unknown() -> Self {
        Self::default()
    }

    pub(crate) fn new(root: PathBuf, index: Index) -> Self {
        Self { tree: Some(Tree { root, index }) }
    }

    /// How many can be loaded; nothing where only the image is known.
    pub(crate) fn count(&self) -> Option<u64> {
        self.tree.as_ref().and_then(|tree| u64::try_from(tree.index.entries.len()).ok())
    }

    /// How the kernel has a module, by its name or a plain alias such as `crypto-crc32c`.
    pub fn presence(&self, name: &str) -> Presence {
        let Some(tree) = &self.tree else { return Presence::Unknown };
        match tree.index.find(name) {
            Found::BuiltIn => Presence::BuiltIn,
            Found::Loadable(..) => Presence::Loadable,
            // Without the list of what is built in, what has no file may still be in the image.
            Found::Nothing if tree.index.built_in.is_none() => Presence::Unknown,
            Found::Nothing => Presence::Absent,
        }
    }

    /// The files to load for these modules, each once and after what it needs; those built in are left out.
    pub fn closure(&self, names: &[&str]) -> Result<Vec<Module>, Error> {
        let Some(tree) = &self.tree else {
            let unknown = |name: &&str| Err(Error::ModulesUnknown { name: (*name).to_owned() });
            return names.first().map_or(Ok(Vec::new()), unknown);
        };
        let order = closure::order(&tree.index, names)?;
        order.into_iter().map(|(name, entry)| tree.module(name, entry)).collect()
    }

    /// The list of modules that are part of the image, as in `modules.builtin`: kbuild.rst of the kernel. Nothing where it
    /// is not known.
    pub fn built_in_list(&self) -> Option<String> {
        let names = self.tree.as_ref()?.index.built_in.as_ref()?;
        Some(names.iter().map(|name| format!("kernel/{name}.ko\n")).collect())
    }

    /// Over the paths and contents of all modules.
    pub(crate) fn hash(&self) -> &str {
        self.tree.as_ref().map_or("unknown", |tree| &tree.index.hash)
    }
}

impl Tree {
    fn module(&self, name: &str, entry: &Entry) -> Result<Module, Error> {
        let path = self.root.join(&entry.path);
        match &entry.damage {
            Some(reason) => Err(Error::DamagedModule { path, reason: reason.clone() }),
            None => Ok(Module { name: name.to_owned(), path }),
        }
    }
}

#[cfg(test)]
mod tests;
