//! By what figures come about.

use kernel::PartsHash;
use machine::host::QemuProgram;
use machine::{AGENT, Error, MICRO, SHIFT, tcg};

/// A hash over all that decides about figures beside the Kernel and what is said of its machine: the programs inside,
/// the pace of the clock, and QEMU. Figures can only be compared where it is the same.
///
/// # Errors
///
/// When there is no QEMU that can be used.
pub fn procedure() -> Result<String, Error> {
    let mut hash = PartsHash::default();
    hash.part(AGENT);
    hash.part(MICRO);
    hash.part(SHIFT.to_le_bytes());
    let qemu = QemuProgram::find()?;
    // One that loses flags has another processor.
    hash.part([u8::from(tcg::keeps_flags(&qemu.path))]);
    hash.part(qemu.version);
    Ok(hash.finish())
}
