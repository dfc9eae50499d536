//! The queue of posts, and what is known of them.
//!
//! ```text
//! $XDG_STATE_HOME/kiln/posts/
//!     queued/4f1c9a0e6b7d2c35.json    waits to be sent; the other states are those of mails
//!     known/4f1c9a0e6b7d2c35.json     what the server calls it, and the token that changes it
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

use outbox::{Failure, Item, Queue, Queued};

use crate::client::Client;
use crate::delivery::Courier;
use crate::known::{Known, Memory};
use crate::{Error, Post};

/// The queue of posts, and what is known of them.
#[derive(Debug, Clone)]
pub struct Posts {
    /// What waits, is sent, was refused or was sent.
    pub queue: Queue<Post>,
    memory: Memory,
}

impl Posts {
    /// Those of this user: `$XDG_STATE_HOME/kiln/posts`.
    #[must_use]
    pub fn of_user() -> Self {
        Self::at(&host::state_folder().join("posts"))
    }

    /// Those at this place.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self { queue: Queue::at(PathBuf::from(root)), memory: Memory::at(root.join("known")) }
    }

    /// Queues a post in place of the one about the same that waits. One that may have been made stays as it is: it may be made twice.
    ///
    /// # Errors
    ///
    /// When it cannot be written, and when another kiln sends.
    pub fn add(&self, post: &Post) -> Result<Queued, Error> {
        // What the server calls it is known: it is updated, however often.
        let is_update = self.memory.recall(post.name())?.is_some();
        Ok(self.queue.replace(post, is_update)?)
    }

    /// What is known of a post that the server has.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn known(&self, post: &Post) -> Result<Option<Known>, Error> {
        self.memory.recall(post.name())
    }

    /// Sends what is queued, the oldest first; what is for a server that does not answer waits. No call takes longer than `limit`.
    /// `tell` gets what came of each.
    ///
    /// # Errors
    ///
    /// When another kiln sends, and when the queue cannot be written.
    pub fn send(
        &self,
        limit: Duration,
        tell: &mut dyn FnMut(&Post, &Result<(), Failure>),
    ) -> Result<(), Error> {
        let mut courier = Courier::new(Client { limit }, self.memory.clone());
        Ok(self.queue.send(&mut courier, tell)?)
    }
}

#[cfg(test)]
mod tests;
