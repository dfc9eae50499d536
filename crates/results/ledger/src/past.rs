//! Reads a session back.
//!
//! The folder may be that of another version, half written, damaged or no session at all: what is read is
//! bounded, and what cannot be read is an error of one line or, in a list, left out.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use judge::run::{BOOT, file_name};
use judge::{Run, Summary};
pub(crate) use lab::bundle::experiment::{EXPERIMENT, SESSION};
use lab::event::Session;
use machine::{Accel, Engine};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::lock;
use crate::result::{ExperimentResult, RESULT};

/// The folder of a session with the user's program.
pub(crate) const PROGRAM: &str = "program";

/// The file of all events; it is locked while a session is recorded.
pub(crate) const EVENTS: &str = "events.jsonl";

/// The folder of a session with the documents of its cases.
pub(crate) const CASES: &str = "cases";

/// The Run of the boot, outside of the folder of the cases: one of them may have its name.
pub(crate) const BOOT_RUN: &str = "boot.json";

/// Largest document that is read, in bytes: output and kernel log of a Run, with every byte escaped.
pub(crate) const DOCUMENT_MAX: u64 = 64 << 20;

/// Deepest folder of cases that is looked into.
const DEPTH_MAX: usize = 16;

/// Most documents of one session.
const DOCUMENTS_MAX: usize = 100_000;

/// A session that cannot be read, or is not there.
#[derive(Debug, Error)]
pub enum Error {
    /// A document cannot be read.
    #[error("{path}: {why}")]
    Document {
        /// The document.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The user asked for something that there is not.
    #[error("{0}")]
    Wanted(String),
}

impl Error {
    /// Whether the user asked for something that there is not.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Wanted(_))
    }
}

/// A session that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    directory: PathBuf,
}

/// What of `session.json` says how it ended.
#[derive(Deserialize)]
struct Ending {
    summary: Option<Summary>,
    #[serde(default)]
    interrupted: bool,
    #[serde(default)]
    took_seconds: Option<f64>,
}

/// The sessions below `root`, the newest first; nothing if it cannot be read.
#[must_use]
pub fn sessions(root: &Path) -> Vec<Past> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut all: Vec<Past> = entries.filter_map(|entry| Past::open(&entry.path())).collect();
    // A name begins with the second of its start; within one, the folder that was made later is newer.
    let made = |past: &Past| past.directory.metadata().and_then(|found| found.created()).ok();
    all.sort_by_cached_key(|past| (past.stamp().to_owned(), made(past), past.name()));
    all.reverse();
    all
}

impl Past {
    /// The session in `directory`, if there is one.
    #[must_use]
    pub fn open(directory: &Path) -> Option<Self> {
        directory.join(SESSION).is_file().then(|| Self { directory: directory.to_owned() })
    }

    /// Its name: that of its folder.
    #[must_use]
    pub fn name(&self) -> String {
        self.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its folder.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What it was about.
    ///
    /// # Errors
    ///
    /// When its document cannot be read or is none.
    pub fn session(&self) -> Result<Session, Error> {
        let session: Session = read(&self.directory.join(SESSION))?;
        Ok(Session { engine: session.engine.or_else(|| engine_in_words(&session.machine)), ..session })
    }

    /// Whether this host ran it; of what others ran nothing is carried out.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.session().is_ok_and(|session| session.origin.is_none())
    }

    /// Whether all that was reported in it is there: of one that was restored it is not.
    #[must_use]
    pub fn has_events(&self) -> bool {
        self.directory.join(EVENTS).is_file()
    }

    /// The document about it with another session in its place.
    pub(crate) fn document_with(&self, session: &Session) -> Result<Vec<u8>, Error> {
        let path = self.directory.join(SESSION);
        let mut document: Map<String, Value> = read(&path)?;
        let unwritten = |why: serde_json::Error| Error::Document { path: path.clone(), why: why.to_string() };
        let session = serde_json::to_value(session).map_err(unwritten)?;
        document.extend(session.as_object().cloned().unwrap_or_default());
        serde_json::to_vec_pretty(&document).map_err(unwritten)
    }

    /// Whether it came to its end: nobody killed or interrupted it.
    #[must_use]
    pub fn ended(&self) -> bool {
        let ending = read::<Ending>(&self.directory.join(SESSION));
        ending.is_ok_and(|ending| ending.summary.is_some() && !ending.interrupted)
    }

    /// Whether somebody records it now.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        lock::is_taken(&self.directory.join(EVENTS))
    }

    /// How its cases ended; nothing where it has no end.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        read::<Ending>(&self.directory.join(SESSION)).ok()?.summary
    }

    /// How long it took from its plan to its end; nothing where it has none.
    #[must_use]
    pub fn took(&self) -> Option<Duration> {
        let ending = read::<Ending>(&self.directory.join(SESSION)).ok()?;
        Duration::try_from_secs_f64(ending.took_seconds?).ok()
    }

    /// The Run of a case; of the boot, if it is called so and no case is.
    ///
    /// # Errors
    ///
    /// When there is none, or its document cannot be read.
    pub fn run(&self, case: &str) -> Result<Run, Error> {
        let path = self.document(case);
        if !file_name(case).is_empty() && path.is_file() {
            return self.read_run(&path);
        }
        let boot = self.directory.join(BOOT_RUN);
        if case == BOOT && boot.is_file() {
            return self.read_run(&boot);
        }
        Err(Error::Wanted(format!("session {} has no Run of {case:?}", self.name())))
    }

    /// The Run of a boot that went badly.
    ///
    /// # Errors
    ///
    /// When there is none, or its document cannot be read.
    pub fn boot(&self) -> Result<Run, Error> {
        let path = self.directory.join(BOOT_RUN);
        // Earlier versions put it among the cases.
        let run = if path.is_file() { self.read_run(&path)? } else { self.run(BOOT)? };
        let none = || Error::Wanted(format!("every boot of session {} went well", self.name()));
        Some(run).filter(|run| run.is_boot).ok_or_else(none)
    }

    /// A Run; where an older kiln did not say so, that of a boot is known by its name, which no case of the plan has.
    pub(crate) fn read_run(&self, path: &Path) -> Result<Run, Error> {
        let run: Run = read(path)?;
        let is_case = || self.session().is_ok_and(|session| session.cases.contains(&run.case));
        let is_boot = run.is_boot || (run.case == BOOT && !is_case());
        Ok(Run { is_boot, ..run })
    }

    /// Whether there is something in it to look into.
    #[must_use]
    pub(crate) fn has_failure(&self) -> bool {
        self.runs().iter().any(|run| !run.outcome.is_well())
    }

    /// The Runs of the boot and of all cases that have been judged, these in the order of their names. What is no such
    /// document is left out, also the Runs of which one of these is the sum.
    #[must_use]
    pub fn runs(&self) -> Vec<Run> {
        let mut paths = Vec::new();
        collect(&self.directory.join(CASES), DEPTH_MAX, &mut paths);
        paths.sort();
        let judged = paths.iter().filter_map(|path| {
            let run = self.read_run(path).ok()?;
            (self.document(&run.case) == *path).then_some(run)
        });
        self.read_run(&self.directory.join(BOOT_RUN)).into_iter().chain(judged).collect()
    }

    /// Where the user's program of this name is kept as it ran; sessions of earlier versions kept none.
    #[must_use]
    pub fn program(&self, name: &OsStr) -> PathBuf {
        self.directory.join(PROGRAM).join(name)
    }

    /// Where the files of the experiment of this name are kept as they were.
    #[must_use]
    pub fn experiment(&self, name: &str) -> PathBuf {
        self.directory.join(EXPERIMENT).join(name)
    }

    /// What came of its experiment, if it has one that came to an end.
    ///
    /// # Errors
    ///
    /// When its document cannot be read.
    pub fn result(&self) -> Result<Option<ExperimentResult>, Error> {
        let path = self.directory.join(RESULT);
        path.is_file().then(|| read(&path)).transpose()
    }

    /// What was kept of a Run, by the names that it can have elsewhere.
    #[must_use]
    pub fn evidence(&self, run: &Run) -> Vec<(&'static str, PathBuf)> {
        let boot = self.directory.join(BOOT_RUN);
        let document = if run.is_boot && boot.is_file() { boot } else { self.document(&run.case) };
        let of_clone = document.with_extension("console");
        let console = if of_clone.is_file() { of_clone } else { self.directory.join("console.log") };
        let session = self.directory.join(SESSION);
        let mut all = vec![("run.json", document), ("session.json", session), ("console.log", console)];
        all.retain(|(_, path)| path.is_file());
        all
    }

    fn document(&self, case: &str) -> PathBuf {
        self.directory.join(document_of(case))
    }

    /// The time in its name.
    fn stamp(&self) -> &str {
        let name = self.directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.rsplit_once('-').map_or(name, |(stamp, _)| stamp)
    }
}

/// Where the document of a case is in the folder of its session.
pub(crate) fn document_of(case: &str) -> PathBuf {
    Path::new(CASES).join(format!("{}.json", file_name(case)))
}

/// Finds documents below `directory`; links are not followed.
fn collect(directory: &Path, depth: usize, paths: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        if paths.len() >= DOCUMENTS_MAX {
            return;
        }
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&path, depth - 1, paths),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|extension| extension == "json") => {
                paths.push(path);
            }
            _ => {}
        }
    }
}

/// Reads a document of bounded size.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let error = |why: String| Error::Document { path: path.to_owned(), why };
    let file = File::open(path).map_err(|source| error(source.to_string()))?;
    let mut bytes = Vec::new();
    let size =
        file.take(DOCUMENT_MAX + 1).read_to_end(&mut bytes).map_err(|source| error(source.to_string()))?;
    if size as u64 > DOCUMENT_MAX {
        return Err(error(format!("is larger than {} MiB", DOCUMENT_MAX >> 20)));
    }
    serde_json::from_slice(&bytes).map_err(|source| error(format!("is not a document of kiln: {source}")))
}

/// What ran the machines of a session that kiln 0.1 kept: it said so only in words.
fn engine_in_words(machine: &str) -> Option<Engine> {
    let engines = [Engine::Qemu(Accel::Tcg), Engine::Qemu(Accel::Kvm), Engine::Uml];
    engines.into_iter().find(|engine| machine.starts_with(&engine.to_string()))
}

#[cfg(test)]
pub(crate) mod tests;
