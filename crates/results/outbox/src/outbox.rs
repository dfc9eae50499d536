//! The queue of mails.

use crate::message::Message;
use crate::queue::Queue;

/// The queue of mails. A mail is named by its content.
pub type Outbox = Queue<Message>;

impl Outbox {
    /// The one of this user: `$XDG_STATE_HOME/kiln/outbox`.
    #[must_use]
    pub fn of_user() -> Self {
        Self::at(host::state_folder().join("outbox"))
    }
}
