//! `kiln report --publish`: a site of all that is worth showing.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use dashboard::{Folders, Published, SiteError, publish, publish_branch};
use judge::exit::BROKEN;

use crate::cli::{Report, Target};
use crate::failure::{WrongUsage, complain};
use crate::listeners::print;
use crate::serve::folders;
use crate::signals;

/// Publishes, says what was written, and gives the exit code.
pub(crate) fn publish_site(args: &Report, target: &Target) -> Result<u8> {
    let root = args.results.clone().unwrap_or_else(ledger::default_root);
    let interrupt = signals::interrupt_flag().context("signals")?;
    let done = publish_to(folders(root), target, &interrupt);
    let Published { written, unchanged, removed, left_out } = match done {
        Err(error) if error.is_usage() => return Err(WrongUsage(format!("--publish {error}")).into()),
        done => done?,
    };
    print(&format!("{written} files written, {unchanged} as before, {removed} removed\n"))?;
    for (file, why) in &left_out {
        complain(&format!("{file}: left out: {why}"));
    }
    Ok(if left_out.is_empty() { 0 } else { BROKEN })
}

fn publish_to(folders: Folders, target: &Target, interrupt: &AtomicBool) -> Result<Published, SiteError> {
    match target {
        Target::Folder(folder) => publish(folders, folder),
        Target::Branch { repository, branch } => {
            // kiln's own repository is elsewhere.
            let local = Path::new(repository)
                .canonicalize()
                .ok()
                .and_then(|path| path.into_os_string().into_string().ok());
            publish_branch(folders, local.as_ref().unwrap_or(repository), branch, interrupt)
        }
    }
}
