//! What makes a machine one of its own: what the agent is told first.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::ToAgent;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::Error;

/// Secrets of one machine.
#[derive(Debug)]
pub(crate) struct Own {
    key: u64,
    entropy: Option<[u8; 32]>,
}

impl Own {
    /// New ones; without `entropy` of its own the kernel goes on with the random numbers of its template.
    pub(crate) fn new(entropy: bool) -> Result<Self, Error> {
        let entropy = entropy.then(random).transpose()?;
        Ok(Self { key: u64::from_ne_bytes(random()?), entropy })
    }

    /// The agent's first message, with the time of day as it is now.
    pub(crate) fn message(&self) -> ToAgent {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_us = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        ToAgent::Start { key: self.key, now_us, entropy: self.entropy }
    }
}

/// Bytes that nobody in the guest can guess.
fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(|source| Error::host("getrandom", source))?;
    Ok(bytes)
}
