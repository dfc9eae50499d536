//! Commits of a git repository, and patches of a series.

use std::path::{Path, PathBuf};
use std::time::Duration;

use history::{self, Change, Limits, Walk};
use kernel::{Context, Locator};
use verdict::bisection::Order;

use super::{Axis, Build, Subject, quietly};
use crate::candidate::{Candidate, Kind};
use crate::error::Error;
use crate::point::Point;

/// A build that goes on from one of a neighbour.
const EFFORT: Duration = Duration::from_secs(120);

/// Digits of a commit that are shown.
const SHOWN: usize = 12;

/// A note for whoever searches in patches that came by mail.
pub const STRANGERS: &str = "building the patches runs code of their senders: without a network, and without your files in /tmp and the home directory, if this host allows namespaces";

/// Commits with a Kernel after each.
#[derive(Debug)]
pub struct History<'a> {
    kind: Kind,
    /// As it was typed.
    tree: PathBuf,
    /// Where it is.
    place: PathBuf,
    first: String,
    last: String,
    note: Option<String>,
    commits: Vec<String>,
    parents: Vec<Vec<usize>>,
    candidates: Vec<Candidate>,
    build: Build<'a>,
}

/// Which commits of a repository are walked.
#[derive(Debug, Clone, Copy)]
pub struct Range<'r> {
    /// The first end.
    pub first: &'r str,
    /// The last end.
    pub last: &'r str,
    /// What narrows the walk.
    pub limits: &'r Limits,
}

impl<'a> History<'a> {
    /// The commits that are in the last end and not in the first.
    ///
    /// # Errors
    ///
    /// When they are no ends of one history.
    pub fn commits(
        tree: &Path,
        range: &Range<'_>,
        build: Build<'a>,
        context: &mut Context<'_>,
    ) -> Result<Self, Error> {
        let Range { first, last, limits } = range;
        let place = place(tree);
        let walk = history::walk(&place, first, last, limits, context)?;
        let start = start(&walk, first, last)?;
        let named = walk.commits.iter().zip(&walk.subjects);
        let candidates = named.map(|(commit, subject)| candidate(commit, subject)).collect();
        Ok(Self {
            kind: Kind::Commits,
            tree: tree.to_owned(),
            place,
            first: start,
            note: note(&walk, first, last),
            last: walk.bad,
            commits: walk.commits,
            parents: walk.parents,
            candidates,
            build,
        })
    }

    /// What the user should know about the first end.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The commit of the first end: that before all candidates.
    #[must_use]
    pub fn first(&self) -> &str {
        &self.first
    }

    /// The patches of a mail or a folder, one after the other on `base`.
    ///
    /// # Errors
    ///
    /// When there are none, or they do not apply.
    pub fn series(
        tree: &Path,
        base: &str,
        mail: &Path,
        build: Build<'a>,
        context: &mut Context<'_>,
    ) -> Result<Self, Error> {
        let place = place(tree);
        let patches = history::apply_series(&place, base, mail, context)?;
        let commits: Vec<String> = patches.iter().map(|patch| patch.commit.clone()).collect();
        let first = history::change(&place, base, context)?.commit;
        Ok(Self {
            kind: Kind::Patches,
            tree: tree.to_owned(),
            place,
            note: None,
            first,
            last: commits.last().cloned().unwrap_or_default(),
            parents: (0..commits.len()).map(|number| number.checked_sub(1).into_iter().collect()).collect(),
            commits,
            candidates: patches.into_iter().map(described).collect(),
            build,
        })
    }

    /// The Kernel of a commit.
    fn at(&self, commit: &str, name: String) -> Subject {
        Subject {
            name,
            locator: Locator::Git { tree: self.tree.clone(), revision: commit.to_owned() },
            recipe: self.build.recipe.clone(),
            configuration: None,
            parameters: String::new(),
        }
    }
}

impl Axis for History<'_> {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    fn order(&self) -> Order {
        let is_line = self.parents.iter().enumerate().all(|(number, parents)| match number.checked_sub(1) {
            Some(before) => parents[..] == [before],
            None => parents.is_empty(),
        });
        if is_line { Order::Line(self.commits.len()) } else { Order::Graph(self.parents.clone()) }
    }

    fn subject(&mut self, point: &Point) -> Result<Option<Subject>, Error> {
        Ok(match point {
            Point::First => Some(self.at(&self.first, short(&self.first).to_owned())),
            Point::Last => Some(self.at(&self.last, short(&self.last).to_owned())),
            Point::After(number) => {
                let candidate = &self.candidates[*number];
                let name = format!("{} (\"{}\")", short(&candidate.name), candidate.title);
                Some(self.at(&self.commits[*number], name))
            }
            Point::Without(number) => {
                let commit = &self.commits[*number];
                let undone = quietly(self.build.interrupt, |context| {
                    history::revert(&self.place, commit, &self.last, context)
                })?;
                let name = format!("{} without {}", short(&self.last), short(commit));
                undone.map(|commit| self.at(&commit, name))
            }
            Point::With(_) => None,
        })
    }

    fn describe(&mut self, candidate: usize) -> Result<Candidate, Error> {
        let commit = &self.commits[candidate];
        Ok(described(quietly(self.build.interrupt, |context| history::change(&self.place, commit, context))?))
    }

    fn is_built(&self) -> bool {
        true
    }

    fn usual_effort(&self) -> Duration {
        EFFORT
    }

    fn identity(&self) -> String {
        format!("{} {} {}\n{}", self.place.display(), self.first, self.last, self.commits.join("\n"))
    }
}

/// Where the good end is: if it is no ancestor of the bad one, where their histories part.
fn start(walk: &Walk, first: &str, last: &str) -> Result<String, Error> {
    match walk.merge_bases.as_slice() {
        [] => Ok(walk.good.clone()),
        [base] => Ok(base.clone()),
        several => Err(Error::Usage(format!(
            "{first} is not an ancestor of {last}, and they have {} merge bases: name one of them as the first end, such as {}",
            several.len(),
            short(&several[0])
        ))),
    }
}

/// That the first end is another than was named, if it is.
fn note(walk: &Walk, first: &str, last: &str) -> Option<String> {
    let [base] = walk.merge_bases.as_slice() else { return None };
    Some(format!("{first} is not an ancestor of {last}: their merge base {} is the first end", short(base)))
}

/// A note about what lies in a checkout beside its commits, if anything does: no commit has it.
pub fn uncommitted(tree: &Path, context: &mut Context<'_>) -> Option<String> {
    let place: PathBuf = Locator::Path(tree.to_owned()).path()?;
    let changes = history::changes_in_checkout(&place, context).ok().filter(|changes| changes.count > 0)?;
    let number =
        if changes.count == 1 { "1 change".to_string() } else { format!("{} changes", changes.count) };
    let verb = if changes.count == 1 { "is" } else { "are" };
    Some(format!(
        "{number} in {} {verb} in no commit, and so in none of the kernels: {}",
        tree.display(),
        changes.paths.join(", ")
    ))
}

fn place(tree: &Path) -> PathBuf {
    let locator = Locator::Path(tree.to_owned());
    locator.path().unwrap_or_else(|| tree.to_owned())
}

/// A commit, abbreviated.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..SHOWN).unwrap_or(commit)
}

fn candidate(commit: &str, subject: &str) -> Candidate {
    Candidate { name: commit.to_owned(), title: subject.to_owned(), ..Candidate::default() }
}

fn described(change: Change) -> Candidate {
    Candidate {
        name: change.commit,
        title: change.subject,
        author: Some(change.author),
        date: Some(change.date),
        files: change.files,
        ..Candidate::default()
    }
}
