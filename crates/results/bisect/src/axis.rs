//! What a bisection walks.
//!
//! An axis knows its candidates, how they stand to each other, and which Kernel one gets at each point. Adding
//! one means adding a file here.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kbuild::Recipe;
use kernel::{Context, Locator, Store};
use verdict::bisection::Order;

use crate::candidate::{Candidate, Kind};
use crate::error::Error;
use crate::point::Point;

mod history;
pub(crate) mod open;
mod options;
mod packages;
mod parameters;

pub(crate) use history::short;
pub use history::{History, Range, STRANGERS, uncommitted};
pub use options::Options;
pub use packages::Packages;
pub use parameters::Parameters;

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

/// How the Kernels of an axis are built, and what stops that.
#[derive(Debug, Clone)]
pub struct Build<'a> {
    /// How they are built, if they are source.
    pub recipe: Recipe,
    /// The user wants to stop.
    pub interrupt: &'a AtomicBool,
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
