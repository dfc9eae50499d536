//! What a bisection walks.
//!
//! An axis knows its candidates, how they stand to each other, and which Kernel one gets at each point. Adding
//! one means adding a file here.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kbuild::Recipe;
use kernel::{Context, Locator, Store};
use serde::{Deserialize, Serialize};
use verdict::bisection::Order;

use crate::error::Error;

mod changes;
mod history;
pub(crate) mod open;
mod options;
mod packages;
mod parameters;

pub use changes::Changes;
pub use history::History;
pub use options::Options;
pub use packages::Packages;
pub use parameters::Parameters;

/// The kinds of axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Packages of a distribution, by version.
    Packages,
    /// Commits of a git repository.
    Commits,
    /// Patches of a series.
    Patches,
    /// Kernel parameters.
    Parameters,
    /// Configuration options.
    Options,
}

impl Kind {
    /// One of its candidates, as people call it.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Packages => "package",
            Self::Commits => "commit",
            Self::Patches => "patch",
            Self::Parameters => "parameter",
            Self::Options => "option",
        }
    }
}

/// A change that may be the one that is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// What names it: a version, a commit, an option with both its values.
    pub name: String,
    /// What it says of itself: the subject of a commit or a patch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Who wrote it, if that is known: `Name <address>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The files that it changes, as far as they are known; at most 200.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The kernel parameter that it takes away, where it does just that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removes: Option<String>,
    /// What its changelog says is new since the candidate before it; only of packages that have one.
    #[serde(default, skip_serializing_if = "Changes::is_empty")]
    pub changes: Changes,
}

/// A place on the axis at which a Kernel can be had.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// The first end: none of the candidates.
    First,
    /// This candidate and all that it stands on.
    After(usize),
    /// The second end: all of them.
    Last,
    /// The second end with this candidate undone.
    Without(usize),
    /// The first end with these candidates alone, in ascending order; only where they can be taken one by one.
    With(Vec<usize>),
}

impl Point {
    /// The candidates in it, where they can be taken one by one and there are `all` of them.
    pub(crate) fn included(&self, all: usize) -> Option<Vec<usize>> {
        match self {
            Self::First => Some(Vec::new()),
            Self::Last => Some((0..all).collect()),
            Self::With(candidates) => Some(candidates.clone()),
            Self::After(_) | Self::Without(_) => None,
        }
    }
}

/// What is to be tested at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// What people call it.
    pub name: String,
    /// The Kernel, or its source.
    pub locator: Locator,
    /// How it is built, if it is source.
    pub recipe: Recipe,
    /// A whole configuration in place of that of the recipe.
    pub configuration: Option<String>,
    /// Kernel parameters beside those that the user gave.
    pub parameters: String,
}

/// What a bisection walks.
pub trait Axis {
    /// What it is made of.
    fn kind(&self) -> Kind;

    /// The changes between the ends, by number: those that a candidate stands on have smaller ones.
    fn candidates(&self) -> &[Candidate];

    /// How they stand to each other.
    fn order(&self) -> Order {
        Order::Line(self.candidates().len())
    }

    /// Whether candidates can be taken one by one: then several of them may only together make the difference.
    fn is_separable(&self) -> bool {
        false
    }

    /// What a point is; nothing if the axis has no such point, as for a commit that cannot be undone.
    ///
    /// # Errors
    ///
    /// When the host does not allow it.
    fn subject(&mut self, point: &Point) -> Result<Option<Subject>, Error>;

    /// All that is known of a candidate, for the report.
    ///
    /// # Errors
    ///
    /// When the host does not allow it.
    fn describe(&mut self, candidate: usize) -> Result<Candidate, Error> {
        Ok(self.candidates().get(candidate).cloned().unwrap_or_default())
    }

    /// Whether the Kernel of a point is built, which takes all CPUs of the host.
    fn is_built(&self) -> bool {
        false
    }

    /// How long it takes to get the first Kernel of a point, before that has been seen.
    fn usual_effort(&self) -> Duration;

    /// What makes this axis this one and no other: its ends, and how one comes from one to the other.
    fn identity(&self) -> String;
}

/// Asks for something that takes no time.
fn quietly<T>(interrupt: &AtomicBool, work: impl FnOnce(&mut Context<'_>) -> T) -> T {
    let store = Store::new(Store::default_dir());
    work(&mut Context { store: &store, listener: &mut |_| {}, interrupt })
}
