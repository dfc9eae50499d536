//! Packages of a distribution, by version.

use std::time::Duration;

use kernel::catalogue::{Entry, packages_between, releases_since};
use kernel::{Context, Locator};

use super::{Axis, Build, Subject, quietly};
use crate::candidate::{Candidate, Changes, Kind};
use crate::error::Error;
use crate::point::Point;

/// Download and unpack.
const EFFORT: Duration = Duration::from_secs(10);

/// Packages between two of them: each is a candidate, but for the first.
#[derive(Debug)]
pub struct Packages<'a> {
    entries: Vec<Entry>,
    candidates: Vec<Candidate>,
    build: Build<'a>,
}

impl<'a> Packages<'a> {
    /// All packages from `first` to `last`.
    ///
    /// # Errors
    ///
    /// When one of them is not there, or they are no ends of one way.
    pub fn between(
        first: &Locator,
        last: &Locator,
        build: Build<'a>,
        context: &mut Context<'_>,
    ) -> Result<Self, Error> {
        let entries = packages_between(first, last, context)?;
        let candidate = |entry: &Entry| Candidate {
            name: entry.locator.clone(),
            title: entry.version.clone(),
            date: entry.date.clone(),
            ..Candidate::default()
        };
        let candidates = entries.iter().skip(1).map(candidate).collect();
        Ok(Self { entries, candidates, build })
    }

    /// What is new in the package `entry` since the one `before` it; nothing where the package cannot be had.
    fn changes(&self, before: &Entry, entry: &Entry) -> Result<Changes, Error> {
        let locator = entry.locator.parse()?;
        match quietly(self.build.interrupt, |context| kernel::resolve(&locator, context)) {
            Ok(kernel) => Ok(Changes::of(&before.version, &releases_since(&kernel, &before.version))),
            Err(error) if error.is_interrupt() => Err(error.into()),
            Err(_) => Ok(Changes::default()),
        }
    }
}

impl Axis for Packages<'_> {
    fn kind(&self) -> Kind {
        Kind::Packages
    }

    fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    fn subject(&mut self, point: &Point) -> Result<Option<Subject>, Error> {
        let entry = match point {
            Point::First => self.entries.first(),
            Point::After(number) => self.entries.get(number + 1),
            Point::Last => self.entries.last(),
            Point::Without(_) | Point::With(_) => None,
        };
        let Some(entry) = entry else { return Ok(None) };
        let name = format!("{} ({})", entry.locator, entry.version);
        let (locator, recipe) = (entry.locator.parse()?, self.build.recipe.clone());
        Ok(Some(Subject { name, locator, recipe, configuration: None, parameters: String::new() }))
    }

    fn describe(&mut self, candidate: usize) -> Result<Candidate, Error> {
        let known = self.candidates.get(candidate).cloned().unwrap_or_default();
        let Some([before, entry]) = self.entries.get(candidate..candidate + 2) else { return Ok(known) };
        Ok(Candidate { changes: self.changes(before, entry)?, ..known })
    }

    fn usual_effort(&self) -> Duration {
        EFFORT
    }

    fn identity(&self) -> String {
        self.entries.iter().map(|entry| format!("{} {}\n", entry.locator, entry.version)).collect()
    }
}
