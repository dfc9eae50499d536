//! Files as block devices: loop(4).

use std::fs::File;

use harness::check::{Checked, skip};
use harness::storage::{AUTOCLEAR, Loop, LoopStatus};
use rustix::io::Errno;

use super::support::supported_unless;

/// Attaches `file` to a free device, which is detached at the latest when nobody has it open any more.
///
/// # Errors
///
/// Skips where there is no free device.
pub(crate) fn attach(file: &File) -> Checked<Loop> {
    for _ in 0..100 {
        let device = supported_unless("a loop device", Loop::free(), &[Errno::NOENT, Errno::NXIO])?;
        match device.set_file(file) {
            // Others may take the same one first.
            Err(Errno::BUSY) => {}
            set => {
                set?;
                device.set_status(&LoopStatus { flags: AUTOCLEAR, ..LoopStatus::default() })?;
                return Ok(device);
            }
        }
    }
    skip("all loop devices are in use")
}
