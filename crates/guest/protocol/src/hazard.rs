//! What QEMU's plugin says about performance hazards, and what it is told: over a socket, while the machine runs.
//!
//! kiln sends single bytes, the plugin sends [`Message`]s. Where the plugin has found a [`Hot`] loop, all CPUs of the machine stand still until
//! they are answered with [`WAITS`] or [`WORKS`].

use serde::{Deserialize, Serialize};

/// The plugin looks for hazards from now on.
pub const BEGIN: u8 = 1;

/// It looks no more, and sends [`Message::Sites`].
pub const END: u8 = 2;

/// The loop waits for something: each time that it is passed too often is counted. The CPUs go on.
pub const WAITS: u8 = 3;

/// The loop does something: it is never asked about again. The CPUs go on.
pub const WORKS: u8 = 4;

/// The least number of passes that can be the bound of a hazard.
pub const PASSES_MIN: u64 = 16;

/// The largest one.
pub const PASSES_MAX: u64 = 1_000_000_000;

/// Most instructions of a loop.
pub const LOOP_MAX: u64 = 64;

/// Most blocks of instructions of a loop.
pub const BLOCKS_MAX: usize = 16;

/// Most loops that are told from each other.
pub const SITES_MAX: usize = 4096;

/// Most bytes of a message.
pub const MESSAGE_MAX: usize = 1 << 20;

/// What the plugin says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// A loop was passed as often as is a hazard: for the first time, or again.
    Hot(Hot),
    /// The loops that wait, at the end.
    Sites(Vec<Site>),
}

/// A loop that a CPU has passed again and again, with nothing in between.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hot {
    /// The number of the loop.
    pub site: u32,
    /// The CPU, from 0.
    pub cpu: u32,
    /// The blocks of instructions that are executed in each pass, in this order: [`BLOCKS_MAX`] at most.
    pub blocks: Vec<Block>,
}

/// Instructions that are executed one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The address of the first.
    pub address: u64,
    /// Their bytes.
    pub code: Vec<u8>,
}

/// How often a loop was passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Its number.
    pub site: u32,
    /// How often it was passed too often.
    pub times: u64,
    /// Passes of all these times together.
    pub passes: u64,
    /// The most of one time.
    pub longest: u64,
}

impl Message {
    /// Its bytes, after their number (u32, little endian); nothing for one that is too long.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let message = postcard::to_stdvec(self).ok().filter(|message| message.len() <= MESSAGE_MAX)?;
        let length = u32::try_from(message.len()).ok()?;
        Some([&length.to_le_bytes()[..], &message].concat())
    }
}

/// Takes messages out of what comes from the plugin.
#[derive(Debug, Default)]
pub struct Messages {
    bytes: Vec<u8>,
}

impl Messages {
    /// More bytes have come.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The next message, once it is whole; what is none is an error, and nothing can be read after it.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn take(&mut self) -> Result<Option<Message>, String> {
        let Some((length, rest)) = self.bytes.split_first_chunk() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MESSAGE_MAX {
            return Err(format!("a message of {length} bytes"));
        }
        let Some(message) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(message).map_err(|error| error.to_string())?;
        self.bytes.drain(..length + 4);
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_come_in_parts() {
        let blocks = vec![Block { address: 0xffff_ffff_8100_0000, code: vec![0xf3, 0x90] }];
        let hot = Message::Hot(Hot { site: 1, cpu: 1, blocks });
        let sites = Message::Sites(vec![Site { site: 1, times: 2, passes: 3000, longest: 2000 }]);
        let bytes = [hot.to_bytes(), sites.to_bytes()].map(|bytes| bytes.expect("short")).concat();
        let mut messages = Messages::default();
        let mut found = Vec::new();
        for byte in bytes {
            messages.feed(&[byte]);
            found.extend(messages.take().expect("they are right"));
        }
        assert_eq!(found, [hot, sites]);
    }

    #[test]
    fn a_message_that_is_too_long_is_refused_before_it_has_come() {
        let mut messages = Messages::default();
        messages.feed(&[0xff; 4]);
        assert!(messages.take().is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_messages_or_none(bytes: Vec<u8>) {
            let mut messages = Messages::default();
            messages.feed(&bytes);
            while let Ok(Some(_)) = messages.take() {}
        }
    }
}
