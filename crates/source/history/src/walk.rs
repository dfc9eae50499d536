//! The commits between two ends, as git walks them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use kernel::Context;

use crate::Error;
use crate::git::Repository;

/// Most commits of a walk: two releases of Linux, merges included.
pub const COMMITS_MAX: usize = 32_768;

/// What narrows a walk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Only commits that touch one of these count: pathspecs of git, from the folder that names the tree.
    pub paths: Vec<String>,
    /// Merges count as one change: of their parents only the first is followed.
    pub first_parent: bool,
}

/// The commits that are in the bad end's history and not in the good one's; parents come before children.
///
/// The last commit is the only one without a child: the bad end, or the last one before it that touches the
/// paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// Full hashes.
    pub commits: Vec<String>,
    /// The first line of each commit's message.
    pub subjects: Vec<String>,
    /// The parents of each commit that are in the walk, by their number in it, which is smaller than its own.
    /// With paths these are the nearest ancestors that touch them.
    pub parents: Vec<Vec<usize>>,
    /// The full hash of the good end.
    pub good: String,
    /// The full hash of the bad end.
    pub bad: String,
    /// Where the two ends parted, if the good one is no ancestor of the bad one. The walk then takes for
    /// granted that all of these are good; where one is bad, the good end has a fix of its own.
    /// Histories that crossed have more than one. Otherwise it is empty.
    pub merge_bases: Vec<String>,
}

/// Walks from `good`, exclusive, to `bad`, inclusive, in the repository at `tree`.
///
/// # Errors
///
/// [`Error`] when the ends are equal, swapped, unrelated or too far apart, when the repository lacks
/// what lies between them, and when nothing touches the paths; when `tree` is no repository or lacks an end.
pub fn walk(
    tree: &Path,
    good: &str,
    bad: &str,
    limits: &Limits,
    context: &mut Context<'_>,
) -> Result<Walk, Error> {
    let repository = Repository::open(tree, context)?;
    context.progress(&format!("walking the history from {good} to {bad}"));
    let good_hash = repository.require(good, context)?;
    let bad_hash = repository.require(bad, context)?;
    let range = Range {
        repository,
        good: End { name: good, hash: good_hash },
        bad: End { name: bad, hash: bad_hash },
    };
    let merge_bases = range.merge_bases(context)?;
    range.require_whole(context)?;
    let listed = range.list(limits, context)?;
    let mut walk = Walk {
        commits: Vec::new(),
        subjects: Vec::new(),
        parents: Vec::new(),
        good: range.good.hash.clone(),
        bad: range.bad.hash.clone(),
        merge_bases,
    };
    walk.read(&listed);
    match walk.commits.len() {
        0 => Err(range.untouched(limits)),
        1..=COMMITS_MAX => Ok(walk),
        _ => Err(Error::TooMany { limit: COMMITS_MAX, good: good.to_owned(), bad: bad.to_owned() }),
    }
}

/// A commit, and what it was called.
struct End<'a> {
    name: &'a str,
    hash: String,
}

/// What lies between two ends.
struct Range<'a> {
    repository: Repository,
    good: End<'a>,
    bad: End<'a>,
}

impl Range<'_> {
    /// What the good end and the bad end were called.
    fn names(&self) -> [String; 2] {
        [&self.good, &self.bad].map(|end| end.name.to_owned())
    }

    /// Those besides the good end itself; the ends must be related, and the right way round.
    fn merge_bases(&self, context: &mut Context<'_>) -> Result<Vec<String>, Error> {
        let [good, bad] = self.names();
        if self.good.hash == self.bad.hash {
            return Err(Error::Equal { good, bad });
        }
        let found =
            self.repository.ask(&["merge-base", "--all", &self.good.hash, &self.bad.hash], context)?;
        let found = found.unwrap_or_default();
        let bases: Vec<&str> = found.lines().collect();
        match bases.as_slice() {
            [] if self.is_shallow(context)? => Err(self.shallow()),
            [] => Err(Error::Unrelated { good, bad }),
            [base] if *base == self.bad.hash => Err(Error::Swapped { good, bad }),
            [base] if *base == self.good.hash => Ok(Vec::new()),
            several => Ok(several.iter().map(|&base| base.to_owned()).collect()),
        }
    }

    fn is_shallow(&self, context: &mut Context<'_>) -> Result<bool, Error> {
        Ok(self.repository.must(&["rev-parse", "--is-shallow-repository"], context)?.trim() == "true")
    }

    fn shallow(&self) -> Error {
        let [good, bad] = self.names();
        Error::Shallow { path: self.repository.place().to_owned(), good, bad }
    }

    /// Refuses a range in which history was cut off: what lies beyond would look as if it were good.
    fn require_whole(&self, context: &mut Context<'_>) -> Result<(), Error> {
        if !self.is_shallow(context)? {
            return Ok(());
        }
        let file = self.repository.file("shallow", context)?;
        let cut = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let roots = ["rev-list", "--max-parents=0", &self.bad.hash, "--not", &self.good.hash];
        let roots = self.repository.must(&roots, context)?;
        let is_cut = |root: &str| cut.lines().any(|line| line == root);
        if roots.lines().any(is_cut) { Err(self.shallow()) } else { Ok(()) }
    }

    /// Commits with their parents, each followed by its subject behind a tab; one more than is allowed.
    fn list(&self, limits: &Limits, context: &mut Context<'_>) -> Result<String, Error> {
        let most = format!("--max-count={}", COMMITS_MAX + 1);
        let good = format!("^{}", self.good.hash);
        let mut arguments = vec!["rev-list", "--topo-order", "--reverse", "--parents"];
        arguments.extend(["--format=%x09%s", &most]);
        arguments.extend(limits.first_parent.then_some("--first-parent"));
        arguments.extend([&self.bad.hash, &good, "--"]);
        arguments.extend(limits.paths.iter().map(String::as_str));
        let listed = self.repository.must(&arguments, context);
        listed.map_err(|error| match error {
            Error::Git { reason, .. } if !limits.paths.is_empty() => {
                Error::Paths { paths: limits.paths.join(", "), reason }
            }
            error => error,
        })
    }

    fn untouched(&self, limits: &Limits) -> Error {
        let [good, bad] = self.names();
        Error::Untouched { good, bad, paths: limits.paths.join(", ") }
    }
}

impl Walk {
    /// Takes in what git rev-list printed.
    fn read(&mut self, listed: &str) {
        let mut numbers = HashMap::new();
        for line in listed.lines() {
            if let Some(subject) = line.strip_prefix('\t') {
                if let Some(last) = self.subjects.last_mut() {
                    subject.clone_into(last);
                }
            } else if let Some(hashes) = line.strip_prefix("commit ") {
                let mut hashes = hashes.split(' ');
                let Some(commit) = hashes.next() else { continue };
                // Parents that are not there are in the good end's history.
                self.parents.push(hashes.filter_map(|hash| numbers.get(hash).copied()).collect());
                numbers.insert(commit, self.commits.len());
                self.commits.push(commit.to_owned());
                self.subjects.push(String::new());
            }
        }
    }
}
