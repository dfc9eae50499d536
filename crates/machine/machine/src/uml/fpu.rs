//! Hosts whose FPU has more state than User-Mode Linux knows of: see the crate `preload`.

use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Command;

use crate::PRELOAD;
use crate::error::Error;
use crate::vmm::launch::{in_memory, inherited};

/// Size of the state that every UML can hold, in bytes.
const KNOWN: u32 = 2696;

/// Whether the FPU of this host has more state than that.
fn is_large() -> bool {
    /// Its second register holds the size of the state of all features that the host's kernel has switched on.
    const EXTENDED_STATE: u32 = 0xd;
    std::arch::x86_64::__cpuid_count(EXTENDED_STATE, 0).ebx > KNOWN
}

/// Loads the library into the program where the host needs it; it must inherit what this gives.
pub(super) fn complete_state(command: &mut Command) -> Result<Option<OwnedFd>, Error> {
    if !is_large() {
        return Ok(None);
    }
    let library = in_memory("preload", PRELOAD)?;
    command.env("LD_PRELOAD", inherited(library.as_raw_fd()));
    Ok(Some(library))
}
