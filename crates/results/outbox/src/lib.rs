//! Mail that goes out, and whom else kiln tells.
//!
//! * [`queue`]: a queue on disk: nothing is sent twice, nothing is lost; [`mod@item`]: what can be in it
//! * [`mod@outbox`]: the queue of mails
//! * [`message`]: what can be queued, with the headers that every mail needs
//! * [`settings`]: how mail is sent, as git's `sendemail` configuration has it
//! * [`mod@transport`]: what delivers a message: `smtp`, or `sendmail`, a program of this host; `delivery` chooses
//! * [`hook`]: a command of the user's, or a server

mod delivery;
pub mod error;
pub mod hook;
pub mod item;
pub mod message;
pub mod outbox;
pub mod queue;
mod sendmail;
pub mod settings;
mod smtp;
pub mod transport;

pub use delivery::transport;
pub use error::Error;
pub use item::Item;
pub use message::Message;
pub use outbox::Outbox;
pub use queue::{Entry, Queue, Queued, State};
pub use settings::Settings;
pub use transport::{Failure, Transport};
