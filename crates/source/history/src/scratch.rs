//! Where trees are changed that nobody has checked out.
//!
//! It is a git directory with an index and nothing of the user's: no configuration, no attributes and no
//! hooks, which could name programs. Objects are read from the user's repository and written to kiln's own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use host::task::Finished;
use kernel::Context;
use kernel::store::Scratch;

use crate::Error;
use crate::git::{self, Repository};

/// Who made what nobody wrote.
const NAME: &str = "kiln";
const MAIL: &str = "kiln@localhost";

/// Most lines of configuration about remotes.
const REMOTES_MAX: usize = 300;

/// A git directory for as long as something is made in it.
pub(crate) struct ScratchRepository<'a> {
    repository: &'a Repository,
    directory: Scratch,
    /// From where a partial clone fetches what it lacks, as names and values of its configuration.
    remotes: Vec<(String, String)>,
}

/// A commit that is to be made. The same draft gives the same hash.
pub(crate) struct Draft<'a> {
    pub(crate) tree: &'a str,
    pub(crate) parent: Option<&'a str>,
    pub(crate) message: &'a [u8],
    /// Who wrote it, if somebody did.
    pub(crate) author: Option<Author<'a>>,
    /// When it is said to be committed, in git's own form. Commits should not be older than their parents:
    /// git would walk all of history to be sure.
    pub(crate) date: &'a str,
}

/// Who wrote a commit, and when.
#[derive(Clone, Copy)]
pub(crate) struct Author<'a> {
    pub(crate) name: &'a str,
    pub(crate) mail: &'a str,
    /// In git's own form.
    pub(crate) date: &'a str,
}

impl<'a> ScratchRepository<'a> {
    pub(crate) fn open(repository: &'a Repository, context: &mut Context<'_>) -> Result<Self, Error> {
        let directory = context.store.scratch()?;
        let format = repository.must(&["rev-parse", "--show-object-format"], context)?;
        let scratch = Self { repository, directory, remotes: remotes(repository, context)? };
        // The least that makes a repository: gitrepository-layout(5).
        let refs = scratch.path("refs");
        fs::create_dir(&refs).map_err(Error::io("make", &refs))?;
        scratch.write("HEAD", b"ref: refs/heads/none\n")?;
        let format = format.trim();
        let version = "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n";
        let config = format!("{version}[extensions]\n\tobjectFormat = {format}\n");
        scratch.write("config", config.as_bytes())?;
        Ok(scratch)
    }

    /// Whether objects may have to be fetched.
    pub(crate) fn is_partial(&self) -> bool {
        self.remotes.iter().any(|(name, _)| name.ends_with(".promisor"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        let path = self.path(name);
        fs::write(&path, content).map_err(Error::io("write", &path))
    }

    /// Runs git here, to whatever end.
    pub(crate) fn run(
        &self,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
        context: &mut Context<'_>,
    ) -> Result<Finished, Error> {
        let alone = |command: &mut Command| {
            self.repository.use_objects(command);
            command.env("GIT_DIR", self.directory.path()).env("GIT_ATTR_NOSYSTEM", "1");
            command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
            command.env("GIT_CONFIG_COUNT", self.remotes.len().to_string());
            for (number, (name, value)) in self.remotes.iter().enumerate() {
                command.env(format!("GIT_CONFIG_KEY_{number}"), name);
                command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
            }
            change(command);
        };
        git::run(self.directory.path(), arguments, alone, context)
    }

    /// Runs git where it has no reason to refuse: its output, without the last line's end.
    pub(crate) fn must(
        &self,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
        context: &mut Context<'_>,
    ) -> Result<String, Error> {
        let done = self.run(arguments, change, context)?;
        if done.success {
            Ok(done.output.trim_end().to_owned())
        } else {
            Err(git::refused(arguments, &done.complaint))
        }
    }

    /// Makes a commit: its hash.
    pub(crate) fn commit(&self, draft: &Draft<'_>, context: &mut Context<'_>) -> Result<String, Error> {
        self.write("message", draft.message)?;
        let mut arguments = vec!["commit-tree", draft.tree, "-F", "message"];
        arguments.extend(draft.parent.iter().flat_map(|&parent| ["-p", parent]));
        let author = draft.author.unwrap_or(Author { name: NAME, mail: MAIL, date: draft.date });
        let people = |command: &mut Command| {
            command.env("GIT_AUTHOR_NAME", author.name).env("GIT_AUTHOR_EMAIL", author.mail);
            command.env("GIT_AUTHOR_DATE", author.date);
            command.env("GIT_COMMITTER_NAME", NAME).env("GIT_COMMITTER_EMAIL", MAIL);
            command.env("GIT_COMMITTER_DATE", draft.date);
        };
        self.must(&arguments, people, context)
    }

    /// When a commit was committed, in git's own form.
    pub(crate) fn date_of(&self, commit: &str, context: &mut Context<'_>) -> Result<String, Error> {
        let log = ["log", "-1", "--no-show-signature", "--format=%ct", commit];
        Ok(format!("@{} +0000", self.repository.must(&log, context)?.trim()))
    }
}

/// What git has to know of the remotes of a partial clone; nothing of it names a program.
fn remotes(repository: &Repository, context: &mut Context<'_>) -> Result<Vec<(String, String)>, Error> {
    let names = r"^remote\..*\.(url|promisor|partialclonefilter)$";
    let listed = repository.ask(&["config", "-z", "--get-regexp", names], context)?.unwrap_or_default();
    let pairs = listed.split_terminator('\0').filter_map(|entry| entry.split_once('\n'));
    Ok(pairs.take(REMOTES_MAX).map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}
