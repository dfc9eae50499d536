//! Where on an axis a Kernel can be had.

use serde::{Deserialize, Serialize};

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
