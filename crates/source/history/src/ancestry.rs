//! Which of some commits come before which.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use kernel::Context;

use crate::Error;
use crate::git::{Repository, is_hash};

/// How some commits of a repository follow each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ancestry {
    /// The place of each commit: its ancestors have lower ones.
    places: HashMap<String, usize>,
    /// The places of each commit's ancestors among them, by its own place.
    ancestors: Vec<HashSet<usize>>,
}

impl Ancestry {
    /// The place of a commit in an order in which parents come before children; none if the repository does not have it.
    #[must_use]
    pub fn place(&self, commit: &str) -> Option<usize> {
        self.places.get(commit).copied()
    }

    /// Whether the history of `commit` has `ancestor`, which is another one.
    #[must_use]
    pub fn follows(&self, commit: &str, ancestor: &str) -> bool {
        let (commit, ancestor) = (self.place(commit), self.place(ancestor));
        commit.zip(ancestor).is_some_and(|(commit, ancestor)| self.ancestors[commit].contains(&ancestor))
    }

    /// Of the wanted ones among the commits that `git rev-list --topo-order --reverse --parents` printed: a line for each, with its
    /// parents after it.
    #[must_use]
    pub fn listed(wanted: &HashSet<&str>, listed: &str) -> Self {
        let mut ancestry = Self::default();
        // Of each commit the wanted ones in its history, itself included; a chain of commits shares one set.
        let mut histories: HashMap<&str, Rc<HashSet<usize>>> = HashMap::new();
        for line in listed.lines() {
            let mut hashes = line.split(' ');
            let Some(commit) = hashes.next() else { continue };
            let parents: Vec<_> = hashes.filter_map(|parent| histories.get(parent).cloned()).collect();
            let mut history = match parents.as_slice() {
                [one] => one.clone(),
                several => Rc::new(several.iter().flat_map(|it| it.iter().copied()).collect()),
            };
            if wanted.contains(commit) {
                let place = ancestry.ancestors.len();
                ancestry.ancestors.push((*history).clone());
                ancestry.places.insert(commit.to_owned(), place);
                Rc::make_mut(&mut history).insert(place);
            }
            histories.insert(commit, history);
        }
        ancestry
    }
}

impl Repository {
    /// How those of `commits`, which are full hashes, follow each other that the repository has.
    ///
    /// # Errors
    ///
    /// When git cannot be asked, and when more lies between them than it can tell: some hundred thousand commits.
    pub fn ancestry<'c>(
        &self,
        commits: impl IntoIterator<Item = &'c str>,
        context: &mut Context<'_>,
    ) -> Result<Ancestry, Error> {
        let wanted: HashSet<&str> = commits.into_iter().filter(|commit| is_hash(commit)).collect();
        if wanted.is_empty() {
            return Ok(Ancestry::default());
        }
        let mut arguments = vec!["rev-list", "--no-walk", "--ignore-missing"];
        arguments.extend(&wanted);
        let known = self.must(&arguments, context)?;
        let known: Vec<&str> = known.lines().collect();
        if known.is_empty() {
            return Ok(Ancestry::default());
        }
        // What all have in common lies before all of them.
        let base = self.ask(&[&["merge-base", "--octopus"], &known[..]].concat(), context)?;
        let common = base.map(|base| format!("{}^@", base.trim()));
        let mut arguments = [&["rev-list", "--topo-order", "--reverse", "--parents"], &known[..]].concat();
        if let Some(common) = &common {
            arguments.extend(["--not", common]);
        }
        Ok(Ancestry::listed(&wanted, &self.must(&arguments, context)?))
    }
}
