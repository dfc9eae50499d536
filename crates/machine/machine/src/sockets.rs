//! Where the sockets of a machine's devices lead: to a segment, or to the lab.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Makes the machine's end of a socket.
type Connect = dyn Fn(&str) -> io::Result<OwnedFd> + Send + Sync;

/// Makes the machine's ends of its sockets, by their names. Each start of a machine asks anew.
#[derive(Clone)]
pub struct Sockets(Arc<Connect>);

impl Sockets {
    /// Those that `connect` makes.
    pub fn new(connect: impl Fn(&str) -> io::Result<OwnedFd> + Send + Sync + 'static) -> Self {
        Self(Arc::new(connect))
    }

    /// The machine's end of this one.
    pub(crate) fn connect(&self, name: &str) -> io::Result<OwnedFd> {
        (self.0)(name)
    }
}

impl Default for Sockets {
    /// There are none.
    fn default() -> Self {
        Self::new(|name| {
            Err(io::Error::new(io::ErrorKind::NotFound, format!("nothing is connected to {name}")))
        })
    }
}

impl fmt::Debug for Sockets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sockets").finish_non_exhaustive()
    }
}
