//! What delivers an item of a queue.

use std::fmt;

/// Delivers items.
pub trait Transport<T> {
    /// Delivers an item to all who get it, or to nobody.
    ///
    /// # Errors
    ///
    /// When it was not delivered, or nobody knows whether it was.
    fn deliver(&mut self, item: &T) -> Result<(), Failure>;

    /// Whether the next item may be delivered where one was not: not if all go the same way.
    fn goes_on(&self) -> bool {
        false
    }
}

/// Why an item was not delivered; its text says it to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server does not want it, and will not.
    Refused(String),
    /// It cannot be delivered now: the server does not answer, or wants to be asked again.
    Later(String),
    /// It was sent, and the server did not say that it has it.
    Unknown(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Later(why) => write!(f, "not sent, stays queued: {why}"),
            Self::Unknown(why) => write!(f, "may have been sent: {why}"),
        }
    }
}
