//! The plugin that looks for hazards and forgets breakpoints that are gone, and the channel to it.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::{in_memory, socket_pair};
use crate::error::Error;
use crate::spec::Spec;
use crate::{Accel, Engine, PLUGIN, tcg};

/// What QEMU has for its plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<F> {
    pub(crate) code: F,
    /// Where hazards are looked for.
    pub(crate) channel: Option<F>,
}

impl Files<OwnedFd> {
    /// What `program` needs for a machine, if it needs the plugin, and kiln's end of the channel.
    pub(crate) fn open(spec: &Spec, program: &Path) -> Result<(Option<UnixStream>, Option<Self>), Error> {
        let looks = spec.hazards.lock_spin().is_some();
        if !looks && !keeps_breakpoints(spec, program) {
            return Ok((None, None));
        }
        let (own, its) = looks.then(socket_pair).transpose()?.unzip();
        let code = in_memory("plugin", PLUGIN)?;
        Ok((own, Some(Self { code, channel: its.map(OwnedFd::from) })))
    }
}

/// Whether breakpoints that are gone may hold the CPUs of a machine. A single CPU translates nothing while it changes code.
fn keeps_breakpoints(spec: &Spec, program: &Path) -> bool {
    spec.engine == Engine::Qemu(Accel::Tcg) && spec.cpus > 1 && tcg::keeps_breakpoints(program)
}

impl<F> Files<F> {
    pub(crate) fn as_ref(&self) -> Files<&F> {
        Files { code: &self.code, channel: self.channel.as_ref() }
    }

    pub(crate) fn map<G>(self, change: impl Fn(F) -> G) -> Files<G> {
        Files { code: change(self.code), channel: self.channel.map(change) }
    }

    pub(super) fn into_files(self) -> impl Iterator<Item = F> {
        std::iter::once(self.code).chain(self.channel)
    }
}
