//! The commits of a branch, and which of them are measured to find those with which a figure steps.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use history::Limits;
use kernel::{Context, Locator};
use lab::request::{BuildOptions, MeasureRequest};
use ledger::{Figures, REQUEST};
use measure::Measurement;
use verdict::trend::Commits;

use crate::error::Error;

/// Commits that are measured before any step is known, the ends among them.
const FIRST: usize = 9;

/// Digits of a hash that people read.
const SHORT: usize = 12;

/// Commits of a branch, each built in the same way.
#[derive(Debug, Clone)]
pub struct Branch {
    tree: PathBuf,
    /// Hashes and subjects, the oldest first.
    commits: Vec<(String, String)>,
    /// How they are built.
    pub build: BuildOptions,
}

impl Branch {
    /// The commits of a repository from `first` to `last`, both included; of a merge only the side that it was merged into.
    ///
    /// # Errors
    ///
    /// When the tree is no repository or has no such commits.
    pub fn read(
        tree: PathBuf,
        [first, last]: [&str; 2],
        build: BuildOptions,
        context: &mut Context<'_>,
    ) -> Result<Self, Error> {
        let limits = Limits { first_parent: true, ..Limits::default() };
        let locator = Locator::Git { tree: tree.clone(), revision: first.to_owned() };
        let place = locator.path().unwrap_or_else(|| tree.clone());
        let walk = history::walk(&place, first, last, &limits, context)?;
        let begin = (walk.good, String::new());
        let commits = std::iter::once(begin).chain(walk.commits.into_iter().zip(walk.subjects)).collect();
        Ok(Self { tree, commits, build })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.commits.len()
    }

    /// The locator of a commit.
    pub(crate) fn locator(&self, place: usize) -> Option<Locator> {
        let (hash, _) = self.commits.get(place)?;
        Some(Locator::Git { tree: self.tree.clone(), revision: hash.clone() })
    }

    /// All of them, for a trend.
    pub(crate) fn commits(&self) -> Commits {
        Commits::new(self.commits.iter().enumerate().filter_map(|(place, (hash, subject))| {
            let name = format!("{} {subject}", hash.get(..SHORT)?);
            Some((self.locator(place)?.to_string(), name.trim_end().to_owned()))
        }))
    }

    /// What is kept below `root` of commits that were built in this way.
    pub(crate) fn kept(&self, root: &Path) -> Vec<Measurement> {
        let commits = self.commits();
        let is_of = |kept: &ledger::KeptMeasurement| {
            let request = Figures::at(root.join(&kept.folder)).read::<MeasureRequest>(REQUEST);
            commits.place(&kept.measurement.subject).is_some()
                && request.is_ok_and(|request| request.kernel.build == self.build)
        };
        ledger::measurements(root).into_iter().filter(is_of).map(|kept| kept.measurement).collect()
    }
}

/// Measures so many commits at equal distances, and then between two that differ, until the neighbours that differ follow each other.
/// What cannot be measured is passed by. A step that is undone before the next of the first commits is not found.
pub(crate) fn search<T, E>(
    count: usize,
    mut known: BTreeMap<usize, T>,
    differ: impl Fn(&T, &T) -> bool,
    mut measure: impl FnMut(usize) -> Result<Option<T>, E>,
) -> Result<(), E> {
    let mut untried: BTreeSet<usize> = (0..count).filter(|place| !known.contains_key(place)).collect();
    let mut wanted: Vec<usize> = (0..FIRST).map(|part| part * (count - 1) / (FIRST - 1)).collect();
    while !wanted.is_empty() {
        for place in wanted {
            if untried.remove(&place)
                && let Some(found) = measure(place)?
            {
                known.insert(place, found);
            }
        }
        let pairs = known.iter().zip(known.iter().skip(1));
        let steps = pairs.filter(|((_, one), (_, other))| differ(one, other));
        wanted = steps.filter_map(|((one, _), (other, _))| middle(&untried, *one, *other)).collect();
    }
    Ok(())
}

/// The commit between two others that can be measured and is nearest to their middle.
fn middle(untried: &BTreeSet<usize>, one: usize, other: usize) -> Option<usize> {
    let half = usize::midpoint(one, other);
    untried.range(one + 1..other).copied().min_by_key(|place| place.abs_diff(half))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    /// The places that are measured where the figure of each is known; nothing stands for one that cannot be built.
    fn measured(figures: &[Option<u8>], known: &[usize]) -> BTreeSet<usize> {
        let mut tried = BTreeSet::new();
        let known: BTreeMap<usize, u8> =
            known.iter().filter_map(|place| Some((*place, figures[*place]?))).collect();
        let done = search(
            figures.len(),
            known,
            |one, other| one != other,
            |place| {
                assert!(tried.insert(place), "{place} is measured once");
                Ok::<_, Infallible>(figures[place])
            },
        );
        assert_eq!(done, Ok(()));
        tried
    }

    #[test]
    fn a_cost_among_sixty_four_patches_and_its_mending_need_few_measurements() {
        let mut figures = vec![Some(1); 65];
        figures[20..45].fill(Some(2));
        let tried = measured(&figures, &[]);
        assert!([19, 20, 44, 45].iter().all(|place| tried.contains(place)), "{tried:?}");
        assert!(tried.len() <= 15, "{tried:?}");
        let again = measured(&figures, &tried.into_iter().collect::<Vec<_>>());
        assert!(again.is_empty(), "{again:?}");
    }

    proptest! {
        #[test]
        fn neighbours_that_differ_follow_each_other_or_enclose_what_cannot_be_measured(
            figures in prop::collection::vec(prop_oneof![3 => (0..3_u8).prop_map(Some), 1 => Just(None)], 1..80),
        ) {
            let tried = measured(&figures, &[]);
            let found: Vec<usize> = tried.iter().copied().filter(|place| figures[*place].is_some()).collect();
            for pair in found.windows(2) {
                let between = (pair[0] + 1..pair[1]).all(|place| figures[place].is_none() && tried.contains(&place));
                prop_assert!(between || figures[pair[0]] == figures[pair[1]], "{pair:?} {tried:?}");
            }
            prop_assert!(tried.contains(&0) && tried.contains(&(figures.len() - 1)));
        }
    }
}
