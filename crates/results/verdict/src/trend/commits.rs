//! The commits of a branch: their releases do not say which came first.

use std::collections::HashMap;

use measure::Subject;

/// Commits in their order, by their locators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commits(HashMap<String, (usize, String)>);

impl Commits {
    /// Locators and names of commits, the oldest first.
    pub fn new(commits: impl IntoIterator<Item = (String, String)>) -> Self {
        let places = commits.into_iter().enumerate();
        Self(places.map(|(place, (locator, name))| (locator, (place, name))).collect())
    }

    /// Which of them a kernel was built from, counted from 0.
    #[must_use]
    pub fn place(&self, kernel: &Subject) -> Option<usize> {
        self.0.get(&kernel.locator).map(|(place, _)| *place)
    }

    /// What a kernel is called: as its commit, or by its release.
    #[must_use]
    pub fn name<'a>(&'a self, kernel: &'a Subject) -> &'a str {
        self.0.get(&kernel.locator).map_or(&kernel.release, |(_, name)| name)
    }
}
