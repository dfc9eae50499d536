//! What a machine shall be.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hardware::Hardware;
use root::{Image, Root};

use crate::connections::Connections;
use crate::engine::Engine;
use crate::hazards::Conditions;
use crate::instrument::Timing;
use crate::payload::Payload;

/// Everything that decides how a machine is and boots.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Memory in MiB.
    pub memory_mib: u64,
    /// CPUs.
    pub cpus: u32,
    /// Kernel parameters after kiln's own.
    pub append: String,
    /// What runs it.
    pub engine: Engine,
    /// A boot that takes longer has failed.
    pub boot_limit: Duration,
    /// A boot that says nothing for this long has failed.
    pub silence_limit: Duration,
    /// A template goes on for this long after its boot before it is cloned.
    pub aging: Duration,
    /// Size of an empty disk in MiB; 0 for none.
    pub disk_mib: u64,
    /// What it has besides.
    pub hardware: Hardware,
    /// What is behind its devices and is not its own.
    pub connections: Connections,
    /// The user space in which programs run, if it is not the agent's own.
    pub root: Option<Arc<Root>>,
    /// The folder into which its memory is dumped when the kernel crashes or hangs, if it is. Only QEMU can do that.
    pub dumps: Option<PathBuf>,
    /// What it counts time by, if it is a machine that measures. Only QEMU can do that.
    pub timing: Option<Timing>,
    /// What is a hazard, if hazards are looked for. Only QEMU's TCG can do that.
    pub hazards: Conditions,
    /// What the agent finds in its file system.
    pub payload: Payload,
}

/// Memory of a machine whose user did not ask for another size, in MiB.
pub const MEMORY_MIB: u64 = 1024;

/// CPUs of a machine whose user did not ask for another number. With one, a stock kernel under TCG reads
/// the time from the processor instead of an emulated device and needs no IPI to patch its own code; with
/// two, such a patch was seen to make a kernel spin for ever in its breakpoint, which accuses the kernel of
/// what QEMU did.
pub const CPUS: u32 = 1;

/// Smallest memory in which a current kernel starts at all, in MiB.
const KERNEL_MIB: u64 = 96;

impl Spec {
    /// The same without what the machine boots from.
    pub(crate) fn bare(&self) -> Self {
        let Self { memory_mib, cpus, engine, boot_limit, silence_limit, aging, disk_mib, timing, .. } = *self;
        let hazards = self.hazards.clone();
        let (append, dumps, root) = (self.append.clone(), self.dumps.clone(), self.root.clone());
        let (hardware, connections) = (self.hardware.clone(), self.connections.clone());
        // A clone of the whole would copy all programs and folders first.
        let payload = Payload::default();
        Self {
            memory_mib,
            cpus,
            append,
            engine,
            boot_limit,
            silence_limit,
            aging,
            disk_mib,
            hardware,
            connections,
            root,
            dumps,
            timing,
            hazards,
            payload,
        }
    }

    /// Sizes of the parts of its memory in MiB.
    pub(crate) fn memory_sizes(&self) -> Vec<u64> {
        self.hardware.memories(self.memory_mib).into_iter().map(|memory| memory.mib).collect()
    }

    /// The image of its root, if that is one.
    pub(crate) fn image(&self) -> Option<&Image> {
        self.root.as_ref()?.image()
    }

    /// A small machine of QEMU's TCG, for unit tests.
    #[cfg(test)]
    pub(crate) fn example() -> Self {
        Self {
            memory_mib: 512,
            cpus: 2,
            append: "quiet".into(),
            engine: Engine::Qemu(crate::Accel::Tcg),
            boot_limit: Duration::ZERO,
            silence_limit: Duration::ZERO,
            aging: Duration::ZERO,
            disk_mib: 0,
            hardware: Hardware::default(),
            connections: Connections::default(),
            root: None,
            dumps: None,
            timing: None,
            hazards: Conditions::default(),
            payload: Payload::default(),
        }
    }

    /// The kernel's parameters.
    #[must_use]
    pub fn parameters(&self) -> String {
        let timing = self.timing.map(Timing::parameters).unwrap_or_default();
        let all = [self.engine.parameters(), timing, &self.append];
        all.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The least memory that holds an initramfs of `initramfs` bytes, in MiB. The archive and what is
    /// unpacked from it are there at once, and the file system that it goes to takes at most half of what
    /// the archive leaves free: Documentation/filesystems/ramfs-rootfs-initramfs.rst. Where that is too
    /// little the kernel boots, and files are missing.
    #[must_use]
    pub fn least_memory_mib(initramfs: usize) -> u64 {
        KERNEL_MIB + 3 * (initramfs as u64 >> 20)
    }
}

/// Memory in which `user_space` bytes of programs have room to work, in MiB.
#[must_use]
pub fn roomy_memory_mib(user_space: u64) -> u64 {
    MEMORY_MIB / 2 + 3 * user_space.div_ceil(1 << 20)
}
