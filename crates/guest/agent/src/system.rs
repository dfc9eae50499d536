//! The running kernel: what it is, its taint, what comes after it, and the end of the machine.

use std::fs::File;
use std::os::fd::AsRawFd;

use harness::needs::cpus;
use protocol::FromAgent;
use protocol::job::{KEXEC_IMAGE, KEXEC_INITRAMFS};
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

/// Loads the kernel that reboot(2) may go over to; its `parameters` end with a zero byte.
///
/// # Errors
///
/// When the kernel refuses.
pub(crate) fn load_kernel(parameters: &str) -> std::io::Result<()> {
    let (image, initramfs) = (take(KEXEC_IMAGE), take(KEXEC_INITRAMFS));
    let (image, initramfs) = (image?, initramfs?);
    let (image, initramfs) = (image.as_raw_fd(), initramfs.as_raw_fd());
    let (length, parameters) = (parameters.len(), parameters.as_ptr());
    // SAFETY: the kernel reads two open files and `length` bytes, which outlive the call.
    match unsafe { libc::syscall(libc::SYS_kexec_file_load, image, initramfs, length, parameters, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Opens a file that is needed once, and takes memory until then.
fn take(path: &str) -> std::io::Result<File> {
    let file = File::open(path);
    // One that is not there cannot be removed either.
    let _ = std::fs::remove_file(path);
    file
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
