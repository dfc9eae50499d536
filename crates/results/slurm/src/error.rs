//! Why there are no results.

use std::io;
use std::path::PathBuf;

use lab::prepare;
use thiserror::Error;

/// Why there are no results.
#[derive(Debug, Error)]
pub enum Error {
    /// What runs, or its machine, cannot be had.
    #[error(transparent)]
    Prepare(#[from] prepare::Error),
    /// A machine cannot be started.
    #[error(transparent)]
    Machine(#[from] machine::Error),
    /// Results cannot be kept.
    #[error(transparent)]
    Keep(#[from] ledger::Error),
    /// Results cannot be asked for.
    #[error(transparent)]
    Ledger(#[from] ledger::LedgerError),
    /// A session that was run cannot be read back.
    #[error(transparent)]
    Past(#[from] ledger::PastError),
    /// A program of Slurm's refused, or is not there.
    #[error("{program}: {why}")]
    Slurm {
        /// The program.
        program: &'static str,
        /// Its complaint.
        why: String,
    },
    /// There is nothing for the jobs.
    #[error("--on slurm runs cases: this session has none")]
    NoCases,
    /// The script of a job is not one of this kiln's.
    #[error("{path}: {why}")]
    Script {
        /// The script.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file cannot be written or read.
    #[error("{path}: {why}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// The user wants to stop.
    #[error("interrupted{}", on_with(.0))]
    Interrupted(Vec<String>),
}

/// What goes on without kiln.
fn on_with(names: &[String]) -> String {
    if names.is_empty() {
        return ": the same command goes on with what is missing".to_owned();
    }
    let names = names.join(",");
    format!(": the jobs go on, and the same command waits for them; scancel --name={names} ends them")
}

/// What a terminal shows of a line that another program wrote.
pub(crate) fn plain(line: &str) -> String {
    /// Characters that are worth a line.
    const LINE_MAX: usize = 200;
    line.trim().chars().filter(|c| !c.is_control()).take(LINE_MAX).collect()
}

impl Error {
    /// Whether the user wants to stop.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Interrupted(_) => true,
            Self::Prepare(error) => error.is_interrupt(),
            _ => false,
        }
    }
}
