//! From make's objects to an entry of the store.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::build::failure;
use crate::build::make::{Make, image_in};
use crate::context::Context;
use crate::error::Error;
use crate::kept::{self, ROOT};
use crate::kernel::Arch;
use crate::store::write_json;
use crate::tree;

/// How a Kernel was built, kept beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The source in words.
    pub source: String,
    /// What is equal here is the same source.
    pub source_identity: String,
    /// Base and fragments, as they were named.
    pub configurations: Vec<String>,
    /// Options that were asked for and not granted.
    pub unmet: Vec<String>,
    /// Compiler and linker.
    pub compiler: String,
    /// Variables that make was given.
    pub variables: Vec<String>,
    /// The day on which it was built, in UTC: `2026-11-20`.
    pub date: String,
    /// What it runs on.
    pub arch: Arch,
    /// Different warnings that the compiler and its relatives gave.
    pub warnings: usize,
}

/// The file of an entry with its record.
pub(crate) const RECORD: &str = "build.json";

impl Record {
    /// Architecture and configurations in a word: `x86_64 boot,debug`.
    pub(crate) fn flavour(&self) -> String {
        format!("{} {}", self.arch, self.configurations.join(",")).trim_end().to_owned()
    }
}

/// Puts all that is to be kept of a build into `entry`.
pub(crate) fn collect(
    make: &Make<'_>,
    entry: &Path,
    record: &mut Record,
    context: &mut Context<'_>,
) -> Result<(), Error> {
    context.progress("keeping the kernel");
    let root = entry.join(ROOT);
    let release = make.ask("kernelrelease", context)?;
    let boot = root.join("boot");
    fs::create_dir_all(&boot).map_err(Error::io("make", &boot))?;
    let objects = make.objects;
    copy(&image_in(objects, make.arch), &boot.join(format!("vmlinuz-{release}")))?;
    copy(&objects.join(".config"), &boot.join(format!("config-{release}")))?;
    copy(&objects.join("System.map"), &boot.join(format!("System.map-{release}")))?;
    if make.arch != Arch::Um {
        // UML's image is its vmlinux.
        copy(&objects.join("vmlinux"), &root.join("vmlinux"))?;
    }
    modules(make, &root, &release, context)?;
    let diagnostics = failure::diagnostics(make)?;
    record.warnings = diagnostics.warnings();
    write_json(&entry.join("diagnostics.json"), &diagnostics)?;
    write_json(&entry.join(RECORD), record)?;
    copy(make.log, &entry.join("build.log"))?;
    let parts = tree::installed_root(&root)?.ok_or_else(|| Error::NotATree { path: root.clone() })?;
    kept::describe(entry, &parts, record.source.clone(), context)
}

/// The modules, or, of a kernel without, the list of what is built in.
fn modules(make: &Make<'_>, root: &Path, release: &str, context: &mut Context<'_>) -> Result<(), Error> {
    let place = root.join("lib/modules").join(release);
    fs::create_dir_all(&place).map_err(Error::io("make", &place))?;
    if make.objects.join("modules.order").is_file() {
        let to = format!("INSTALL_MOD_PATH={}", root.display());
        // Debugging information would multiply what every machine must load.
        if !make.run(&["modules_install", &to, "INSTALL_MOD_STRIP=1", "DEPMOD=true"], context)? {
            return Err(failure::of(make));
        }
        // Links into work directories, which will hold something else.
        for link in ["build", "source"] {
            let _ = fs::remove_file(place.join(link));
        }
    }
    for list in ["modules.builtin", "modules.builtin.modinfo"] {
        let from = make.objects.join(list);
        if from.is_file() {
            copy(&from, &place.join(list))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    fs::copy(from, to).map(drop).map_err(Error::io("copy", from))
}
