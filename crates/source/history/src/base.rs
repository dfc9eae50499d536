//! On which commit a series was made.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Component, Path};
use std::process::Command;

use kernel::Context;
use series::Preimage;

use crate::Error;
use crate::git::{Repository, refused, run};

/// How many days before a series commits are looked at, unless the user says otherwise, as with b4.
pub const DAYS: u32 = 14;

/// Most commits that are tried, and most files of a commit that are looked up.
const CANDIDATES_MAX: usize = 200;
const LOOKUPS_MAX: usize = 200_000;

/// Longest path, in bytes: PATH_MAX of Linux.
const PATH_MAX: usize = 4096;

/// Bytes of all paths that git is asked about at a time: Linux has 128 KiB for one argument, and 2 MiB for all.
const PATHS_MAX: usize = 64 << 10;

const DAY: i64 = 24 * 60 * 60;

/// What is known of a series whose base is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clues<'a> {
    /// The base that it names.
    pub stated: Option<&'a str>,
    /// The files that it expects.
    pub files: &'a [Preimage],
    /// When it was sent, in seconds since 1970; 0 if nobody knows.
    pub sent: i64,
    /// Where its base may be.
    pub branches: &'a [String],
    /// How many days before it commits are looked at.
    pub days: u32,
}

/// Where a series begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The full hash.
    pub commit: String,
    /// As git describes it.
    pub name: String,
    /// Why this one.
    pub reason: Reason,
}

/// Why a commit is taken for the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The series names it.
    Stated,
    /// Of so many files that the series expects, so many are in this commit.
    Matching {
        /// How many are there.
        found: usize,
        /// How many are expected.
        of: usize,
    },
}

/// Finds the base of a series: the one that it names; or the newest commit of the branches at the time, if that has all files that
/// the series expects; or the commit shortly before that has most of them. A base that is named and missing is not replaced.
///
/// # Errors
///
/// When `tree` is no repository or lacks a branch; [`Error::NoBase`] when no commit has a file that the series expects;
/// [`Error::BaseIsMissing`] when the tree lacks the base that the series names.
pub fn base(tree: &Path, clues: &Clues<'_>, context: &mut Context<'_>) -> Result<Base, Error> {
    let repository = Repository::open(tree, context)?;
    if let Some(stated) = clues.stated {
        return match repository.resolve(stated, context)? {
            Some(commit) => described(&repository, commit, Reason::Stated, context),
            None => {
                let remotes = remotes(&repository, context)?;
                Err(Error::BaseIsMissing { commit: stated.to_owned(), remotes })
            }
        };
    }
    let tips = tips(&repository, clues, context)?;
    let files = possible(clues.files);
    let (mut best, mut found) = repository.best(&tips, &files, context)?;
    if found < clues.files.len() {
        let nearby = nearby(&repository, &Clues { files: &files, ..*clues }, context)?;
        let (other, more) = repository.best(&nearby, &files, context)?;
        if more > found {
            (best, found) = (other, more);
        }
    }
    let (Some(commit), true) = (best, found > 0 || clues.files.is_empty()) else {
        return Err(Error::NoBase { path: tree.to_owned(), days: clues.days });
    };
    described(&repository, commit, Reason::Matching { found, of: clues.files.len() }, context)
}

fn described(
    repository: &Repository,
    commit: String,
    reason: Reason,
    context: &mut Context<'_>,
) -> Result<Base, Error> {
    let name = repository.ask(&["describe", "--tags", "--always", &commit], context)?;
    let name = name.map_or_else(|| commit.clone(), |name| name.trim().to_owned());
    Ok(Base { commit, name, reason })
}

/// The newest commit of each branch when the series was sent.
fn tips(repository: &Repository, clues: &Clues<'_>, context: &mut Context<'_>) -> Result<Vec<String>, Error> {
    let mut tips = Vec::new();
    for branch in clues.branches {
        let tip = repository.require(branch, context)?;
        let until = format!("--until={}", clues.sent);
        let mut arguments = vec!["rev-list", "-1"];
        arguments.extend((clues.sent > 0).then_some(until.as_str()));
        arguments.push(&tip);
        let found = repository.must(&arguments, context)?;
        tips.extend(found.lines().next().map(str::to_owned));
    }
    Ok(tips)
}

/// Commits shortly before the series that have given a file the content that it expects, or have taken that away next.
fn nearby(
    repository: &Repository,
    clues: &Clues<'_>,
    context: &mut Context<'_>,
) -> Result<Vec<String>, Error> {
    let (since, until) =
        (format!("--since={}", clues.sent - i64::from(clues.days) * DAY), format!("--until={}", clues.sent));
    let mut arguments = vec!["-c", "core.quotePath=false", "log", "--no-show-signature"];
    // An order of files that the user has configured may lie in a file that is not there.
    arguments.extend(["--format=%x00%H %P", "--raw", "--no-abbrev", "--no-renames", "-O/dev/null"]);
    if clues.sent > 0 {
        arguments.extend([since.as_str(), until.as_str()]);
    }
    arguments.extend(clues.branches.iter().map(String::as_str));
    arguments.push("--");
    let paths = pathspecs(clues.files);
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    arguments.extend(paths.iter().map(String::as_str));
    context.progress("looking for the base of the series");
    let log = repository.must(&arguments, context)?;
    let mut found: Vec<String> = Vec::new();
    for commit in log.split('\0').filter(|commit| !commit.is_empty()) {
        found.extend(candidates(commit, clues.files));
    }
    found.dedup();
    found.truncate(CANDIDATES_MAX);
    Ok(found)
}

/// Files that a tree can have: git refuses to be asked about others.
fn possible(files: &[Preimage]) -> Vec<Preimage> {
    let is_below = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let fits = |path: &str| path.len() < PATH_MAX && !path.contains(['\n', '\0']);
    files.iter().filter(|file| is_below(&file.path) && fits(&file.path)).cloned().collect()
}

/// Files as git is asked about them: as many as a command line holds.
fn pathspecs(files: &[Preimage]) -> Vec<String> {
    let mut left = PATHS_MAX;
    let specs = files.iter().map(|file| format!(":(literal,top){}", file.path));
    specs
        .filter(|spec| match left.checked_sub(spec.len()) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
        .collect()
}

/// A commit after which a file is as it is expected, and the parent of one before which it is.
fn candidates(commit: &str, files: &[Preimage]) -> Vec<String> {
    let mut lines = commit.lines();
    let mut hashes = lines.next().unwrap_or_default().split(' ');
    let (own, parent) = (hashes.next().unwrap_or_default(), hashes.next().unwrap_or_default());
    let (mut after, mut before) = (false, false);
    for line in lines.filter_map(|line| line.strip_prefix(':')) {
        let Some((fields, path)) = line.split_once('\t') else { continue };
        let Some(file) = files.iter().find(|file| file.path == path) else { continue };
        let mut fields = fields.split(' ').skip(2);
        let mut is_expected = || fields.next().is_some_and(|hash| hash.starts_with(&file.blob));
        before |= is_expected();
        after |= is_expected();
    }
    let own = after.then(|| own.to_owned());
    own.into_iter().chain((before && !parent.is_empty()).then(|| parent.to_owned())).collect()
}

impl Repository {
    /// The first of the commits with most of the files, and how many it has.
    fn best(
        &self,
        commits: &[String],
        files: &[Preimage],
        context: &mut Context<'_>,
    ) -> Result<(Option<String>, usize), Error> {
        let commits: Vec<&String> = commits.iter().take(LOOKUPS_MAX / files.len().max(1)).collect();
        let names: String = commits
            .iter()
            .flat_map(|commit| files.iter().map(move |file| format!("{commit}:{}\n", file.path)))
            .collect();
        let hashes = self.hashes(&names, context)?;
        let mut best: (Option<String>, usize) = (None, 0);
        let rows = hashes.chunks(files.len().max(1)).map(Some).chain(std::iter::repeat(None));
        for (commit, row) in commits.into_iter().zip(rows) {
            let is_there = |(hash, file): (&String, &Preimage)| hash.starts_with(&file.blob);
            let found = row.map_or(0, |row| {
                row.iter().zip(files).filter(|&(hash, file)| is_there((hash, file))).count()
            });
            if best.0.is_none() || found > best.1 {
                best = (Some(commit.clone()), found);
            }
        }
        Ok(best)
    }

    /// The hash of each object, a name in each line; empty where there is none.
    fn hashes(&self, names: &str, context: &mut Context<'_>) -> Result<Vec<String>, Error> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let io = |error| kernel::Error::io("write", &std::env::temp_dir())(error);
        let mut list: File = tempfile::tempfile().map_err(io)?;
        list.write_all(names.as_bytes()).and_then(|()| list.rewind()).map_err(io)?;
        let arguments = ["cat-file", "--batch-check=%(objectname)"];
        let reads = |command: &mut Command| {
            self.use_objects(command);
            command.stdin(list);
        };
        let done = run(self.place(), &arguments, reads, context)?;
        if !done.success {
            return Err(refused(&arguments, &done.complaint));
        }
        let hash = |line: &str| if line.contains(' ') { String::new() } else { line.to_owned() };
        Ok(done.output.lines().map(hash).collect())
    }
}

/// Where commits may be fetched from.
fn remotes(repository: &Repository, context: &mut Context<'_>) -> Result<Vec<String>, Error> {
    Ok(repository.ask(&["remote"], context)?.unwrap_or_default().lines().map(str::to_owned).collect())
}
