//! Where new kernels come from.

use std::path::{Path, PathBuf};

use history::Repository;
use kernel::catalogue::{Catalogue, Entry, State};
use kernel::{Context, Locator};
use lab::suites::select::Pattern;

use crate::arrival::Arrival;
use crate::error::Error;

/// All packages with kernels.
const PACKAGES: &str = "apt:linux-image";

/// Where new kernels come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Packages that apt offers.
    Packages {
        /// As the user wrote it.
        text: String,
        /// A pattern for their locators.
        pattern: String,
        /// Only these flavours, if any are named.
        flavours: Vec<String>,
    },
    /// A branch of a git tree, or another name that moves.
    Branch {
        /// As the user wrote it.
        text: String,
        /// The tree.
        tree: PathBuf,
        /// The branch.
        name: String,
    },
}

impl Source {
    /// Reads `apt:linux-image`, a pattern such as `deb:6.1.*`, or `git:TREE@BRANCH`.
    ///
    /// # Errors
    ///
    /// When it is none of these.
    pub fn new(text: &str, flavours: &[String]) -> Result<Self, Error> {
        let packages = |pattern: String| {
            Ok(Self::Packages { text: text.to_owned(), pattern, flavours: flavours.to_owned() })
        };
        if text == PACKAGES {
            return packages("deb:*".to_owned());
        }
        if let Some(rest) = text.strip_prefix(PACKAGES).and_then(|rest| rest.strip_prefix('-')) {
            return packages(format!("deb:{rest}*"));
        }
        if text.starts_with("deb:") {
            return packages(text.to_owned());
        }
        match text.parse() {
            Ok(Locator::Git { tree, revision }) => {
                Ok(Self::Branch { text: text.to_owned(), tree, name: revision })
            }
            _ => Err(Error::Source { text: text.to_owned() }),
        }
    }

    /// As the user wrote it.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Packages { text, .. } | Self::Branch { text, .. } => text,
        }
    }

    /// What tells it from other sources, wherever it is named.
    #[must_use]
    pub fn identity(&self) -> String {
        match self {
            Self::Packages { pattern, flavours, .. } => format!("{pattern} {}", flavours.join(",")),
            Self::Branch { tree, name, .. } => format!("git:{}@{name}", absolute(tree).display()),
        }
    }

    /// The kernels that are there now, the oldest first: of a branch its last commit.
    ///
    /// # Errors
    ///
    /// When the tree is gone or has no such branch.
    pub fn kernels(&self, context: &mut Context<'_>) -> Result<Vec<Arrival>, Error> {
        match self {
            Self::Packages { text, pattern, flavours } => {
                let pattern = Pattern::new(pattern);
                let is_wanted = |entry: &Entry| {
                    entry.state != State::Source
                        && pattern.matches(&entry.locator)
                        && (flavours.is_empty() || flavours.contains(&entry.flavour))
                };
                let Catalogue { entries, notes } = Catalogue::newest(context);
                notes.iter().for_each(|note| context.note(note));
                let found: Vec<Arrival> =
                    entries.into_iter().filter(is_wanted).map(|entry| package(text, entry)).collect();
                if found.is_empty() {
                    context.note(&format!("{text}: no kernel matches yet"));
                }
                Ok(found)
            }
            Self::Branch { text, tree, name } => {
                let commit = Repository::open(&absolute(tree), context)?.require(name, context)?;
                let kernel = Locator::Git { tree: tree.clone(), revision: commit.clone() }.to_string();
                Ok(vec![Arrival { source: text.clone(), kernel, version: commit, flavour: String::new() }])
            }
        }
    }
}

/// The folder of a tree, from wherever kiln is called.
fn absolute(tree: &Path) -> PathBuf {
    let path = Locator::Path(tree.to_owned()).path().unwrap_or_else(|| tree.to_owned());
    std::path::absolute(&path).unwrap_or(path)
}

fn package(source: &str, entry: Entry) -> Arrival {
    let Entry { locator, version, flavour, .. } = entry;
    Arrival { source: source.to_owned(), kernel: locator, version, flavour }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_as_apt_or_as_kiln_does() {
        for (text, expected) in [
            ("apt:linux-image", "deb:*"),
            ("apt:linux-image-6.1", "deb:6.1*"),
            ("deb:6.12.*-cloud-amd64", "deb:6.12.*-cloud-amd64"),
        ] {
            let Ok(Source::Packages { pattern, .. }) = Source::new(text, &[]) else { panic!("{text}") };
            assert_eq!(pattern, expected);
        }
    }

    #[test]
    fn what_does_not_change_is_not_watched() {
        let branch = Source::new("git:linux@origin/master", &[]).expect("a branch");
        let identity = branch.identity();
        assert!(identity.starts_with("git:/") && identity.ends_with("/linux@origin/master"), "{identity}");
        for text in ["apt:", "apt:vim", "apt:linux-imagex", "host", "./bzImage", "built:1", ""] {
            let error = Source::new(text, &[]).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains("git:TREE@BRANCH"), "{error}");
        }
    }
}
