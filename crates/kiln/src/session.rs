//! What a session is about, and who hears of it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use kernel::{Kernel, Locator};
use lab::event::Session;
use ledger::{Durations, Recorder};
use machine::Spec;

use crate::cli::Format;
use crate::listeners::Listeners;
use crate::machine_options::describe;
use crate::recall::Again;

/// A session that begins now.
pub(crate) fn begin(
    locator: &Locator,
    kernel: &Kernel,
    specs: &[Spec],
    suite: &str,
    cases: Vec<String>,
) -> Session {
    Session {
        started: jiff::Timestamp::now(),
        kiln: env!("CARGO_PKG_VERSION").to_string(),
        command: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
        directory: std::env::current_dir().unwrap_or_default(),
        locator: locator.to_string(),
        kernel: kernel.exact_locator(),
        provenance: kernel.provenance.clone(),
        release: kernel.release.clone(),
        identity: kernel.identity(&specs.first().map(Spec::parameters).unwrap_or_default()),
        machine: describe(specs),
        suite: suite.to_string(),
        cases,
    }
}

/// The session as it is when a Run of an earlier one is repeated.
pub(crate) fn again(session: Session, again: Option<&Again>) -> Result<Session> {
    match again {
        Some(again) => again.keep_to(session),
        None => Ok(session),
    }
}

/// Where sessions are kept: below `results` if the user said so.
pub(crate) fn root(results: Option<&Path>) -> PathBuf {
    results.map_or_else(ledger::default_root, Path::to_path_buf)
}

/// The folder that its recorder is going to make.
pub(crate) fn folder(session: &Session, results: Option<&Path>) -> PathBuf {
    let folder = ledger::folder(&root(results), &started(session));
    std::path::absolute(&folder).unwrap_or(folder)
}

fn started(session: &Session) -> String {
    session.started.strftime("%Y-%m-%dT%H-%M-%SZ").to_string()
}

/// The recorder of a session alone.
pub(crate) fn recorder(session: &Session, results: Option<&Path>) -> Result<Recorder, ledger::Error> {
    Recorder::create(&root(results), &started(session))
}

/// The recorder of a session, below `results` if the user said so, and what the user looks at.
pub(crate) fn listeners(
    session: &Session,
    results: Option<&Path>,
    format: Format,
    color: bool,
) -> Result<Listeners> {
    let root = root(results);
    let recorder = recorder(session, results)?;
    Ok(Listeners::new(format, color, recorder, Durations::load(&root)))
}
