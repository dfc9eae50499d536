//! The analysers.

use std::path::{Path, PathBuf};

use kernel::Context;
use serde::{Deserialize, Serialize};

use crate::toolchain::version;

/// A static analyser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// sparse: Documentation/dev-tools/sparse.rst.
    Sparse,
    /// The analyser of gcc: `-fanalyzer` of gcc(1).
    Gcc,
    /// The analyser of clang: `--analyze`.
    Clang,
    /// cppcheck(1).
    Cppcheck,
    /// The semantic patches of the tree, in their mode `report`: Documentation/dev-tools/coccinelle.rst.
    Coccinelle,
    /// The tree's own check of comments: Documentation/doc-guide/kernel-doc.rst.
    KernelDoc,
    /// The tree's own check of patches: Documentation/dev-tools/checkpatch.rst.
    Checkpatch,
}

/// Where a tree has its check of comments.
const KERNEL_DOC: [&str; 2] = ["scripts/kernel-doc", "tools/docs/kernel-doc"];

/// Where a tree has its check of patches.
pub(super) const CHECKPATCH: &str = "scripts/checkpatch.pl";

/// Where a tree has its semantic patches.
pub(super) const SEMANTIC_PATCHES: &str = "scripts/coccinelle";

impl Tool {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Sparse,
        Self::Gcc,
        Self::Clang,
        Self::Cppcheck,
        Self::Coccinelle,
        Self::KernelDoc,
        Self::Checkpatch,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sparse => "sparse",
            Self::Gcc => "gcc",
            Self::Clang => "clang",
            Self::Cppcheck => "cppcheck",
            Self::Coccinelle => "coccinelle",
            Self::KernelDoc => "kernel-doc",
            Self::Checkpatch => "checkpatch",
        }
    }

    /// The package of Debian that has it.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::KernelDoc | Self::Checkpatch => "perl",
            _ => self.name(),
        }
    }

    /// The program that this host must have.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Self::Coccinelle => "spatch",
            _ => self.package(),
        }
    }

    /// Whether it reads what a compiler reads, and not files by themselves.
    pub(super) fn reads_objects(self) -> bool {
        matches!(self, Self::Sparse | Self::Gcc | Self::Clang)
    }

    /// Whether this host has its program.
    #[must_use]
    pub fn is_on_host(self) -> bool {
        let is_there = |program| host::find_program(program).is_some();
        is_there(self.program()) || (self == Self::KernelDoc && is_there("python3"))
    }

    /// Whether it can be called for a tree that `compiler` compiles.
    pub(super) fn is_installed(self, tree: &Path, compiler: &str) -> bool {
        let is_in_tree = match self {
            Self::KernelDoc => kernel_doc(tree).is_some(),
            Self::Checkpatch => tree.join(CHECKPATCH).is_file(),
            Self::Coccinelle => tree.join(SEMANTIC_PATCHES).is_dir(),
            _ => true,
        };
        is_in_tree && (self.is_on_host() || self.compiler(compiler).is_some())
    }

    /// The compiler of the tree, if it is this analyser.
    pub(super) fn compiler(self, compiler: &str) -> Option<&str> {
        let is_it = match self {
            Self::Gcc => is_gcc(compiler),
            Self::Clang => !is_gcc(compiler),
            _ => false,
        };
        is_it.then_some(compiler)
    }

    /// What it says of its version; of the tree's own scripts nothing.
    pub(super) fn version(self, compiler: &str, context: &mut Context<'_>) -> String {
        if matches!(self, Self::KernelDoc | Self::Checkpatch) {
            return String::new();
        }
        let program = self.compiler(compiler).unwrap_or(self.program());
        version(program, context).unwrap_or_default()
    }
}

/// Whether a compiler is gcc.
fn is_gcc(compiler: &str) -> bool {
    compiler.rsplit('/').next().is_some_and(|name| name.contains("gcc"))
}

/// The tree's script that checks comments.
pub(super) fn kernel_doc(tree: &Path) -> Option<PathBuf> {
    KERNEL_DOC.iter().map(|name| tree.join(name)).find(|script| script.is_file())
}
