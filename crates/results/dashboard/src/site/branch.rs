//! A site as a branch of a git repository: each change of it is a commit.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host::Task;
use kernel::files::hash;

use super::folder::{MANIFEST, io};
use super::{Published, SiteError, publish};
use crate::store::Folders;

/// How long git may take for one step: a repository may be far away.
const LIMIT: Duration = Duration::from_secs(600);

/// The branch as it was fetched.
const FETCHED: &str = "refs/kiln/site";

/// What a user's configuration could do to files that are published as they are.
const SETTINGS: [&str; 4] =
    ["core.hooksPath=/dev/null", "core.autocrlf=false", "core.attributesFile=/dev/null", "gc.auto=0"];

/// The branch, with a repository of kiln's own in which its commits are made.
#[derive(Debug)]
pub(super) struct Branch<'a> {
    repository: &'a str,
    branch: &'a str,
    /// Kiln's own repository, and the files in it.
    place: PathBuf,
    files: PathBuf,
    /// The commit that the branch leads to, if there is the branch.
    tip: Option<String>,
    interrupt: &'a AtomicBool,
    /// Nobody else publishes there as long as this lives.
    _lock: File,
}

impl<'a> Branch<'a> {
    /// Fetches the branch. What is in it must be kiln's.
    pub(super) fn open(
        repository: &'a str,
        branch: &'a str,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, SiteError> {
        let key = hash(format!("{repository}@{branch}").as_bytes());
        let place = host::state_folder().join("sites").join(&key[..16]);
        let files = place.join("files");
        std::fs::create_dir_all(&files).map_err(io(&files))?;
        let lock = File::create(place.join("lock")).map_err(io(&place))?;
        lock.lock().map_err(io(&place))?;
        let mut opened = Self { repository, branch, place, files, tip: None, interrupt, _lock: lock };
        opened.git(&["init", "--quiet", "--bare"])?;
        let wrong = |_| SiteError::Branch { name: branch.to_owned() };
        opened.git(&["check-ref-format", &format!("refs/heads/{branch}")]).map_err(wrong)?;
        opened.fetch()?;
        Ok(opened)
    }

    /// Makes the site, and a commit of it if it changed.
    pub(super) fn publish(&self, folders: Folders) -> Result<Published, SiteError> {
        let published = publish(folders, &self.files)?;
        self.git(&["--work-tree=.", "add", "--all", "--force", "."])?;
        let tree = self.git(&["write-tree"])?;
        let before = format!("{FETCHED}^{{tree}}");
        if self.tip.is_some() && self.git(&["rev-parse", &before])? == tree {
            return Ok(published);
        }
        let mut words = vec!["commit-tree", "-m", "site: publish what kiln concluded", tree.as_str()];
        if let Some(tip) = &self.tip {
            words.extend(["-p", tip]);
        }
        let commit = self.git(&words)?;
        // Without force: if somebody else was faster, nothing of theirs is lost.
        let update = format!("{commit}:refs/heads/{}", self.branch);
        self.git(&["push", "--quiet", "--", self.repository, &update])?;
        Ok(published)
    }

    fn fetch(&mut self) -> Result<(), SiteError> {
        let name = format!("refs/heads/{}", self.branch);
        let listed = self.git(&["ls-remote", "--", self.repository, &name])?;
        if listed.is_empty() {
            return Ok(());
        }
        let refspec = format!("+{name}:{FETCHED}");
        self.git(&["fetch", "--quiet", "--depth=1", "--no-tags", "--", self.repository, &refspec])?;
        self.tip = Some(self.git(&["rev-parse", FETCHED])?);
        let manifest = self.git(&["ls-tree", "--name-only", FETCHED, MANIFEST])?;
        if manifest.is_empty() {
            return Err(SiteError::Foreign { place: format!("{}@{}", self.repository, self.branch) });
        }
        Ok(())
    }

    /// What git says.
    fn git(&self, words: &[&str]) -> Result<String, SiteError> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
        let all: Vec<&str> = settings.chain(words.iter().copied()).collect();
        let task = Task::new("git", &all, self.interrupt).within(&self.files).limit(LIMIT);
        let done = task.with(|command| self.arrange(command)).run(&mut || {})?;
        if done.success {
            return Ok(done.output.trim_end().to_owned());
        }
        Err(SiteError::Git(history::reason(&done.complaint).trim_start_matches("fatal: ").to_owned()))
    }

    /// A commit needs an author, and kiln may run where git knows none; a call of git may be around this one.
    fn arrange(&self, command: &mut Command) {
        command.env_remove("GIT_OBJECT_DIRECTORY").env("GIT_TERMINAL_PROMPT", "0");
        command.env_remove("GIT_WORK_TREE").env("GIT_DIR", &self.place);
        command.env("GIT_INDEX_FILE", self.place.join("index"));
        for of in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{of}_NAME"), "kiln").env(format!("GIT_{of}_EMAIL"), "kiln@localhost");
        }
    }
}
