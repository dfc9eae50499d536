//! The running kernel: what it is, its taint, and the end of the machine.

use harness::needs::cpus;
use protocol::FromAgent;
use rustix::io::Errno;
use rustix::system::{RebootCommand, reboot};
use rustix::time::Timespec;

use crate::window;

/// The first message of the agent.
pub(crate) fn hello() -> FromAgent {
    let uname = rustix::system::uname();
    let system = rustix::system::sysinfo();
    let memory = (system.totalram as u64).saturating_mul(u64::from(system.mem_unit));
    let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    FromAgent::Hello {
        protocol: protocol::VERSION,
        release: uname.release().to_string_lossy().into_owned(),
        arch: uname.machine().to_string_lossy().into_owned(),
        uptime_ms: milliseconds(uptime),
        memory_mib: memory >> 20,
        cpus: cpus(),
        window: window::is_there(),
    }
}

/// A time of the kernel in milliseconds.
fn milliseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec * 1000 + time.tv_nsec / 1_000_000).unwrap_or(0)
}

/// The bits of `/proc/sys/kernel/tainted`.
pub(crate) fn taint() -> u64 {
    std::fs::read_to_string("/proc/sys/kernel/tainted")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

/// Restarts the machine at once, as a reset button would; what is not on a disk is lost.
///
/// # Errors
///
/// When the kernel refuses.
pub(crate) fn restart() -> Result<(), Errno> {
    reboot(RebootCommand::Restart)
}

/// Ends the machine.
pub(crate) fn power_off() -> ! {
    rustix::fs::sync();
    // It returns only if the kernel cannot power off; the machine then ends us.
    let _ = reboot(RebootCommand::PowerOff);
    loop {
        let _ = rustix::thread::nanosleep(&rustix::time::Timespec { tv_sec: 3600, tv_nsec: 0 });
    }
}
