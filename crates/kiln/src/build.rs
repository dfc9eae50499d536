//! `kiln build`: from source to a Kernel that is kept.

use anyhow::{Context, Result};

use crate::cli::Build;
use crate::find::waiting;
use crate::listeners::print;
use crate::signals;

/// Builds, prints the locator of the result, and gives the exit code.
pub(crate) fn build(args: &Build) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let wanted = args.build.kernel(&args.source);
    let kernel = waiting(&interrupt, |waiting| wanted.build_it(waiting))?;
    print(&format!("{}\n", kernel.locator))?;
    Ok(0)
}
