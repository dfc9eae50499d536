//! The plugin that looks for hazards, and the channel to it.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use super::{in_memory, socket_pair};
use crate::PLUGIN;
use crate::error::Error;

/// What QEMU has for its plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<F> {
    pub(crate) plugin: F,
    pub(crate) channel: F,
}

impl Files<OwnedFd> {
    /// The plugin, and the two ends of its channel, of which the first is kiln's.
    pub(crate) fn open() -> Result<(UnixStream, Self), Error> {
        let (own, its) = socket_pair()?;
        Ok((own, Self { plugin: in_memory("plugin", PLUGIN)?, channel: its.into() }))
    }
}

impl<F> Files<F> {
    pub(crate) fn as_ref(&self) -> Files<&F> {
        Files { plugin: &self.plugin, channel: &self.channel }
    }

    pub(crate) fn map<G>(self, change: impl Fn(F) -> G) -> Files<G> {
        Files { plugin: change(self.plugin), channel: change(self.channel) }
    }
}
