//! `kiln build`: from source to a Kernel that is kept.

use anyhow::{Context, Result};

use crate::cli::Build;
use crate::find;
use crate::listeners::print;
use crate::signals;

/// Builds, prints the locator of the result, and gives the exit code.
pub(crate) fn build(said: &Build) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let kernel = find::build(&said.source, &said.build, &interrupt)?;
    print(&format!("{}\n", kernel.locator))?;
    Ok(0)
}
