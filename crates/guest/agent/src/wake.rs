//! Makes the machine one of its own: a clone wakes up with the clock and the random numbers of its template.

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::time::{ClockId, Timespec, clock_settime};

use harness::check::describe;

/// Bits that are credited for a byte of entropy.
const BITS: libc::c_int = 8;

/// `struct rand_pool_info` of linux/random.h with room for our bytes.
#[repr(C)]
struct Pool {
    entropy_count: libc::c_int,
    buf_size: libc::c_int,
    buf: [u8; 32],
}

/// Sets the clock and renews what random numbers come from; gives what went wrong.
pub(crate) fn renew(now_us: u64, entropy: Option<[u8; 32]>) -> Vec<String> {
    let clock = set_clock(now_us).map_err(|error| format!("clock: {}", describe(error)));
    let random =
        entropy.map_or(Ok(()), reseed).map_err(|error| format!("random numbers: {}", describe(error)));
    [clock, random].into_iter().filter_map(Result::err).collect()
}

/// Sets the real-time clock to microseconds since the epoch.
pub(crate) fn set_clock(now_us: u64) -> Result<(), Errno> {
    let seconds = i64::try_from(now_us / 1_000_000).map_err(|_| Errno::INVAL)?;
    let nanoseconds = i64::try_from(now_us % 1_000_000 * 1000).map_err(|_| Errno::INVAL)?;
    clock_settime(ClockId::Realtime, Timespec { tv_sec: seconds, tv_nsec: nanoseconds })
}

/// Bytes are only mixed into the pool; numbers come from them when the generator is seeded anew: random(4).
fn reseed(entropy: [u8; 32]) -> Result<(), Errno> {
    const RNDADDENTROPY: libc::Ioctl = 0x4008_5203;
    const RNDRESEEDCRNG: libc::Ioctl = 0x5207;
    let device: OwnedFd = rustix::fs::open("/dev/urandom", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let size = libc::c_int::try_from(entropy.len()).map_err(|_| Errno::INVAL)?;
    let pool = Pool { entropy_count: size * BITS, buf_size: size, buf: entropy };
    // SAFETY: the request reads a rand_pool_info with as many bytes as it says, which outlives the call.
    if unsafe { libc::ioctl(device.as_raw_fd(), RNDADDENTROPY, &raw const pool) } < 0 {
        return Err(harness::child::last_error());
    }
    // SAFETY: the request takes no argument.
    match unsafe { libc::ioctl(device.as_raw_fd(), RNDRESEEDCRNG) } {
        0 => Ok(()),
        _ => Err(harness::child::last_error()),
    }
}
