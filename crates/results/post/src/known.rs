//! What is known of posts that a server has.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kernel::files::{self, Limit};
use serde::{Deserialize, Serialize};

use crate::answer::Made;
use crate::{Error, Post};

const LIMIT: Limit = Limit { what: "what is known of a post", bytes: 64 << 10 };

/// A post that a server has. Its token changes the post: only its user may read the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// What the server calls it.
    pub(crate) id: String,
    /// What changes it, if no account does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) token: Option<String>,
    /// Whether it is an account's.
    pub(crate) is_owned: bool,
    /// The blog in which everybody can read it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) blog: Option<String>,
    /// Where it is shown.
    pub(crate) link: String,
}

impl Known {
    /// What a server made of a post.
    pub(crate) fn new(made: &Made, post: &Post, is_owned: bool) -> Self {
        let blog = post.address.blog().filter(|_| post.is_public);
        Self {
            id: made.id.clone(),
            token: made.token.clone(),
            is_owned,
            blog: blog.map(str::to_owned),
            link: made.link(&post.address, blog),
        }
    }

    /// Where it is shown.
    #[must_use]
    pub fn link(&self) -> &str {
        &self.link
    }

    /// The blog in which everybody can read it; a draft is in none.
    #[must_use]
    pub fn blog(&self) -> Option<&str> {
        self.blog.as_deref()
    }
}

/// The folder with what is known.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    root: PathBuf,
}

impl Memory {
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// What is known of the post of this name.
    pub(crate) fn recall(&self, name: &str) -> Result<Option<Known>, Error> {
        let path = self.path(name);
        let text = match files::read(&path, LIMIT) {
            Err(kernel::Error::NoSuchFile { .. }) => return Ok(None),
            text => text?,
        };
        let reason = |error: serde_json::Error| Error::Known { path, reason: error.to_string() };
        serde_json::from_slice(&text).map(Some).map_err(reason)
    }

    pub(crate) fn keep(&self, name: &str, known: &Known) -> Result<(), Error> {
        let path = self.path(name);
        fs::create_dir_all(&self.root).map_err(Error::io(&self.root))?;
        let reason =
            |error: serde_json::Error| Error::Known { path: path.clone(), reason: error.to_string() };
        let text = serde_json::to_vec_pretty(known).map_err(reason)?;
        host::write_privately(&path, &text).and_then(|()| synced(&self.root)).map_err(Error::io(&path))
    }

    /// Forgets a post that the server has no more.
    pub(crate) fn forget(&self, name: &str) -> Result<(), Error> {
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(&path)(error)),
            _ => Ok(()),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name).with_extension("json")
    }
}

fn synced(folder: &Path) -> std::io::Result<()> {
    fs::File::open(folder)?.sync_all()
}
