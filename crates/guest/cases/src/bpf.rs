//! Programs in the kernel: bpf(2).

use harness::bpf::{
    ANY, ARRAY, EXIST, EXIT, HASH, KPROBE, Map, NOEXIST, SOCKET_FILTER, call_helper, counting, load,
    load_with_log, run, set, step,
};
use harness::check::{Checked, equal, fails, holds};
use harness::child::unprivileged;
use harness::sys::succeeded;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::case::{Case, Need};

const BPF: &[Need] = &[Need::Config("BPF_SYSCALL")];

/// Programs that are attached to kprobes, tracepoints and perf events.
const TRACING: &[Need] = &[Need::Config("BPF_SYSCALL"), Need::Config("BPF_EVENTS")];

pub(super) const CASES: &[Case] = &[
    Case::new("bpf/array", "an array map is full of zeroes, never grows and never shrinks", array).needs(BPF),
    Case::new("bpf/hash", "a hash map obeys BPF_NOEXIST, BPF_EXIST and its limit (E2BIG)", hash).needs(BPF),
    Case::new("bpf/next-key", "BPF_MAP_GET_NEXT_KEY visits every key once and ends with ENOENT", next_key)
        .needs(BPF),
    Case::new("bpf/socket-filter", "SO_ATTACH_BPF: a program drops or shortens datagrams", socket_filter)
        .needs(BPF),
    Case::new("bpf/test-run", "BPF_PROG_TEST_RUN: a program counts in a map and returns its value", test_run)
        .needs(BPF),
    Case::new("bpf/verifier", "BPF_PROG_LOAD refuses unsafe programs and says why in its log", verifier)
        .needs(BPF),
    Case::new("bpf/privileges", "BPF_PROG_LOAD of a tracing program without CAP_BPF gives EPERM", privileges)
        .needs(TRACING),
];

fn array() -> Checked {
    let map = Map::new(ARRAY, 4)?;
    equal("value before any update", map.lookup(3)?, 0)?;
    map.update(3, 77, ANY)?;
    equal("value after the update", map.lookup(3)?, 77)?;
    equal("its neighbour", map.lookup(2)?, 0)?;
    fails("lookup beyond the end", map.lookup(4), Errno::NOENT)?;
    fails("update beyond the end", map.update(4, 1, ANY), Errno::TOOBIG)?;
    fails("update of what must not exist", map.update(0, 1, NOEXIST), Errno::EXIST)?;
    fails("delete", map.delete(3), Errno::INVAL)?;
    fails("an array of nothing", Map::new(ARRAY, 0).map(|_| ()), Errno::INVAL)
}

fn hash() -> Checked {
    let map = Map::new(HASH, 2)?;
    fails("lookup in an empty map", map.lookup(1), Errno::NOENT)?;
    fails("update of what must exist", map.update(1, 10, EXIST), Errno::NOENT)?;
    map.update(1, 10, NOEXIST)?;
    fails("update of what must not exist", map.update(1, 11, NOEXIST), Errno::EXIST)?;
    map.update(2, 20, ANY)?;
    fails("one more than fits", map.update(3, 30, ANY), Errno::TOOBIG)?;
    equal("first value", map.lookup(1)?, 10)?;
    map.delete(1)?;
    fails("second delete", map.delete(1), Errno::NOENT)?;
    fails("lookup of the deleted", map.lookup(1), Errno::NOENT)?;
    equal("second value", map.lookup(2)?, 20)
}

fn next_key() -> Checked {
    let map = Map::new(HASH, 8)?;
    let keys: Vec<u32> = (1..=8).collect();
    for &key in &keys {
        map.update(key, 1, ANY)?;
    }
    let mut seen = vec![map.next_key(u32::MAX)?];
    while let Ok(key) = map.next_key(seen[seen.len() - 1]) {
        seen.push(key);
        if seen.len() > keys.len() {
            break;
        }
    }
    fails("after the last key", map.next_key(seen[seen.len() - 1]), Errno::NOENT)?;
    seen.sort_unstable();
    equal("keys", seen, keys)
}

fn socket_filter() -> Checked {
    let flags = SocketFlags::NONBLOCK;
    let (near, far) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
    for (kept, received) in [(4, Ok(4)), (1000, Ok(64)), (0, Err(Errno::AGAIN))] {
        let program = load(SOCKET_FILTER, &[set(0, kept), EXIT])?;
        attach(&far, &program)?;
        // A datagram that the filter drops may be reported to its sender.
        let sent = rustix::net::send(&near, &[1; 64], SendFlags::empty());
        holds("the datagram is sent", kept == 0 || sent == Ok(64))?;
        let result = rustix::net::recv(&far, &mut [0; 128][..], RecvFlags::empty());
        equal("what passes the filter", result.map(|(bytes, _)| bytes), received)?;
    }
    Ok(())
}

fn attach(socket: &OwnedFd, program: &OwnedFd) -> Result<(), Errno> {
    let number = program.as_raw_fd();
    let size = size_of_val(&number) as libc::socklen_t;
    // SAFETY: the option's value is a descriptor of the given size.
    succeeded(unsafe {
        let value = (&raw const number).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ATTACH_BPF, value, size)
    })
}

fn test_run() -> Checked {
    let map = Map::new(ARRAY, 1)?;
    let program = load(SOCKET_FILTER, &counting(&map))?;
    for round in 1..=3 {
        equal("what the program returned", run(&program)?, round)?;
        equal("what it counted", map.lookup(0)?, u64::from(round))?;
    }
    Ok(())
}

fn verifier() -> Checked {
    let forever = step(0x15, 0, 0, -1, 0);
    let beyond_stack = step(0x7a, 10, 0, 8, 0);
    let bad: [(&str, &[u64], Errno, &str); 5] = [
        ("a register that was never set", &[EXIT], Errno::ACCESS, "R0 !read_ok"),
        ("a program without end", &[set(0, 0)], Errno::INVAL, ""),
        ("an endless loop", &[set(0, 0), forever, EXIT], Errno::INVAL, "loop"),
        ("a store outside the stack", &[beyond_stack, set(0, 0), EXIT], Errno::ACCESS, "stack"),
        ("an unknown helper", &[call_helper(1_000_000), EXIT], Errno::INVAL, "invalid func"),
    ];
    for (what, steps, error, reason) in bad {
        let mut log = vec![0; 16384];
        fails(what, load_with_log(SOCKET_FILTER, steps, &mut log), error)?;
        let log = String::from_utf8_lossy(&log);
        holds(&format!("the log on {what} says '{reason}'"), log.contains(reason))?;
    }
    fails("no program", load(SOCKET_FILTER, &[]), Errno::TOOBIG)
}

fn privileges() -> Checked {
    let harmless = [set(0, 0), EXIT];
    load(KPROBE, &harmless)?;
    unprivileged(|| fails("without CAP_BPF", load(KPROBE, &harmless), Errno::PERM))?.succeeds()
}
