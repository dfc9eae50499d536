//! How many boots there are before one looks.

use super::design::Design;
use crate::comparison::{Against, Verdict};

/// The looks of a [`Design`], one after the other, until all is decided.
///
/// There are never more looks than were planned, whenever they come: when time runs out between two of them, the last
/// comparison takes the place of the next.
#[derive(Debug, Clone)]
pub struct Sequential {
    looks: std::vec::IntoIter<u32>,
    decided: bool,
}

impl Sequential {
    /// Before the first boot.
    #[must_use]
    pub fn new(design: &Design) -> Self {
        Self { looks: design.looks.clone().into_iter(), decided: false }
    }

    /// How many boots that [count](Design::counts) each Kernel shall have at the next look; nothing when all is decided or there is none left.
    #[must_use]
    pub fn next_look(&self) -> Option<u32> {
        if self.decided { None } else { self.looks.as_slice().first().copied() }
    }

    /// What that look showed: a comparison with the base for each of the others.
    ///
    /// All metrics go on until each is decided, since all of them are measured in each boot. A verdict is what all
    /// samples say in the end, not what a lucky look once said.
    pub fn looked(&mut self, others: &[Against]) {
        self.looks.next();
        let mut verdicts = others.iter().flat_map(Against::verdicts);
        self.decided = verdicts.all(|verdict| verdict != Verdict::Undecided);
    }
}
