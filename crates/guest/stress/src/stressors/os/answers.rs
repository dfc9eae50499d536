//! `get`, `set`, `sysinfo`, `kcmp`, `getrandom`: what the kernel says about this process and about itself.

use harness::check::{Checked, at_least, equal, fails, holds, skip};
use harness::child::last_error;
use harness::sys::{call, succeeded, unshare};
use rustix::fd::AsRawFd;
use rustix::fs::Mode;
use rustix::io::{Errno, dup};
use rustix::process::{
    Resource, Rlimit, getegid, geteuid, getgid, getpgid, getpgrp, getpid, getppid, getrlimit, getsid, getuid,
    setpgid, setrlimit, setsid, umask,
};
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::system::{sethostname, sysinfo, uname};
use rustix::thread::{UnshareFlags, gettid};

use crate::Worker;
use crate::kit::file;
use crate::kit::helper::helper;
use crate::stressor::{Class, Need, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "random bytes at a time", 16..=1 << 20, 4096);

const CALLS: Stressor = Stressor { classes: &[Class::Os], ..Stressor::PLAIN };

pub(super) const GET: Stressor = Stressor {
    name: "get",
    about: "calls that only ask: ids, times, limits, CPU",
    operation: "each call once",
    verifies: "answers agree with each other and with /proc; times do not go back",
    body: ask,
    ..CALLS
};

pub(super) const SET: Stressor = Stressor {
    name: "set",
    about: "calls that set something of the process: mask, group, session, limits, host name",
    operation: "each call once, in a child",
    verifies: "what is set is what is read, and the parent keeps its own",
    body: set,
    ..CALLS
};

pub(super) const SYSINFO: Stressor = Stressor {
    name: "sysinfo",
    about: "memory, load and time since boot: sysinfo(2), uname(2), statfs(2)",
    operation: "each call once",
    verifies: "answers agree with /proc, and time does not go back",
    body: system,
    ..CALLS
};

pub(super) const KCMP: Stressor = Stressor {
    name: "kcmp",
    about: "whether two processes share files, memory and signal handlers: kcmp(2)",
    operation: "all comparisons with itself and with a child",
    verifies: "copies of a descriptor are the same file, others are not; a child has memory of its own",
    needs: &[Need::Config("KCMP")],
    body: compare,
    ..CALLS
};

pub(super) const GETRANDOM: Stressor = Stressor {
    name: "getrandom",
    classes: &[Class::Os, Class::Security],
    about: "random bytes: getrandom(2)",
    operation: "one call",
    verifies: "all bytes are filled, no block comes twice, and ones and zeroes are about as many",
    options: &[BYTES],
    body: random_bytes,
    ..CALLS
};

/// CPU time of this process: getrusage(2).
fn used() -> (i64, i64) {
    // SAFETY: all zeroes is a valid value, and the kernel fills it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        let total = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
        (total(usage.ru_utime) + total(usage.ru_stime), usage.ru_minflt)
    }
}

fn ask(worker: &Worker) -> Checked {
    let mut before = (used(), 0);
    worker.repeat(|| {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.split_whitespace().next().unwrap_or_default().to_string()
        };
        equal("getpid(2)", field("Pid:"), getpid().to_string())?;
        equal("gettid(2)", gettid(), getpid())?;
        equal("getppid(2)", Some(field("PPid:")), getppid().map(|parent| parent.to_string()))?;
        equal("getuid(2)", field("Uid:"), getuid().as_raw().to_string())?;
        equal("getgid(2)", field("Gid:"), getgid().as_raw().to_string())?;
        equal("effective ids", (geteuid(), getegid()), (getuid(), getgid()))?;
        equal("process group", getpgid(None)?, getpgrp())?;
        // SAFETY: the clock's buffer is not asked for.
        let ticks = unsafe { libc::times(std::ptr::null_mut()) };
        let now = (used(), ticks);
        holds("times do not go back", now.0.0 >= before.0.0 && now.0.1 >= before.0.1 && now.1 >= before.1)?;
        before = now;
        let limit = getrlimit(Resource::Nofile);
        holds(
            "the limit is not above its maximum",
            limit.current.is_none_or(|now| limit.maximum.is_none_or(|most| now <= most)),
        )
    })
}

fn set(worker: &Worker) -> Checked {
    worker.repeat(|| {
        let mask = umask(Mode::from_raw_mode(0o22));
        umask(mask);
        helper(|| {
            for bits in [0, 0o77, 0o777] {
                umask(Mode::from_raw_mode(bits));
                equal("the mask", umask(Mode::from_raw_mode(bits)).bits(), bits)?;
            }
            setpgid(None, None)?;
            equal("the process group", getpgrp(), getpid())?;
            fails("a session of a group's leader", setsid(), Errno::PERM)?;
            helper(|| {
                let session = setsid()?;
                equal("the session", (session, getsid(None)?), (getpid(), getpid()))
            })?
            .succeeds()?;
            let limit = Rlimit { current: Some(64), maximum: Some(64) };
            setrlimit(Resource::Nofile, limit)?;
            equal("the limit", getrlimit(Resource::Nofile), limit)?;
            host_name()
        })?
        .succeeds()?;
        let now = umask(mask);
        equal("the mask of the parent", now, mask)
    })
}

/// Sets it in a namespace of its own, where the user may have one.
fn host_name() -> Checked {
    if unshare(UnshareFlags::NEWUTS).is_err() {
        return Ok(());
    }
    sethostname(b"stressed")?;
    equal("the host name", uname().nodename(), c"stressed")
}

fn system(worker: &Worker) -> Checked {
    let mut uptime = 0;
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    worker.repeat(|| {
        let now = sysinfo();
        at_least("the time since boot", now.uptime, uptime)?;
        uptime = now.uptime;
        let text = std::fs::read_to_string("/proc/meminfo")?;
        let total = text.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0);
        equal("memory in KiB", now.totalram as u64 * u64::from(now.mem_unit) / 1024, total)?;
        holds("free memory is not above all", now.freeram <= now.totalram && now.freeswap <= now.totalswap)?;
        equal("the release", uname().release().to_str().unwrap_or_default(), release.trim())?;
        let space = rustix::fs::statfs(".")?;
        holds(
            "free blocks are not above all",
            space.f_bfree <= space.f_blocks && space.f_bavail <= space.f_bfree,
        )
    })
}

/// What is compared: `KCMP_FILE` and the like of <linux/kcmp.h>.
const FILE: usize = 0;
const MEMORY: usize = 1;
const FILES: usize = 2;
const SIGNAL_HANDLERS: usize = 4;

fn compare(worker: &Worker) -> Checked {
    let (first, second) = (file::create("first")?, file::create("second")?);
    let copy = dup(&first)?;
    let number = |file: &dyn AsRawFd| file.as_raw_fd().unsigned_abs() as usize;
    let own = getpid().as_raw_pid().unsigned_abs() as usize;
    let is_same = |other: usize, what, one: usize, two: usize| {
        // SAFETY: takes numbers only.
        unsafe { call(libc::SYS_kcmp, [own, other, what, one, two]) }.map(|order| order == 0)
    };
    match is_same(own, MEMORY, 0, 0) {
        Err(Errno::PERM | Errno::NOSYS) => return skip("kcmp(2) is not allowed here"),
        same => equal("memory of this process and itself", same?, true)?,
    }
    worker.repeat(|| {
        equal("copies of a descriptor", is_same(own, FILE, number(&first), number(&copy))?, true)?;
        equal("different files", is_same(own, FILE, number(&first), number(&second))?, false)?;
        let child = helper(|| harness::child::pause_forever())?;
        let other = child.pid().as_raw_pid().unsigned_abs() as usize;
        equal("a file that a child inherits", is_same(other, FILE, number(&first), number(&first))?, true)?;
        for what in [MEMORY, FILES, SIGNAL_HANDLERS] {
            equal("what a child has of its own", is_same(other, what, 0, 0)?, false)?;
        }
        fails("a descriptor that is not open", is_same(own, FILE, 9999, 0), Errno::BADF)
    })
}

fn random_bytes(worker: &Worker) -> Checked {
    let mut bytes = vec![0; worker.size(&BYTES)];
    let mut last = [0; 16];
    worker.repeat(|| {
        let mut filled = 0;
        while filled < bytes.len() {
            filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
        }
        holds("another block than before", bytes[..16] != last)?;
        last.copy_from_slice(&bytes[..16]);
        let ones: u64 = bytes.iter().map(|byte| u64::from(byte.count_ones())).sum();
        // The deviation of as many throws of a coin is half the root of their number; twelve of those do not happen.
        let (bits, half) = (bytes.len() as f64 * 8.0, bytes.len() as f64 * 4.0);
        holds("ones are about half of all bits", (ones as f64 - half).abs() <= 6.0 * bits.sqrt())?;
        // SAFETY: refused because of its flags.
        let wrong = succeeded(unsafe {
            libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), 1, 0x80) as libc::c_int
        });
        equal("flags that do not exist", wrong.map_err(|_| last_error()), Err(Errno::INVAL))
    })
}
