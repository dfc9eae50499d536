//! The same pages as files, for any server and for nobody's: what is worth showing, made anew where it changed.
//!
//! * [`plan`]: which pages there are, and their files; [`links`]: from addresses to files
//! * [`feed`]: verdicts for feed readers; [`folder`]: the files and what is known of them
//! * [`branch`]: a folder as a branch of a git repository

mod branch;
mod feed;
mod folder;
mod links;
mod plan;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ledger::LedgerError;
use report::html::SCRIPT;
use thiserror::Error;

use crate::frame::{FEED, filed, style};
use crate::pages::{self, Failure};
use crate::store::{Folders, Store};
use folder::Folder;
use links::Links;
use plan::{Content, Planned};

/// What a page says in the place of one that could not be made: links lead there, and why is nothing for the public.
const LEFT_OUT: &str = "kiln could not make this page";

/// Why no site is published.
#[derive(Debug, Error)]
pub enum SiteError {
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The folder or the branch is somebody else's.
    #[error("{place}: has files that kiln did not publish: name an empty one")]
    Foreign {
        /// The folder, or the branch.
        place: String,
    },
    /// git knows no such name of a branch.
    #[error("{name:?} is no name of a branch")]
    Branch {
        /// The name.
        name: String,
    },
    /// The host refuses.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The refusal.
        source: std::io::Error,
    },
    /// git cannot do its part.
    #[error(transparent)]
    Task(#[from] host::task::Failure),
    /// git refuses.
    #[error("git: {0}")]
    Git(String),
}

/// What became of the files of a site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Published {
    /// Files that are new or other than before.
    pub written: usize,
    /// Files that are as before.
    pub unchanged: usize,
    /// Files of pages that are no more.
    pub removed: usize,
    /// Files of pages that could not be made, with why: what stands there says so.
    pub left_out: Vec<(String, String)>,
}

impl SiteError {
    /// Whether the user named what cannot be written to.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Foreign { .. } | Self::Branch { .. })
    }
}

/// Writes what is worth showing to a folder: files that are as before are left alone, and those of pages that are no more are
/// removed. A page that cannot be made does not keep others from being written.
///
/// # Errors
///
/// When the folder has files of somebody else, the ledger cannot be read or a file cannot be written.
pub fn publish(folders: Folders, site: &Path) -> Result<Published, SiteError> {
    let mut folder = Folder::open(site)?;
    let mut store = Store::open(Arc::new(folders))?;
    let planned = plan::all(&mut store)?;
    let links = Links::of(&planned);
    let left_out = filed(&pages::failure(&Failure::Broken(LEFT_OUT.to_owned())));
    for Planned { file, content, .. } in planned {
        let page = match content {
            // What has ended does not change: neither is its page made again.
            Content::Kept(stamp, _) if folder.keeps(&file, &stamp) => continue,
            Content::Kept(stamp, make) => make(&mut store).map(|page| (page, stamp)),
            Content::Page(make) => make(&mut store).map(|page| (filed(&page), String::new())),
        };
        match page {
            Ok((page, stamp)) => folder.put(&file, links.relative(&page, &file).as_bytes(), &stamp)?,
            Err(failure) => {
                let page = links.relative(&left_out, &file);
                folder.leave_out(&file, page.as_bytes(), failure.why())?;
            }
        }
    }
    folder.put("style.css", style().as_bytes(), "")?;
    folder.put("page.js", SCRIPT.as_bytes(), "")?;
    let feed = feed::feed(&mut store, &links)?;
    folder.put(FEED.trim_start_matches('/'), feed.as_bytes(), "")?;
    folder.finish()
}

/// The same as a new commit of a branch of a repository, which git finds by a path or an address, unless nothing changed.
///
/// # Errors
///
/// As [`publish`], and when git refuses.
pub fn publish_branch(
    folders: Folders,
    repository: &str,
    branch: &str,
    interrupt: &AtomicBool,
) -> Result<Published, SiteError> {
    branch::Branch::open(repository, branch, interrupt)?.publish(folders)
}

#[cfg(test)]
mod tests;
