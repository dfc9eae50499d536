//! git: commits, the state of a checkout, and work trees of kiln's own.
//!
//! Nothing of the user's is written: a work tree of kiln has its own index, and what a checkout holds
//! beyond its commits is hashed into objects of kiln's own, which borrow from the user's.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use host::Task;
use host::task::{Failure, Finished, OUTPUT_MAX};
use kernel::Context;
use kernel::files;

use crate::Error;

/// Checking out a kernel from a slow disk takes minutes, and never an hour.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// What git says of a remote repository behind the line with the cause: its own, or that of `ssh`.
const UNREADABLE: &str = "fatal: Could not read from remote repository.";

/// What a user's configuration could do to kiln's own work trees, and to what git prints.
const SETTINGS: [&str; 12] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.autocrlf=false",
    "core.eol=lf",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "i18n.logOutputEncoding=UTF-8",
    // A partial clone may have to fetch, after which git would tidy up.
    "maintenance.auto=false",
    "gc.auto=0",
];

/// A git repository of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Where git runs.
    place: PathBuf,
    /// The repository itself.
    git_dir: PathBuf,
    /// Objects of kiln's own, which borrow from those of the repository.
    objects: PathBuf,
}

impl Repository {
    /// The repository that `path` belongs to, if it does.
    ///
    /// # Errors
    ///
    /// When git is missing or refuses.
    pub fn at(path: &Path, context: &mut Context<'_>) -> Result<Option<Self>, Error> {
        let arguments =
            ["rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-path", "objects"];
        let text = match answer(path, &arguments, |_| {}, context) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            // Who has no git may still have an unpacked archive of source.
            Err(Error::Program(Failure::Missing(_))) if !path.join(".git").exists() => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut lines = text.lines();
        let (Some(git_dir), Some(theirs)) = (lines.next(), lines.next()) else { return Ok(None) };
        let objects = context.store.objects(&files::hash(git_dir.as_bytes())[..16]);
        borrow(&objects, theirs)?;
        Ok(Some(Self { place: path.to_owned(), git_dir: git_dir.into(), objects }))
    }

    /// The repository that the user named.
    ///
    /// # Errors
    ///
    /// When it is none, and when git cannot be asked.
    pub fn open(path: &Path, context: &mut Context<'_>) -> Result<Self, Error> {
        let found = if path.is_dir() { Self::at(path, context)? } else { None };
        found.ok_or_else(|| Error::NotARepository { path: path.to_owned() })
    }

    /// Where the user said that it is.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// Whether `path` is the top of a checkout, and not a folder in somebody's repository.
    ///
    /// # Errors
    ///
    /// When git cannot be asked.
    pub fn is_top(&self, path: &Path, context: &mut Context<'_>) -> Result<bool, Error> {
        let top = self.ask(&["rev-parse", "--show-toplevel"], context)?;
        let top = top.and_then(|top| Path::new(top.trim_end()).canonicalize().ok());
        Ok(top.is_some() && top == path.canonicalize().ok())
    }

    /// A name for the repository that stays the same from build to build.
    pub fn origin(&self) -> String {
        self.git_dir.display().to_string()
    }

    /// The full hash of a commit, be it the user's or one of kiln's own; nothing if there is none.
    ///
    /// # Errors
    ///
    /// When git cannot be asked.
    pub fn resolve(&self, revision: &str, context: &mut Context<'_>) -> Result<Option<String>, Error> {
        let commit = format!("{revision}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        // Whatever git has against it, there is no such commit.
        let commit = match self.ask(&arguments, context) {
            Ok(commit) => commit,
            Err(Error::Git { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(commit.map(|commit| commit.trim().to_owned()).filter(|commit| is_hash(commit)))
    }

    /// The full hash of a commit that the user named.
    ///
    /// # Errors
    ///
    /// When there is no such commit, and when git cannot be asked.
    pub fn require(&self, revision: &str, context: &mut Context<'_>) -> Result<String, Error> {
        let commit = self.resolve(revision, context)?;
        let path = || self.place.clone();
        commit.ok_or_else(|| Error::NoSuchRevision { path: path(), revision: revision.to_owned() })
    }

    /// The tree of a commit, and the commit in words.
    ///
    /// # Errors
    ///
    /// When git cannot be asked.
    pub fn describe(&self, commit: &str, context: &mut Context<'_>) -> Result<(String, String), Error> {
        let tree = self.must(&["rev-parse", &format!("{commit}^{{tree}}")], context)?;
        let title =
            self.must(&["log", "-1", "--no-show-signature", "--format=%h \"%s\"", commit], context)?;
        Ok((tree.trim().to_owned(), title.trim().to_owned()))
    }

    /// The checkout as it lies on the disk, with changes and new files but without what git ignores, as
    /// the hash of a tree.
    ///
    /// # Errors
    ///
    /// When git cannot read the checkout.
    pub fn snapshot(&self, context: &mut Context<'_>) -> Result<String, Error> {
        context.progress(&format!("looking for changes in {}", self.place.display()));
        let scratch = context.store.scratch()?;
        let index = scratch.path().join("index");
        let theirs = self.file("index", context)?;
        if theirs.exists() && !self.hides_files(context)? {
            // It knows which files have not changed since they were last hashed.
            copy_with_date(&theirs, &index).map_err(Error::io("copy", &theirs))?;
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

    /// Which of these files and folders a tree does not have at its top.
    ///
    /// # Errors
    ///
    /// When git cannot be asked.
    pub fn lacking<'n>(
        &self,
        tree: &str,
        names: &[&'n str],
        context: &mut Context<'_>,
    ) -> Result<Vec<&'n str>, Error> {
        let arguments = [&["ls-tree", "--name-only", tree, "--"], names].concat();
        let found = self.ask(&arguments, context)?.unwrap_or_default();
        let found: Vec<&str> = found.lines().collect();
        Ok(names.iter().copied().filter(|name| !found.contains(name)).collect())
    }

    /// New files of the checkout that look like source and that git ignores; none where make has run, which leaves many.
    ///
    /// # Errors
    ///
    /// When git cannot be asked.
    pub fn ignored_source(&self, context: &mut Context<'_>) -> Result<Vec<String>, Error> {
        const SOURCE: [&str; 6] = ["*.c", "*.h", "*.S", "*.rs", "*Kconfig*", "*Makefile*"];
        if self.place.join(".config").exists() || self.place.join("include/generated").exists() {
            return Ok(Vec::new());
        }
        let arguments =
            [&["ls-files", "--others", "--ignored", "--exclude-standard", "--"], &SOURCE[..]].concat();
        Ok(self.ask(&arguments, context)?.unwrap_or_default().lines().map(str::to_string).collect())
    }

    /// Makes `work_tree` hold exactly `tree`; only files that differ are touched, so that make need not
    /// compile the others again.
    ///
    /// # Errors
    ///
    /// When git refuses, or the folder cannot be made.
    pub fn check_out(&self, tree: &str, work_tree: &Path, context: &mut Context<'_>) -> Result<(), Error> {
        fs::create_dir_all(work_tree).map_err(Error::io("make", work_tree))?;
        let index = work_tree.with_extension("index");
        self.with_index(&index, &["read-tree", "--reset", "-u", tree], work_tree, context)?;
        // What an interrupted checkout of something else left would be compiled in.
        self.with_index(&index, &["clean", "-ffdxq"], work_tree, context)?;
        Ok(())
    }

    /// Where git keeps a file of the repository, which need not be there.
    pub(crate) fn file(&self, name: &str, context: &mut Context<'_>) -> Result<PathBuf, Error> {
        let path = self.must(&["rev-parse", "--path-format=absolute", "--git-path", name], context)?;
        Ok(path.trim_end().into())
    }

    /// New objects are kiln's own, and those of before are seen.
    pub(crate) fn use_objects(&self, command: &mut Command) {
        command.env("GIT_OBJECT_DIRECTORY", &self.objects);
    }

    /// What git says of the repository and of kiln's own objects; nothing if it has no answer.
    pub(crate) fn ask(&self, arguments: &[&str], context: &mut Context<'_>) -> Result<Option<String>, Error> {
        answer(&self.place, arguments, |command| self.use_objects(command), context)
    }

    /// As [`Repository::ask`], where git has no reason to refuse.
    pub(crate) fn must(&self, arguments: &[&str], context: &mut Context<'_>) -> Result<String, Error> {
        self.ask(arguments, context)?.ok_or_else(|| refused(arguments, "git refused"))
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
        let done = answer(&self.place, arguments, options, context)?;
        done.ok_or_else(|| refused(arguments, "git refused"))
    }
}

/// Whether this is the full hash of an object: of SHA-1, or of SHA-256.
pub(crate) fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// git looks again at files that are no older than their index, as it may have missed a change to them.
fn copy_with_date(from: &Path, to: &Path) -> io::Result<()> {
    let date = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(date)
}

/// Makes a directory of objects that borrows from another: gitrepository-layout(5).
fn borrow(objects: &Path, theirs: &str) -> Result<(), Error> {
    let info = objects.join("info");
    fs::create_dir_all(&info).map_err(Error::io("make", &info))?;
    let alternates = info.join("alternates");
    let content = format!("{theirs}\n");
    // Another git may be reading it: it is never half written, nor written without need.
    if fs::read(&alternates).is_ok_and(|there| there == content.as_bytes()) {
        return Ok(());
    }
    host::write_atomically(&alternates, content.as_bytes()).map_err(Error::io("write", &alternates))
}

/// Runs git: its output, or nothing if it refused without a reason. A reason is an error, but for those
/// by which it says that there is no repository.
pub(crate) fn answer(
    place: &Path,
    arguments: &[&str],
    change: impl FnOnce(&mut Command),
    context: &mut Context<'_>,
) -> Result<Option<String>, Error> {
    let done = run(place, arguments, change, context)?;
    if done.output.len() >= OUTPUT_MAX {
        return Err(refused(arguments, "its output is too large"));
    }
    if done.success {
        return Ok(Some(done.output));
    }
    let complaint = done.complaint.trim();
    let none = complaint.is_empty() || complaint.contains("not a git repository");
    if none { Ok(None) } else { Err(refused(arguments, complaint)) }
}

/// Runs git to its end, however that is, safe from what the user's configuration and variables say.
pub(crate) fn run(
    place: &Path,
    arguments: &[&str],
    change: impl FnOnce(&mut Command),
    context: &mut Context<'_>,
) -> Result<Finished, Error> {
    Ok(task(place, arguments, change, context).run(&mut || {})?)
}

/// git, as [`run`] runs it.
pub(crate) fn task<'c>(
    place: &Path,
    arguments: &[&str],
    change: impl FnOnce(&mut Command),
    context: &Context<'c>,
) -> Task<'c> {
    let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
    let all: Vec<&str> = settings.chain(arguments.iter().copied()).collect();
    let task = Task::new("git", &all, context.interrupt).within(place).limit(LIMIT);
    task.with(forget_users_variables).with(change)
}

/// A hook that calls kiln, for one, has variables that name its own repository.
pub(crate) fn forget_users_variables(command: &mut Command) {
    let is_gits = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_gits(name)) {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
}

/// The error for what git complained about.
pub(crate) fn refused(arguments: &[&str], complaint: &str) -> Error {
    let action = arguments.first().copied().unwrap_or_default();
    Error::Git { action: format!("git {action}"), reason: reason(complaint).to_owned() }
}

/// The line of git's standard error that says why it refuses.
#[must_use]
pub fn reason(complaint: &str) -> &str {
    let is_reason = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
    let mut lines = complaint.lines().filter(|line| !line.trim().is_empty());
    let first = lines.clone().next().unwrap_or_default();
    let cause = lines.clone().zip(lines.clone().skip(1)).find(|(_, next)| *next == UNREADABLE);
    cause.map(|(cause, _)| cause).or_else(|| lines.rfind(is_reason)).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_cause_and_no_hint() {
        let hint = "\nPlease make sure you have the correct access rights\nand the repository exists.\n";
        for cause in
            ["fatal: '/x' does not appear to be a git repository", "ssh: Could not resolve hostname x"]
        {
            assert_eq!(reason(&format!("{cause}\n{UNREADABLE}\n{hint}")), cause);
        }
        assert_eq!(reason(&format!("{UNREADABLE}\n{hint}")), UNREADABLE);
        let rejected = "error: failed to push some refs to '/x'";
        let pushed =
            format!("To /x\n ! [rejected]  a -> a (fetch first)\n{rejected}\nhint: Updates were rejected\n");
        assert_eq!(reason(&pushed), rejected);
        assert_eq!(reason("\nkilled\nlater\n"), "killed");
        assert_eq!(reason(""), "");
    }
}
