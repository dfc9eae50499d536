//! A Run as a folder of files that reproduces it where there is QEMU and a POSIX shell, and nothing else; an experiment as one
//! that kiln runs again.
//!
//! * [`files`]: the folder
//! * [`experiment`]: that of an experiment
//! * [`devices`]: what is behind the devices of its machine
//! * `run.sh`: boots, waits, and calls the judge
//!
//! The judge is a static program with the rules by which kiln judges: [`judge::standalone`].

mod devices;
pub mod experiment;
mod script;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use console::printable;
use kernel::Kernel;
use machine::qemu::files::{IMAGE, INITRAMFS, ROOT};
use machine::{Engine, Spec};
use protocol::{RunRequest, waiting};
use root::Root;
use thiserror::Error;

use crate::event::Session;
use crate::observe::{self, Asked};
use crate::plan::Item;
use judge::Run;

const README: &str = include_str!("bundle/README.txt");

/// How much longer everything may take than on the bare, idle host: there nobody looks whether KVM is to be had
/// and how busy the host is.
const SLOWNESS: u32 = 8;

/// Bytes in a bundle at most: it is put together in memory.
const LIMIT: u64 = 1 << 30;

/// A Run that cannot be handed over.
#[derive(Debug, Error)]
pub enum Error {
    /// User-Mode Linux is no kernel for QEMU.
    #[error(
        "a Run under UML cannot be bundled: its kernel is a program of the host, and QEMU cannot boot it"
    )]
    Uml,
    /// The files of a host are not to be handed over.
    #[error(
        "a bundle cannot hold the files of this host: run it with --root debian:PACKAGES, a directory or an image"
    )]
    HostFiles,
    /// A file that changes is not to be handed over.
    #[error("a bundle cannot hold {path}, to which the machine writes: use a disk with a size or image=PATH")]
    WrittenFile {
        /// Its path.
        path: String,
    },
    /// A TPM is a program beside QEMU, which the script of a bundle does not start.
    #[error("a bundle cannot hold a TPM: run it without --device tpm")]
    Tpm,
    /// There is nothing to reproduce.
    #[error("{case} was never run, so there is nothing to reproduce: {why}")]
    Skipped {
        /// The case.
        case: String,
        /// Why not.
        why: String,
    },
    /// It holds too much.
    #[error(
        "a bundle holds at most {} MiB, and this needs {}: remove large files from {}",
        LIMIT >> 20,
        .bytes.div_ceil(1 << 20),
        .folder.display()
    )]
    TooLarge {
        /// What it would hold.
        bytes: u64,
        /// The folder of the session.
        folder: PathBuf,
    },
    /// The files of a kernel cannot be read.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// The initramfs cannot be made, or a folder cannot be read.
    #[error(transparent)]
    Machine(#[from] machine::Error),
    /// The image of the kernel or of the root cannot be read.
    #[error("{image}: {source}")]
    Image {
        /// Where it should be.
        image: String,
        /// Why not.
        source: std::io::Error,
    },
}

impl Error {
    /// Whether the user asked for something that cannot be.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Uml
            | Self::HostFiles
            | Self::Tpm
            | Self::WrittenFile { .. }
            | Self::Skipped { .. }
            | Self::TooLarge { .. } => true,
            Self::Kernel(error) => error.is_usage(),
            Self::Machine(error) => error.is_usage(),
            Self::Image { .. } => false,
        }
    }
}

/// A Run, and what makes it happen again.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// As it was.
    pub run: &'a Run,
    /// The session that it is of.
    pub session: &'a Session,
    /// Its kernel.
    pub kernel: &'a Kernel,
    /// Its machine.
    pub spec: &'a Spec,
    /// What runs.
    pub item: &'a Item,
    /// How long the kernel may go on afterwards.
    pub settle: Duration,
    /// It is a program of the user, whose exit status is passed on.
    pub is_users: bool,
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// What is in it; of a link, where it leads.
    pub content: Vec<u8>,
    /// What it is.
    pub kind: FileKind,
}

/// What a file of a bundle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Something to be read.
    Plain,
    /// It can be executed.
    Program,
    /// A symbolic link.
    Link,
}

impl File {
    /// A file that is no program.
    pub fn new(name: &str, content: impl Into<Vec<u8>>) -> Self {
        Self { name: name.to_string(), content: content.into(), kind: FileKind::Plain }
    }
}

/// The files of a bundle, with what was kept of the Run as `evidence`.
///
/// # Errors
///
/// When the Run was none of QEMU's or none at all, or something cannot be read.
pub fn files(parts: Parts<'_>, evidence: Vec<File>) -> Result<Vec<File>, Error> {
    let Engine::Qemu(accel) = parts.spec.engine else { return Err(Error::Uml) };
    if let Some(why) = &parts.item.skip {
        return Err(Error::Skipped { case: parts.item.name.clone(), why: why.clone() });
    }
    let limit = parts.item.limit * SLOWNESS;
    let mut payload = parts.spec.payload.clone();
    payload.agent_file(waiting::STANDALONE, request(parts.item, parts.run.seed, limit, parts.settle)?);
    let image = read(&parts.kernel.image)?;
    let image_of = |root: &Root| root.image().ok_or(Error::HostFiles).and_then(|image| read(&image.path));
    let root = parts.spec.root.as_ref().map(|root| Ok::<_, Error>(File::new(ROOT, image_of(root)?)));
    let devices = devices::files(&parts.spec.hardware)?;
    let script = script::write(parts, accel, limit);
    let own = [
        File { kind: FileKind::Program, ..File::new("run.sh", script) },
        File { kind: FileKind::Program, ..File::new(script::JUDGE, machine::JUDGE) },
        File::new(script::CASE, script::about(parts, limit).write()),
        File::new("README", readme(parts, &evidence)),
        File::new(IMAGE, image),
        File::new(INITRAMFS, payload.initramfs()?),
    ];
    Ok(own.into_iter().chain(root.transpose()?).chain(devices).chain(evidence).collect())
}

fn read(image: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(image).map_err(|source| Error::Image { image: image.display().to_string(), source })
}

/// What waits in the initramfs for the agent, or for a person's `kiln-case`, to run `item` within `limit`,
/// after which the kernel may go on for `settle`.
///
/// # Errors
///
/// When it has no binary form.
pub fn request(item: &Item, seed: u64, limit: Duration, settle: Duration) -> Result<Vec<u8>, machine::Error> {
    // Nobody tells it when its time is up.
    let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let asked = Asked { run: 1, seed, item, settle, trace: None };
    let request = RunRequest { limit_ms, ..observe::request(asked, limit) };
    waiting::encode(&request).map_err(|error| machine::Error::host("request", std::io::Error::other(error)))
}

fn readme(parts: Parts<'_>, evidence: &[File]) -> String {
    let Parts { run, session, spec, .. } = parts;
    let separator = if run.reason.is_empty() { "" } else { ": " };
    let verdict = format!("{}  {}{separator}{}", run.outcome.name(), run.case, run.reason);
    let mut kept = String::new();
    for file in evidence {
        // Writing to a string cannot fail.
        let _ = writeln!(kept, "    {:<16}  as kiln kept it", file.name);
    }
    let parameters = spec.parameters();
    let values = [
        ("VERDICT", verdict.as_str()),
        ("KERNEL", &session.kernel),
        ("PROVENANCE", &session.provenance),
        ("IDENTITY", &session.identity),
        ("MACHINE", &session.machine),
        ("PARAMETERS", &parameters),
        ("VERSION", &session.kiln),
    ]
    .map(|(name, value)| (name, printable(value.as_bytes())));
    let root = spec.root.as_ref().map(|root| {
        let locator = printable(root.locator.as_bytes());
        format!("    {ROOT:<16}  the user space of programs: {locator}\n")
    });
    let kept = [("ROOT", root.unwrap_or_default()), ("EVIDENCE", kept)];
    let values: Vec<(&str, String)> = values.into_iter().chain(kept).collect();
    script::fill(README, &values)
}
