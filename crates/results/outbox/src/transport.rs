//! What delivers a message.

use crate::message::Message;

/// Delivers messages.
pub trait Transport {
    /// Delivers a message to all who get it, or to nobody.
    ///
    /// # Errors
    ///
    /// When it was not delivered, or nobody knows whether it was.
    fn deliver(&mut self, message: &Message) -> Result<(), Failure>;
}

/// Why a message was not delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server does not want it, and will not.
    Refused(String),
    /// It cannot be delivered now: the server does not answer, or wants to be asked again.
    Later(String),
    /// It was sent, and the server did not say that it has it.
    Unknown(String),
}
