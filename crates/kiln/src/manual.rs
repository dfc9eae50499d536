//! Completions and manual pages, from the same text as `--help`.

use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::listeners::standard_output;

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "kiln", &mut script);
    standard_output(|out| out.write_all(&script))?;
    Ok(0)
}

/// Writes the manual pages into `directory`.
pub(crate) fn manual(directory: &Path) -> Result<u8> {
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory))
        .with_context(|| directory.display().to_string())?;
    Ok(0)
}
