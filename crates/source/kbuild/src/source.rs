//! Source: what a locator names, its identity, and where it can be compiled.

mod directory;
mod package;

use std::path::{Path, PathBuf};

use crate::Error;
use crate::work::Work;
use history::Repository;
use kernel::Context;
use kernel::apt::Apt;
use kernel::store::Lease;
use kernel::{Commit, Locator, PartsHash};

/// What every kernel tree has at its top.
pub(crate) const LANDMARKS: [&str; 4] = ["Kconfig", "Makefile", "arch", "init"];

/// New files that a note names.
const NAMED: usize = 3;

/// A kernel's source, found and not yet touched.
#[derive(Debug)]
pub(crate) struct Source {
    /// What is equal here is the same source to the last byte.
    pub(crate) identity: String,
    /// One line for people.
    pub(crate) title: String,
    /// Where it comes from, whatever its state: builds of one origin share what they compiled.
    pub(crate) origin: String,
    /// The commit that it is, to the last byte.
    pub(crate) commit: Option<Commit>,
    kind: Kind,
    /// Keeps a package's tree from being pruned.
    _lease: Option<Lease>,
}

#[derive(Debug)]
enum Kind {
    Git {
        repository: Repository,
        tree: String,
    },
    /// A tree of the user, who may change it at any time.
    Directory(PathBuf),
    /// A tree of the store.
    Kept(PathBuf),
}

impl Source {
    /// Finds the source that a locator names; a package is fetched.
    pub(crate) fn find(locator: &Locator, context: &mut Context<'_>) -> Result<Self, Error> {
        match locator {
            Locator::Git { tree, revision } => {
                let path = existing(locator, tree)?;
                commit(&path, locator, revision, context)
            }
            Locator::Path(typed) => at_path(&existing(locator, typed)?, typed, context),
            Locator::DebSource(name) => {
                let apt = Apt { interrupt: context.interrupt };
                let found = package::find(name, &apt, context)?;
                let identity = format!("package {}", found.title);
                let title = format!("Debian source {}", found.title);
                Ok(Self {
                    identity,
                    title,
                    origin: found.title,
                    commit: None,
                    kind: Kind::Kept(found.tree),
                    _lease: found.lease,
                })
            }
            Locator::Deb(_) | Locator::UmlDeb | Locator::Built(_) | Locator::Host => {
                Err(Error::NotSource { locator: locator.to_string() })
            }
        }
    }

    /// The same, which is known to be this commit of the tree at `path`.
    fn at(self, path: &Path, hash: String) -> Self {
        let tree = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self { commit: Some(Commit { tree, hash }), ..self }
    }

    /// Refuses a tree that is not what it was when it was found.
    pub(crate) fn is_unchanged(&self, context: &mut Context<'_>) -> Result<(), Error> {
        match &self.kind {
            Kind::Directory(path) if directory::fingerprint(path, context)? != self.identity => {
                Err(Error::Changed { path: path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Its tree in git, if it is from there.
    pub(crate) fn git_tree(&self) -> Option<&str> {
        match &self.kind {
            Kind::Git { tree, .. } => Some(tree),
            Kind::Directory(_) | Kind::Kept(_) => None,
        }
    }

    /// The paths in which it differs from another tree of the same repository, if both are there.
    pub(crate) fn changed_since(
        &self,
        earlier: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<Vec<String>>, Error> {
        match &self.kind {
            Kind::Git { repository, tree } => Ok(repository.between([earlier, tree], context)?),
            Kind::Directory(_) | Kind::Kept(_) => Ok(None),
        }
    }

    /// A tree that holds this source: but for one of the user it stays so while this lives.
    pub(crate) fn place(&self, context: &mut Context<'_>) -> Result<Tree, Error> {
        match &self.kind {
            Kind::Directory(path) | Kind::Kept(path) => Ok(Tree { path: path.clone(), _checkout: None }),
            Kind::Git { repository, tree } => {
                let mut origin = PartsHash::default();
                origin.part(&self.origin);
                let checkout = Work::enter(&context.store.trees(), origin, context)?;
                context.progress(&format!("checking out {}", self.title));
                let path = checkout.tree();
                checkout.leave(repository.check_out(tree, &path, context).map_err(Error::from))?;
                Ok(Tree { path, _checkout: Some(checkout) })
            }
        }
    }
}

/// Where a source lies.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Its top.
    pub(crate) path: PathBuf,
    _checkout: Option<Work>,
}

fn existing(locator: &Locator, typed: &Path) -> Result<PathBuf, Error> {
    let path = locator.path().unwrap_or_else(|| typed.to_owned());
    if path.exists() { Ok(path) } else { Err(Error::NoTree { path: typed.to_owned() }) }
}

fn commit(
    path: &Path,
    locator: &Locator,
    revision: &str,
    context: &mut Context<'_>,
) -> Result<Source, Error> {
    let repository = Repository::open(path, context)?;
    let commit = repository.require(revision, context)?;
    let (tree, title) = repository.describe(&commit, context)?;
    let source = of_tree(repository, tree, format!("{locator} ({title})"), path, context)?;
    Ok(source.at(path, commit))
}

/// A checkout as it is now, or a tree that git knows nothing of.
fn at_path(path: &Path, typed: &Path, context: &mut Context<'_>) -> Result<Source, Error> {
    if !LANDMARKS.iter().all(|name| path.join(name).exists()) {
        return Err(Error::NotAKernelTree { path: typed.to_owned() });
    }
    if let Some(repository) = Repository::at(path, context)?
        && repository.is_top(path, context)?
    {
        return checkout(repository, path, typed, context);
    }
    let path = path.canonicalize().map_err(Error::io("find", path))?;
    directory::check_clean(&path)?;
    let identity = directory::fingerprint(&path, context)?;
    let origin = path.display().to_string();
    Ok(Source {
        identity,
        title: typed.display().to_string(),
        origin,
        commit: None,
        kind: Kind::Directory(path),
        _lease: None,
    })
}

/// A checkout as it is now.
fn checkout(
    repository: Repository,
    path: &Path,
    typed: &Path,
    context: &mut Context<'_>,
) -> Result<Source, Error> {
    let head = repository.resolve("HEAD", context)?;
    let described = head.as_ref().map(|commit| repository.describe(commit, context)).transpose()?;
    let tree = repository.snapshot(context)?;
    let missing = repository.lacking(&tree, &LANDMARKS, context)?;
    if !missing.is_empty() {
        return Err(Error::Ignored { path: typed.to_owned(), names: missing.join(", ") });
    }
    let head = head.filter(|_| described.as_ref().is_some_and(|(of_head, _)| *of_head == tree));
    let title = match described {
        Some((_, title)) if head.is_some() => format!("{} ({title})", typed.display()),
        Some((_, title)) => format!("{} ({title}, with changes)", typed.display()),
        None => typed.display().to_string(),
    };
    let ignored = repository.ignored_source(context)?;
    let title = match ignored.len() {
        0 => title,
        count => format!("{title}, without {}", new_files(count)),
    };
    if !ignored.is_empty() {
        context.note(&left_out(typed, &ignored));
    }
    let source = of_tree(repository, tree, title, typed, context)?;
    Ok(match head {
        Some(commit) => source.at(path, commit),
        None => source,
    })
}

fn new_files(count: usize) -> String {
    match count {
        1 => "a new source file that git ignores".to_owned(),
        _ => format!("{count} new source files that git ignores"),
    }
}

/// A note that names what is not built.
fn left_out(tree: &Path, ignored: &[String]) -> String {
    let named = ignored.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match ignored.len().saturating_sub(NAMED) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!("{} is built without {}: {named}{more}", tree.display(), new_files(ignored.len()))
}

fn of_tree(
    repository: Repository,
    tree: String,
    title: String,
    typed: &Path,
    context: &mut Context<'_>,
) -> Result<Source, Error> {
    if !repository.lacking(&tree, &LANDMARKS, context)?.is_empty() {
        return Err(Error::NotAKernelTree { path: typed.to_owned() });
    }
    let (identity, origin) = (format!("git tree {tree}"), repository.origin());
    Ok(Source { identity, title, origin, commit: None, kind: Kind::Git { repository, tree }, _lease: None })
}
