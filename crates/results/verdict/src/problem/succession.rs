//! Which of the kernels that a problem met come after which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use history::{Ancestry, Repository};
use kernel::Context;
use kernel::version::{compare, text};
use ledger::{OnKernel, Problem, Source};

/// Packages follow each other by their versions, within a flavour and a stable series; builds of commits by the history of
/// their tree, where they were built alike.
#[derive(Debug, Clone, Default)]
pub struct Succession(Vec<Ancestry>);

impl From<Vec<Ancestry>> for Succession {
    fn from(trees: Vec<Ancestry>) -> Self {
        Self(trees)
    }
}

impl Succession {
    /// As the trees say that the commits were built from; of a tree that is gone nothing is known. Each complaint of git becomes
    /// a note.
    pub fn of(problems: &[Problem], context: &mut Context<'_>) -> Self {
        let sources = || problems.iter().flat_map(|it| &it.kernels).filter_map(|on| on.source.as_ref());
        let commits: BTreeSet<&str> = sources().map(|source| source.commit.as_str()).collect();
        let trees: BTreeSet<&Path> = sources().filter_map(|source| source.tree.as_deref()).collect();
        let mut repositories = BTreeMap::new();
        for tree in trees.into_iter().filter(|tree| tree.is_dir()) {
            match Repository::at(tree, context) {
                // Work trees share their history, but each knows where it is.
                Ok(found) => repositories.extend(found.map(|found| (found.origin(), found))),
                Err(error) => context.note(&format!("{}: {error}", tree.display())),
            }
        }
        let mut known = Vec::new();
        for (_, repository) in repositories {
            match repository.ancestry(commits.iter().copied(), context) {
                Ok(ancestry) => known.push(ancestry),
                Err(error) => context.note(&format!("no order of commits: {error}")),
            }
        }
        Self(known)
    }

    /// Puts the kernels of a problem into their order, the oldest first: packages by their versions, then commits.
    pub fn arrange(&self, problem: &mut Problem) {
        let place = |on: &OnKernel| on.source.as_ref().and_then(|source| self.place(source));
        let order = |a: &OnKernel, b: &OnKernel| {
            place(a).cmp(&place(b)).then_with(|| compare(&a.release, &b.release))
        };
        problem.kernels.sort_by(order);
    }

    /// The tree that has a commit, and its place there.
    fn place(&self, source: &Source) -> Option<(usize, usize)> {
        let place = |(tree, ancestry): (usize, &Ancestry)| Some((tree, ancestry.place(&source.commit)?));
        self.0.iter().enumerate().find_map(place)
    }

    /// Whether `later` comes after `earlier`.
    pub(super) fn follows(&self, later: &OnKernel, earlier: &OnKernel) -> bool {
        self.is_same_series(later, earlier)
            && match (&later.source, &earlier.source) {
                (Some(later), Some(earlier)) => {
                    self.0.iter().any(|tree| tree.follows(&later.commit, &earlier.commit))
                }
                _ => compare(&later.release, &earlier.release).is_gt(),
            }
    }

    /// Whether one of two kernels may follow the other.
    pub(super) fn is_same_series(&self, a: &OnKernel, b: &OnKernel) -> bool {
        match (&a.source, &b.source) {
            (Some(a), Some(b)) if a.build == b.build => {
                let (a, b) = (self.place(a), self.place(b));
                a.zip(b).is_some_and(|((a, _), (b, _))| a == b)
            }
            (None, None) => {
                text::flavour(&a.release) == text::flavour(&b.release)
                    && text::series(&a.release) == text::series(&b.release)
            }
            _ => false,
        }
    }
}
