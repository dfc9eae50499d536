//! Builds in the store: opened by their identity, with the record of how each was built.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::arch::Arch;
use crate::context::Context;
use crate::entry;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::store::{read_json, write_json};

/// Digits of an identity that are shown; six suffice to name a build.
const SHOWN: usize = 12;

/// The file of an entry with its record.
const RECORD: &str = "build.json";

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
    /// Different warnings about all that it was compiled from, also by earlier builds; earlier versions do not say it.
    #[serde(default)]
    pub all_warnings: Option<u64>,
}

impl Record {
    /// The record of a build's entry, if it has one.
    pub fn read(entry: &Path) -> Option<Self> {
        read_json(&entry.join(RECORD))
    }

    /// Writes the record into an entry.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write(&self, entry: &Path) -> Result<(), Error> {
        write_json(&entry.join(RECORD), self)
    }

    /// Architecture and configurations in a word: `x86_64 boot,debug`.
    pub(crate) fn flavour(&self) -> String {
        format!("{} {}", self.arch, self.configurations.join(",")).trim_end().to_owned()
    }
}

/// The locator of a build.
pub(crate) fn locator(identity: &str) -> String {
    format!("built:{}", identity.get(..SHOWN).unwrap_or(identity))
}

/// The Kernel of a build by its whole identity; nothing if it is not there, or not whole.
pub fn open(identity: &str, context: &Context<'_>) -> Option<Kernel> {
    let entry = context.store.builds().entry(identity);
    let kernel = entry::open(&entry, &locator(identity))?;
    Some(Kernel { warnings: Record::read(&entry).and_then(|record| record.all_warnings), ..kernel })
}

/// The Kernel of a build, by the beginning of its identity.
pub(crate) fn find(beginning: &str, context: &Context<'_>) -> Result<Kernel, Error> {
    let identity = identity(beginning, context)?;
    open(&identity, context).ok_or(Error::NoSuchBuild { identity })
}

/// The entry of a Kernel that was built, with its record and all else that the build left; nothing for other Kernels.
pub fn entry_of(kernel: &Kernel, context: &Context<'_>) -> Option<PathBuf> {
    let beginning = kernel.locator.strip_prefix("built:")?;
    Some(context.store.builds().entry(&identity(beginning, context).ok()?))
}

fn identity(beginning: &str, context: &Context<'_>) -> Result<String, Error> {
    let mut all: Vec<String> =
        context.store.builds().names().filter(|name| name.starts_with(beginning)).collect();
    match (all.pop(), all.len()) {
        (Some(identity), 0) => Ok(identity),
        (Some(_), others) => Err(Error::AmbiguousBuild { identity: beginning.to_owned(), count: others + 1 }),
        (None, _) => Err(Error::NoSuchBuild { identity: beginning.to_owned() }),
    }
}
