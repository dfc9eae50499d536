//! Keeps what kiln leaves on the disk within budgets, from the oldest on.
//!
//! * [`sessions`]: what passed goes first, then dumps of memory, then failures; [`folders`]: all else goes by age alone
//! * [`hold`]: sessions that somebody still needs

mod folders;
mod hold;
mod sessions;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::artefacts::FOLDER;
use crate::evidence::HALF;
use crate::files::files;
use crate::{bisections_root, checks_root, default_root, figures_root, traces_root};
pub use hold::Hold;
pub(crate) use hold::is_held;

/// Less free space than this is worth a word, in MiB.
const LITTLE_MIB: u64 = 2 << 10;

/// How the name of a folder begins that is being removed.
const REMOVED: &str = ".removed-";

/// Nobody takes so long to restore a session.
const HALF_AGE: Duration = Duration::from_secs(60 * 60);

/// What is kept within a budget of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Folders of sessions.
    Sessions,
    /// Folders of measurements and comparisons.
    Figures,
    /// Folders of bisections.
    Bisections,
    /// Folders of checks of patches.
    Checks,
    /// Folders of recordings of this host.
    Traces,
}

/// What may be kept.
#[derive(Debug, Clone, Copy)]
struct Limits {
    bytes: u64,
    folders: usize,
}

/// What is kept within a budget, and what it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// What it is.
    pub name: &'static str,
    /// Where it is.
    pub root: PathBuf,
    /// How many folders it has.
    pub folders: usize,
    /// What they take, in bytes.
    pub bytes: u64,
    /// What they may take, in bytes.
    pub limit: u64,
}

impl Budget {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Sessions, Self::Figures, Self::Bisections, Self::Checks, Self::Traces];

    /// What it takes.
    #[must_use]
    pub fn usage(self) -> Usage {
        let root = self.root();
        let folders = std::fs::read_dir(&root).into_iter().flatten().flatten();
        let is_own = |entry: &std::fs::DirEntry| {
            entry.path().is_dir() && !entry.file_name().to_string_lossy().starts_with('.')
        };
        let own: Vec<_> = folders.filter(is_own).filter(|entry| entry.file_name() != FOLDER).collect();
        let bytes = own.iter().flat_map(|entry| files(&entry.path())).map(|(_, bytes)| bytes).sum();
        Usage { name: self.name(), folders: own.len(), bytes, limit: self.limits().bytes, root }
    }

    /// Removes what is beyond the budget where it is kept by default; gives the bytes that were freed.
    #[must_use]
    pub fn enforce(self) -> u64 {
        self.keep_within(&self.root(), self.limits())
    }

    fn limits(self) -> Limits {
        let (gib, folders) = match self {
            Self::Sessions => (8, 2_000),
            Self::Figures => (2, 2_000),
            Self::Bisections => (4, 1_000),
            Self::Checks => (4, 2_000),
            Self::Traces => (8, 200),
        };
        Limits { bytes: gib << 30, folders }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Figures => "measurements",
            Self::Bisections => "bisections",
            Self::Checks => "checks",
            Self::Traces => "traces",
        }
    }

    /// Where they are kept by default.
    fn root(self) -> PathBuf {
        match self {
            Self::Sessions => default_root(),
            Self::Figures => figures_root(),
            Self::Bisections => bisections_root(),
            Self::Checks => checks_root(),
            Self::Traces => traces_root(),
        }
    }

    /// Before something is added to `root`: removes what is beyond the budget, unless the folder is one that the user
    /// chose. Gives what is worth knowing about that and about the space that is left.
    #[must_use]
    pub fn make_room(self, root: &Path) -> Vec<String> {
        let is_own = same(root, &self.root());
        let freed = if is_own { self.keep_within(root, self.limits()) } else { 0 };
        let (place, name, budget) = (root.display(), self.name(), self.limits().bytes >> 30);
        let removed = (freed > 0).then(|| {
            let mib = freed.div_ceil(1 << 20);
            format!("removed {mib} MiB of old {name} to stay within {budget} GiB in {place}")
        });
        let little = host::free_mib(root).filter(|free| *free < LITTLE_MIB).map(|mib| {
            let remedy =
                if is_own { "`kiln kernels prune` makes room" } else { "choose another with --results" };
            format!("only {mib} MiB are free for {place}: {remedy}")
        });
        removed.into_iter().chain(little).collect()
    }

    /// The bytes that were freed.
    fn keep_within(self, root: &Path, limits: Limits) -> u64 {
        clear_remains(root);
        match self {
            Self::Sessions => sessions::keep_within(root, limits),
            Self::Figures | Self::Bisections | Self::Checks | Self::Traces => {
                folders::keep_within(root, limits)
            }
        }
    }
}

fn same(one: &Path, other: &Path) -> bool {
    let absolute = |path| std::path::absolute(path).ok();
    absolute(one).is_some_and(|one| Some(one) == absolute(other))
}

/// Removes a folder below `root`; gives how many of its `bytes` that freed.
fn remove(root: &Path, directory: &Path, bytes: u64) -> u64 {
    // Half a folder is none: what is removed has another name first.
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let removed = root.join(format!("{REMOVED}{name}"));
    match std::fs::rename(directory, &removed) {
        Ok(()) => {
            let _ = std::fs::remove_dir_all(removed);
            bytes.max(1)
        }
        Err(_) => 0,
    }
}

/// What an earlier kiln began to remove, or did not finish to restore.
fn clear_remains(root: &Path) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let is_old = || {
            let changed = entry.metadata().and_then(|found| found.modified()).ok();
            changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|age| age > HALF_AGE)
        };
        let name = entry.file_name();
        let begins = |prefix: &str| name.to_str().is_some_and(|name| name.starts_with(prefix));
        if begins(REMOVED) || begins(HALF) && is_old() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_removed_from_a_folder_that_the_user_chose() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(format!("{REMOVED}x"));
        std::fs::create_dir(&folder).unwrap();
        for budget in Budget::ALL {
            assert!(budget.make_room(root.path()).len() <= 1);
            assert!(same(&budget.root(), &budget.root().join(".")) && !same(&budget.root(), root.path()));
        }
        assert!(folder.exists());
        assert!(Budget::Sessions.make_room(Path::new("/no/such/place")).len() <= 1);
    }
}
