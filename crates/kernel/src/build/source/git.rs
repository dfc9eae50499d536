//! git: commits, the state of a checkout, and work trees of kiln's own.
//!
//! Nothing of the user's is written: a work tree of kiln has its own index, and what a checkout holds
//! beyond its commits is hashed into objects of kiln's own, which borrow from the user's.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use host::Task;

use crate::build::error::BuildError;
use crate::context::Context;
use crate::error::Error;
use crate::files;

/// Checking out a kernel from a slow disk takes minutes, and never an hour.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// What a user's configuration could do to kiln's own work trees.
const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.autocrlf=false",
    "core.eol=lf",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
];

/// A git repository of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// Where git runs.
    place: PathBuf,
    /// The repository itself.
    git_dir: PathBuf,
    /// Objects of kiln's own, which borrow from those of the repository.
    objects: PathBuf,
}

impl Repository {
    /// The repository that `path` belongs to, if it does.
    pub(crate) fn at(path: &Path, context: &mut Context<'_>) -> Result<Option<Self>, Error> {
        let arguments =
            ["rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-path", "objects"];
        let text = match ask(path, &arguments, context) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            // Who has no git may still have an unpacked archive of source.
            Err(error) if error.is_missing("git") && !path.join(".git").exists() => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut lines = text.lines();
        let (Some(git_dir), Some(theirs)) = (lines.next(), lines.next()) else { return Ok(None) };
        let objects = context.store.objects(&files::hash(git_dir.as_bytes())[..16]);
        borrow(&objects, theirs)?;
        Ok(Some(Self { place: path.to_owned(), git_dir: git_dir.into(), objects }))
    }

    /// Whether `path` is the top of a checkout, and not a folder in somebody's repository.
    pub(crate) fn is_top(&self, path: &Path, context: &mut Context<'_>) -> Result<bool, Error> {
        let top = ask(&self.place, &["rev-parse", "--show-toplevel"], context)?;
        let top = top.and_then(|top| Path::new(top.trim_end()).canonicalize().ok());
        Ok(top.is_some() && top == path.canonicalize().ok())
    }

    /// A name for the repository that stays the same from build to build.
    pub(crate) fn origin(&self) -> String {
        self.git_dir.display().to_string()
    }

    /// The tree of a commit, and the commit in words; nothing if there is no such commit.
    pub(crate) fn commit(
        &self,
        revision: &str,
        context: &mut Context<'_>,
    ) -> Result<Option<(String, String)>, Error> {
        let commit = format!("{revision}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        // Whatever git has against it, there is no such commit.
        let commit = match ask(&self.place, &arguments, context) {
            Ok(Some(commit)) => commit,
            Ok(None) | Err(Error::Build(BuildError::Git { .. })) => return Ok(None),
            Err(error) => return Err(error),
        };
        let commit = commit.trim();
        let tree = self.must(&["rev-parse", &format!("{commit}^{{tree}}")], context)?;
        let title =
            self.must(&["log", "-1", "--no-show-signature", "--format=%h \"%s\"", commit], context)?;
        Ok(Some((tree.trim().to_owned(), title.trim().to_owned())))
    }

    /// The checkout as it lies on the disk, with changes and new files but without what git ignores, as
    /// the hash of a tree.
    pub(crate) fn snapshot(&self, context: &mut Context<'_>) -> Result<String, Error> {
        context.progress(&format!("looking for changes in {}", self.place.display()));
        let scratch = tempfile::tempdir().map_err(Error::io("make", &std::env::temp_dir()))?;
        let index = scratch.path().join("index");
        let theirs = self.must(&["rev-parse", "--path-format=absolute", "--git-path", "index"], context)?;
        let theirs = Path::new(theirs.trim_end());
        if theirs.exists() && !self.hides_files(context)? {
            // It knows which files have not changed since they were last hashed.
            fs::copy(theirs, &index).map_err(Error::io("copy", theirs))?;
        }
        self.with_index(&index, &["add", "--all", "--", "."], &self.place, context)?;
        let tree = self.with_index(&index, &["write-tree"], &self.place, context)?;
        Ok(tree.trim().to_owned())
    }

    /// Whether the index tells git not to look at files that are there: `assume-unchanged` and
    /// `skip-worktree` of git-update-index(1).
    fn hides_files(&self, context: &mut Context<'_>) -> Result<bool, Error> {
        let listed = self.must(&["ls-files", "-v", "--full-name"], context)?;
        let is_hidden = |line: &&str| line.starts_with(|mark: char| mark == 'S' || mark.is_ascii_lowercase());
        let mut paths = listed.lines().filter(is_hidden).filter_map(|line| line.get(2..));
        Ok(paths.any(|path| self.place.join(path).exists()))
    }

    /// Whether a tree looks like the kernel's.
    pub(crate) fn is_kernel(&self, tree: &str, context: &mut Context<'_>) -> Result<bool, Error> {
        let names = super::LANDMARKS;
        let arguments = [&["ls-tree", "--name-only", tree, "--"], &names[..]].concat();
        let found = git(&self.place, &arguments, |command| self.use_objects(command), context)?;
        Ok(found.is_some_and(|found| found.lines().count() == names.len()))
    }

    /// Makes `work_tree` hold exactly `tree`; only files that differ are touched, so that make need not
    /// compile the others again.
    pub(crate) fn check_out(
        &self,
        tree: &str,
        work_tree: &Path,
        context: &mut Context<'_>,
    ) -> Result<(), Error> {
        fs::create_dir_all(work_tree).map_err(Error::io("make", work_tree))?;
        let index = work_tree.with_extension("index");
        self.with_index(&index, &["read-tree", "--reset", "-u", tree], work_tree, context)?;
        // What an interrupted checkout of something else left would be compiled in.
        self.with_index(&index, &["clean", "-ffdxq"], work_tree, context)?;
        Ok(())
    }

    fn with_index(
        &self,
        index: &Path,
        arguments: &[&str],
        work_tree: &Path,
        context: &mut Context<'_>,
    ) -> Result<String, Error> {
        let options = |command: &mut Command| {
            self.use_objects(command);
            command.env("GIT_DIR", &self.git_dir).env("GIT_WORK_TREE", work_tree);
            command.env("GIT_INDEX_FILE", index).current_dir(work_tree);
        };
        self.must_with(arguments, options, context)
    }

    /// New objects are kiln's own.
    fn use_objects(&self, command: &mut Command) {
        command.env("GIT_OBJECT_DIRECTORY", &self.objects);
    }

    fn must(&self, arguments: &[&str], context: &mut Context<'_>) -> Result<String, Error> {
        self.must_with(arguments, |_| {}, context)
    }

    /// Runs git where it has no reason to refuse.
    fn must_with(
        &self,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
        context: &mut Context<'_>,
    ) -> Result<String, Error> {
        let done = git(&self.place, arguments, change, context)?;
        done.ok_or_else(|| refused(arguments, "it said no"))
    }
}

/// Makes a directory of objects that borrows from another: gitrepository-layout(5).
fn borrow(objects: &Path, theirs: &str) -> Result<(), Error> {
    let info = objects.join("info");
    fs::create_dir_all(&info).map_err(Error::io("make", &info))?;
    let alternates = info.join("alternates");
    fs::write(&alternates, format!("{theirs}\n")).map_err(Error::io("write", &alternates))
}

/// What git says; nothing if it has no answer.
fn ask(place: &Path, arguments: &[&str], context: &mut Context<'_>) -> Result<Option<String>, Error> {
    git(place, arguments, |_| {}, context)
}

/// Runs git: its output, or nothing if it refused without a reason. A reason is an error, but for those
/// by which it says that there is no repository.
fn git(
    place: &Path,
    arguments: &[&str],
    change: impl FnOnce(&mut Command),
    context: &mut Context<'_>,
) -> Result<Option<String>, Error> {
    let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
    let all: Vec<&str> = settings.chain(arguments.iter().copied()).collect();
    let task = Task::new("git", &all, context.interrupt).within(place).limit(LIMIT);
    let task = task.with(forget_users_variables).with(change);
    let done = task.run(&mut || {}).map_err(BuildError::from)?;
    if done.success {
        return Ok(Some(done.output));
    }
    let complaint = done.complaint.trim();
    let none = complaint.is_empty() || complaint.contains("not a git repository");
    if none { Ok(None) } else { Err(refused(arguments, complaint)) }
}

/// A hook that calls kiln, for one, has variables that name its own repository.
fn forget_users_variables(command: &mut Command) {
    let is_gits = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_gits(name)) {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
}

fn refused(arguments: &[&str], complaint: &str) -> Error {
    let action = arguments.first().copied().unwrap_or_default();
    // The last words are the reason; hints come before them.
    let reason =
        complaint.lines().rev().find(|line| line.starts_with("fatal: ") || line.starts_with("error: "));
    let reason = reason.or_else(|| complaint.lines().next()).unwrap_or_default();
    BuildError::Git { action: format!("git {action}"), reason: reason.to_owned() }.into()
}
