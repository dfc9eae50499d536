//! What a job of `--on slurm` does on its node.

use std::path::Path;

use anyhow::{Context, Result};
use judge::exit::INTERRUPTED;
use lab::HostBackend;
use ledger::Progress;
use slurm::job::carry_out;

use crate::failure::{WrongUsage, complain};
use crate::signals;

/// The place of a job in its array.
const INDEX: &str = "SLURM_ARRAY_TASK_ID";

/// Carries out a request and gives the exit code.
pub(crate) fn slurm_job(script: &Path) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let index = std::env::var(INDEX).ok().and_then(|text| text.parse().ok());
    let index = index.ok_or_else(|| WrongUsage(format!("{INDEX} is not set: Slurm calls this")))?;
    let mut emit = |progress| match progress {
        Progress::Working(_) => {}
        Progress::Known(text) | Progress::Note(text) => complain(&text),
    };
    match carry_out(script, index, &HostBackend, &interrupt, &mut emit) {
        Err(error) if error.is_interrupt() => Ok(INTERRUPTED),
        done => Ok(done.map(|()| 0)?),
    }
}
