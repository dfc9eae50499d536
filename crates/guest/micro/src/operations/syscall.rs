//! System calls that do next to nothing: the way into the kernel and back.

use std::fs::File;

use harness::check::{Checked, equal, holds};
use harness::sys::call;
use rustix::io::{Errno, read, write};
use rustix::time::{ClockId, clock_gettime};

use super::parts::gives;
use crate::{Meter, Operation};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("syscall/getppid", "getppid(2): into the kernel and back", |meter| {
        same_number(meter, libc::SYS_getppid)
    }),
    Operation::new("syscall/getpid", "getpid(2) by system call", |meter| {
        same_number(meter, libc::SYS_getpid)
    }),
    Operation::new("syscall/gettid", "gettid(2) by system call", |meter| {
        same_number(meter, libc::SYS_gettid)
    }),
    Operation::new("syscall/getuid", "getuid(2) by system call", |meter| {
        same_number(meter, libc::SYS_getuid)
    }),
    Operation::new("syscall/getpgid", "getpgid(2) of this process", |meter| {
        same_number(meter, libc::SYS_getpgid)
    }),
    Operation::new("syscall/unknown", "a system call number that does not exist: ENOSYS", unknown),
    Operation::new("syscall/umask", "umask(2) to the mask of before", umask),
    Operation::new("syscall/getcpu", "getcpu(2), not by the vDSO", getcpu),
    Operation::new("syscall/uname", "uname(2) of the kernel", uname),
    Operation::new("syscall/getrusage", "getrusage(2) of this process", getrusage),
    Operation::new("syscall/getrlimit", "prlimit64(2) of this process, reading", getrlimit),
    Operation::new("syscall/prctl-get-name", "prctl(2) PR_GET_NAME", get_name),
    Operation::new("syscall/sysinfo", "sysinfo(2) of the machine", sysinfo),
    Operation::new("syscall/clock-gettime", "clock_gettime(2) CLOCK_MONOTONIC by system call", clock_by_call),
    Operation::new(
        "syscall/clock-gettime-vdso",
        "clock_gettime(2) CLOCK_MONOTONIC by the vDSO",
        clock_by_vdso,
    ),
    Operation::new("syscall/clock-getres", "clock_getres(2) CLOCK_MONOTONIC", clock_getres),
    Operation::new("syscall/write-null", "write(2) of one byte to /dev/null", write_null),
    Operation::new("syscall/read-null", "read(2) of /dev/null: nothing to read", |meter| {
        read_device(meter, "/dev/null", 0)
    }),
    Operation::new("syscall/read-zero-1", "read(2) of one byte of /dev/zero", |meter| {
        read_device(meter, "/dev/zero", 1)
    }),
    Operation::new("syscall/read-zero-4k", "read(2) of 4 KiB of /dev/zero", |meter| {
        read_device(meter, "/dev/zero", 4096)
    }),
];

/// Measures a call whose only argument is 0 and whose answer stays the same.
fn same_number(meter: &mut Meter, number: libc::c_long) -> Checked {
    // SAFETY: the calls that come here take a number or nothing.
    let ask = || unsafe { call(number, [0]) };
    gives(meter, "the number", ask()?, ask)
}

fn unknown(meter: &mut Meter) -> Checked {
    // SAFETY: there is no such call that could touch anything.
    gives(meter, "its result", Err(Errno::NOSYS), || Ok(unsafe { call(1 << 20, []) }))
}

fn umask(meter: &mut Meter) -> Checked {
    // SAFETY: the call takes a number.
    let set = || unsafe { call(libc::SYS_umask, [0o27]) };
    set()?;
    gives(meter, "the mask before", 0o27, set)
}

fn getcpu(meter: &mut Meter) -> Checked {
    let mut cpu = u32::MAX;
    let address = (&raw mut cpu).addr();
    // SAFETY: the call stores a number at the first address.
    meter.each(|| unsafe { call(libc::SYS_getcpu, [address, 0, 0]) })?;
    // SAFETY: the kernel has changed it behind the compiler's back.
    holds("it is a CPU", unsafe { (&raw const cpu).read_volatile() } < 8192)
}

/// Measures a call that fills a `T` whose address is argument `place`; gives what it filled.
fn fills<T, const N: usize>(
    meter: &mut Meter,
    number: libc::c_long,
    place: usize,
    mut arguments: [usize; N],
) -> Checked<T> {
    // SAFETY: the types that come here are plain structures.
    let mut filled: T = unsafe { std::mem::zeroed() };
    arguments[place] = (&raw mut filled).addr();
    // SAFETY: the call fills the structure and looks at no other memory.
    gives(meter, "the result", 0, || unsafe { call(number, arguments) })?;
    // SAFETY: the kernel has changed it behind the compiler's back.
    Ok(unsafe { (&raw const filled).read_volatile() })
}

fn uname(meter: &mut Meter) -> Checked {
    let names: libc::utsname = fills(meter, libc::SYS_uname, 0, [0])?;
    equal("first letter of the system's name", names.sysname[0], b'L' as libc::c_char)
}

fn getrusage(meter: &mut Meter) -> Checked {
    let usage: libc::rusage = fills(meter, libc::SYS_getrusage, 1, [libc::RUSAGE_SELF as usize, 0])?;
    holds("there is memory in use", usage.ru_maxrss > 0)
}

fn getrlimit(meter: &mut Meter) -> Checked {
    let limit: libc::rlimit = fills(meter, libc::SYS_prlimit64, 3, [0, libc::RLIMIT_NOFILE as usize, 0, 0])?;
    holds("there is a limit", limit.rlim_max > 0)
}

fn get_name(meter: &mut Meter) -> Checked {
    let name: [u8; 16] = fills(meter, libc::SYS_prctl, 1, [libc::PR_GET_NAME as usize, 0])?;
    holds("there is a name", name[0] != 0)
}

fn sysinfo(meter: &mut Meter) -> Checked {
    let info: libc::sysinfo = fills(meter, libc::SYS_sysinfo, 0, [0])?;
    holds("there is memory", info.totalram > 0)
}

fn clock_by_call(meter: &mut Meter) -> Checked {
    let clock = libc::CLOCK_MONOTONIC as usize;
    let before = clock_gettime(ClockId::Monotonic).tv_sec;
    let time: libc::timespec = fills(meter, libc::SYS_clock_gettime, 1, [clock, 0])?;
    holds("time does not go back", time.tv_sec >= before)
}

fn clock_by_vdso(meter: &mut Meter) -> Checked {
    let before = clock_gettime(ClockId::Monotonic);
    let mut time = before;
    meter.each(|| {
        time = clock_gettime(ClockId::Monotonic);
        Ok::<_, Errno>(())
    })?;
    holds("time has gone on", time > before)
}

fn clock_getres(meter: &mut Meter) -> Checked {
    let clock = libc::CLOCK_MONOTONIC as usize;
    let time: libc::timespec = fills(meter, libc::SYS_clock_getres, 1, [clock, 0])?;
    holds("it is finer than a second", time.tv_sec == 0 && time.tv_nsec > 0)
}

fn write_null(meter: &mut Meter) -> Checked {
    let null = File::options().write(true).open("/dev/null")?;
    gives(meter, "bytes written", 1, || write(&null, b"k"))
}

fn read_device(meter: &mut Meter, path: &str, size: usize) -> Checked {
    let (device, mut buffer) = (File::open(path)?, [b'k'; 4096]);
    let asked = size.max(1);
    gives(meter, "bytes read", size, || read(&device, &mut buffer[..asked]))?;
    equal("what was not overwritten", buffer.iter().filter(|&&byte| byte == b'k').count(), 4096 - size)
}
