//! What is behind the devices of a machine and is not the machine's own: a segment, the lab's end of a serial port, a disk that
//! outlives the machine.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use hardware::Backing;

/// Gives the machine's end of what is behind a device, if that is not the machine's own.
type Connect = dyn Fn(Place, &Backing) -> Option<io::Result<OwnedFd>> + Send + Sync;

/// Which device, by its place in the description, and which of the things behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The device.
    pub device: usize,
    /// What is behind it.
    pub backing: usize,
}

/// What machines are connected to. Each start of a machine asks anew; templates have nothing of it.
#[derive(Clone)]
pub struct Connections(Arc<Connect>);

impl Connections {
    /// Those that `connect` makes; where it gives nothing, the machine makes its own.
    pub fn new(
        connect: impl Fn(Place, &Backing) -> Option<io::Result<OwnedFd>> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(connect))
    }

    pub(crate) fn connect(&self, place: Place, backing: &Backing) -> Option<io::Result<OwnedFd>> {
        (self.0)(place, backing)
    }
}

impl Default for Connections {
    /// There are none.
    fn default() -> Self {
        Self::new(|_, _| None)
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}
