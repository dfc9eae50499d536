//! `enosys`, `sysbadaddr`, `rlimit`, `resources`: what the kernel must refuse.

use harness::check::{Checked, equal, fails, holds};
use harness::sys::{call, ignore};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, pwrite};
use rustix::mm::MprotectFlags;
use rustix::param::page_size;
use rustix::pipe::pipe;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};

use crate::Worker;
use crate::kit::file;
use crate::kit::helper::{helper, without_rights};
use crate::kit::memory::Memory;
use crate::stressor::{Class, Setting, Stressor, number};
use harness::random::Random;

const DESCRIPTORS: Setting = number("descriptors", "descriptors at a time", 16..=512, 128);

const REFUSED: Stressor = Stressor { classes: &[Class::Os], ..Stressor::PLAIN };

pub(super) const ENOSYS: Stressor = Stressor {
    name: "enosys",
    about: "system calls with numbers that do not exist, by a child without rights",
    operation: "256 calls",
    verifies: "each gives ENOSYS",
    body: unknown,
    ..REFUSED
};

pub(super) const SYSBADADDR: Stressor = Stressor {
    name: "sysbadaddr",
    about: "system calls with addresses that the process must not use",
    operation: "each call with each bad address",
    verifies: "each gives EFAULT, and memory that can only be read keeps its content",
    body: bad_addresses,
    ..REFUSED
};

pub(super) const RLIMIT: Stressor = Stressor {
    name: "rlimit",
    about: "limits of file size, descriptors, memory and stack: getrlimit(2)",
    operation: "each limit met by a child",
    verifies: "exactly the limit can be used, and more gives the limit's own error",
    body: limits,
    ..REFUSED
};

pub(super) const RESOURCES: Stressor = Stressor {
    name: "resources",
    about: "descriptors of many kinds taken up to the limit, and given back",
    operation: "one descriptor taken",
    verifies: "the kernel lists as many as were taken; one more gives EMFILE; all come back",
    options: &[DESCRIPTORS],
    body: descriptors,
    ..REFUSED
};

/// A number that no kernel has given to a call: those below a thousand are given one after the other, and bit 30 has
/// the meaning of another interface.
fn unknown_number(random: &mut Random) -> i64 {
    const OTHER_INTERFACE: u64 = 0x4000_0000;
    let number = match random.below(3) {
        0 => 1000 + random.below(100_000) as u64,
        1 => 1 << (10 + random.below(20)),
        _ => random.next_u64() >> 33 | 1 << 12,
    };
    (number & !OTHER_INTERFACE).cast_signed()
}

fn unknown(worker: &Worker) -> Checked {
    let mut random = worker.random();
    worker.repeat(|| {
        let seed = random.next_u64();
        without_rights(|| {
            let mut random = Random::new(seed);
            for _ in 0..256 {
                let number = unknown_number(&mut random);
                // SAFETY: there is no such call.
                let called = unsafe { call(number, [0; 6]) };
                fails(&format!("call {number}"), called, Errno::NOSYS)?;
            }
            Ok(())
        })?
        .succeeds()
    })
}

fn bad_addresses(worker: &Worker) -> Checked {
    let page = page_size();
    let mut memory = Memory::private(2 * page)?;
    memory.fill(7);
    let [readable, hidden] = [0, 1].map(|at| memory.area().page(at).addr());
    // SAFETY: pages of the mapping; nothing refers to the second.
    unsafe {
        rustix::mm::mprotect(memory.area().page(0).cast(), page, MprotectFlags::READ)?;
        rustix::mm::mprotect(memory.area().page(1).cast(), page, MprotectFlags::empty())?;
    }
    let zero = file::open("/dev/zero", rustix::fs::OFlags::empty())?;
    let file = std::os::fd::AsRawFd::as_raw_fd(&zero).unsigned_abs() as usize;
    // Calls that write to the address, and the place of the address among their arguments.
    let writers: [(&str, libc::c_long, [usize; 4], usize); 9] = [
        ("read(2)", libc::SYS_read, [file, 0, 16, 0], 1),
        ("fstat(2)", libc::SYS_fstat, [file, 0, 0, 0], 1),
        ("uname(2)", libc::SYS_uname, [0, 0, 0, 0], 0),
        ("sysinfo(2)", libc::SYS_sysinfo, [0, 0, 0, 0], 0),
        ("getrlimit(2)", libc::SYS_getrlimit, [0, 0, 0, 0], 1),
        ("getcwd(2)", libc::SYS_getcwd, [0, 4096, 0, 0], 0),
        ("times(2)", libc::SYS_times, [0, 0, 0, 0], 0),
        ("getrandom(2)", libc::SYS_getrandom, [0, 16, 0, 0], 0),
        ("sched_getaffinity(2)", libc::SYS_sched_getaffinity, [0, 1024, 0, 0], 2),
    ];
    // Calls that read from it.
    let readers: [(&str, libc::c_long, [usize; 4], usize); 5] = [
        ("open(2)", libc::SYS_open, [0, 0, 0, 0], 0),
        ("mkdir(2)", libc::SYS_mkdir, [0, 0o700, 0, 0], 0),
        ("nanosleep(2)", libc::SYS_nanosleep, [0, 0, 0, 0], 0),
        ("setrlimit(2)", libc::SYS_setrlimit, [0, 0, 0, 0], 1),
        ("unlink(2)", libc::SYS_unlink, [0, 0, 0, 0], 0),
    ];
    let kernel = usize::MAX - 8 * page + 1;
    worker.repeat(|| {
        // The last one has no address in all of the 64 bits.
        for address in [1, hidden, kernel, 1 << 62, readable] {
            let only_writers = address == readable;
            let readers = readers.iter().filter(|_| !only_writers);
            for &(name, number, mut arguments, place) in writers.iter().chain(readers) {
                arguments[place] = address;
                // SAFETY: the kernel refuses to use the address.
                let called = unsafe { call(number, arguments) };
                fails(&format!("{name} with {address:#x}"), called, Errno::FAULT)?;
            }
        }
        equal("memory that can only be read", (memory[0], memory[page - 1]), (7, 7))
    })
}

fn limit(resource: Resource, value: u64) -> Result<(), Errno> {
    let maximum = getrlimit(resource).maximum;
    setrlimit(resource, Rlimit { current: Some(value), maximum })
}

fn limits(worker: &Worker) -> Checked {
    worker.repeat(|| {
        helper(|| {
            ignore(libc::SIGXFSZ)?;
            limit(Resource::Fsize, 8192)?;
            let file = file::create("limited")?;
            equal("bytes up to the limit", pwrite(&file, &[1; 16384], 0)?, 8192)?;
            fails("bytes behind it", pwrite(&file, b"x", 8192), Errno::FBIG)
        })?
        .succeeds()?;
        let killed = helper(|| {
            limit(Resource::Fsize, 0)?;
            pwrite(file::create("limited")?, b"x", 0)?;
            Ok(())
        })?;
        equal("the signal for it", killed.wait()?.terminating_signal(), Some(libc::SIGXFSZ))?;
        helper(|| {
            limit(Resource::As, 1 << 20)?;
            fails("memory behind the limit", Memory::private(64 << 20), Errno::NOMEM)
        })?
        .succeeds()?;
        helper(|| {
            limit(Resource::Nofile, 32)?;
            let opened: Vec<OwnedFd> =
                std::iter::from_fn(|| eventfd(0, EventfdFlags::empty()).ok()).take(64).collect();
            let last = opened.last().map(std::os::fd::AsRawFd::as_raw_fd);
            equal("the last descriptor below the limit", last, Some(31))?;
            fails("one more", eventfd(0, EventfdFlags::empty()), Errno::MFILE)
        })?
        .succeeds()
    })
}

/// The descriptors of this process, in order.
fn numbers() -> Checked<Vec<u64>> {
    let names = std::fs::read_dir("/proc/self/fd")?.flatten();
    let mut numbers: Vec<u64> =
        names.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok())).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// The bound below which so many numbers are left where these descriptors are open: RLIMIT_NOFILE bounds their numbers, and those above
/// it stay open.
fn bound(open: &[u64], left: u64) -> u64 {
    open.iter().fold(left, |bound, number| bound + u64::from(*number < bound))
}

/// One descriptor of the next kind.
fn next(kind: usize) -> Result<OwnedFd, Errno> {
    match kind % 5 {
        0 => eventfd(0, EventfdFlags::empty()),
        1 => memfd_create("taken", MemfdFlags::empty()),
        2 => timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::empty()),
        3 => rustix::net::socket(rustix::net::AddressFamily::UNIX, rustix::net::SocketType::STREAM, None),
        _ => pipe().map(|(reader, _)| reader),
    }
}

fn descriptors(worker: &Worker) -> Checked {
    let open = || std::fs::read_dir("/proc/self/fd").map(Iterator::count);
    let (before, most) = (open()?, worker.size(&DESCRIPTORS));
    // A pipe has two for a moment, and the directory one.
    limit(Resource::Nofile, bound(&numbers()?, most as u64 + 2))?;
    while worker.goes_on() {
        let mut taken = Vec::new();
        while taken.len() < most && worker.goes_on() {
            taken.push(next(taken.len())?);
            worker.count();
        }
        equal("descriptors that are open", open()?, before + taken.len())?;
        if taken.len() == most {
            while let Ok(more) = eventfd(0, EventfdFlags::empty()) {
                taken.push(more);
                holds("the limit is met", taken.len() <= most + 3)?;
            }
            fails("one more", next(0), Errno::MFILE)?;
        }
        drop(taken);
        equal("descriptors that are open afterwards", open()?, before)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_descriptors_are_left_wherever_others_are() {
        assert_eq!(bound(&[0, 1, 2], 10), 13);
        assert_eq!(bound(&[0, 1, 2, 12, 13, 200], 10), 15, "one is behind the bound");
        assert_eq!(bound(&[], 10), 10);
    }
}
