//! Programs in the kernel: bpf(2).

use harness::check::{Checked, equal, fails, holds};
use harness::child::unprivileged;
use harness::sys::{call, call_for_descriptor, succeeded};
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

// Commands, types and flags of <linux/bpf.h>.
const MAP_CREATE: usize = 0;
const MAP_LOOKUP: usize = 1;
const MAP_UPDATE: usize = 2;
const MAP_DELETE: usize = 3;
const MAP_NEXT_KEY: usize = 4;
const PROG_LOAD: usize = 5;
const PROG_TEST_RUN: usize = 10;
/// `BPF_MAP_TYPE_HASH`.
pub const HASH: u32 = 1;
/// `BPF_MAP_TYPE_ARRAY`.
pub const ARRAY: u32 = 2;
/// `BPF_PROG_TYPE_SOCKET_FILTER`.
pub const SOCKET_FILTER: u32 = 1;
const KPROBE: u32 = 2;
/// `BPF_ANY`: make or change the element.
pub const ANY: u64 = 0;
const NOEXIST: u64 = 1;
const EXIST: u64 = 2;

/// The arguments of bpf(2) with the part of `union bpf_attr` that the command uses.
fn arguments<T>(command: usize, attributes: &mut T) -> [usize; 3] {
    [command, (&raw mut *attributes).addr(), size_of::<T>()]
}

/// A map from `u32` to `u64`.
#[derive(Debug)]
pub struct Map(OwnedFd);

#[repr(C)]
struct Element {
    map: u32,
    key: u64,
    value: u64,
    flags: u64,
}

impl Map {
    /// A map of `kind`.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn new(kind: u32, entries: u32) -> Result<Self, Errno> {
        Self::with(kind, entries, 0)
    }

    /// A map with flags of `BPF_MAP_CREATE`.
    pub fn with(kind: u32, entries: u32, flags: u32) -> Result<Self, Errno> {
        let (key_size, value_size) = (4, 8);
        let mut attributes = [kind, key_size, value_size, entries, flags];
        // SAFETY: creating a map takes no addresses.
        unsafe { call_for_descriptor(libc::SYS_bpf, arguments(MAP_CREATE, &mut attributes)) }.map(Map)
    }

    fn number(&self) -> u32 {
        self.0.as_raw_fd().unsigned_abs()
    }

    fn element(&self, command: usize, key: u32, value: Option<&mut u64>, flags: u64) -> Result<usize, Errno> {
        let value = value.map_or(0, |value| (&raw mut *value).addr() as u64);
        let key = (&raw const key).addr() as u64;
        let mut element = Element { map: self.number(), key, value, flags };
        // SAFETY: key and value have the sizes that the map was made with.
        unsafe { call(libc::SYS_bpf, arguments(command, &mut element)) }
    }

    /// The value of `key`.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn lookup(&self, key: u32) -> Result<u64, Errno> {
        let mut value = 0;
        self.element(MAP_LOOKUP, key, Some(&mut value), 0).map(|_| value)
    }

    /// Sets the value of `key`; `flags` such as [`ANY`].
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn update(&self, key: u32, mut value: u64, flags: u64) -> Result<usize, Errno> {
        self.element(MAP_UPDATE, key, Some(&mut value), flags)
    }

    /// Removes `key`.
    pub fn delete(&self, key: u32) -> Result<usize, Errno> {
        self.element(MAP_DELETE, key, None, 0)
    }

    fn next_key(&self, key: u32) -> Result<u32, Errno> {
        let mut next = 0;
        self.element(MAP_NEXT_KEY, key, Some(&mut next), 0)?;
        u32::try_from(next).map_err(|_| Errno::RANGE)
    }
}

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

/// One instruction: operation, destination and source register, offset and constant.
const fn step(operation: u8, destination: u8, source: u8, offset: i16, constant: i32) -> u64 {
    let registers = (source << 4) | destination;
    operation as u64
        | (registers as u64) << 8
        | ((offset as u16) as u64) << 16
        | ((constant as u32) as u64) << 32
}

/// The instruction that sets a register to a constant.
pub const fn set(register: u8, constant: i32) -> u64 {
    step(0xb7, register, 0, 0, constant)
}

const fn copy(destination: u8, source: u8) -> u64 {
    step(0xbf, destination, source, 0, 0)
}

const fn call_helper(number: i32) -> u64 {
    step(0x85, 0, 0, 0, number)
}

/// The instruction that ends a program.
pub const EXIT: u64 = step(0x95, 0, 0, 0, 0);

#[repr(C)]
struct Load {
    kind: u32,
    count: u32,
    steps: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
}

/// Loads a program; `log` gets what the verifier says.
fn load_with_log(kind: u32, steps: &[u64], log: &mut [u8]) -> Result<OwnedFd, Errno> {
    let mut attributes = Load {
        kind,
        count: u32::try_from(steps.len()).unwrap_or(u32::MAX),
        steps: steps.as_ptr().addr() as u64,
        license: c"GPL".as_ptr().addr() as u64,
        log_level: 1,
        log_size: u32::try_from(log.len()).unwrap_or(u32::MAX),
        log: log.as_mut_ptr().addr() as u64,
        kernel_version: 0,
        flags: 0,
    };
    // SAFETY: steps, license and log live until the call has returned, and have the given sizes.
    unsafe { call_for_descriptor(libc::SYS_bpf, arguments(PROG_LOAD, &mut attributes)) }
}

/// Loads a program: `BPF_PROG_LOAD`.
///
/// # Errors
///
/// As the manual page says.
pub fn load(kind: u32, steps: &[u64]) -> Result<OwnedFd, Errno> {
    load_with_log(kind, steps, &mut [0; 16384])
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

/// Adds one to element 0 of the map and returns the new value, or -1 if there is no such element.
pub fn counting(map: &Map) -> Vec<u64> {
    const LOOKUP: i32 = 1;
    let map_number = i32::try_from(map.number()).unwrap_or(-1);
    vec![
        step(0x62, 10, 0, -4, 0),        // *(u32 *)(r10 - 4) = 0, the key
        step(0x18, 1, 1, 0, map_number), // r1 = map, in two parts
        0,
        copy(2, 10),
        step(0x07, 2, 0, 0, -4), // r2 = address of the key
        call_helper(LOOKUP),
        step(0x55, 0, 0, 2, 0), // found: skip two steps
        set(0, -1),
        EXIT,
        step(0x79, 1, 0, 0, 0), // r1 = *(u64 *)r0
        step(0x07, 1, 0, 0, 1),
        step(0x7b, 0, 1, 0, 0), // *(u64 *)r0 = r1
        copy(0, 1),
        EXIT,
    ]
}

#[repr(C)]
#[derive(Default)]
struct TestRun {
    program: u32,
    result: u32,
    input_size: u32,
    output_size: u32,
    input: u64,
    output: u64,
    repeat: u32,
    duration: u32,
}

/// BPF_PROG_TEST_RUN with a packet of zeroes: what the program returned.
///
/// # Errors
///
/// As the manual page says.
pub fn run(program: &OwnedFd) -> Result<u32, Errno> {
    let packet = [0_u8; 64];
    let mut run = TestRun {
        program: program.as_raw_fd().unsigned_abs(),
        input_size: 64,
        input: packet.as_ptr().addr() as u64,
        ..TestRun::default()
    };
    // SAFETY: the input has the given size, and there is no output.
    unsafe { call(libc::SYS_bpf, arguments(PROG_TEST_RUN, &mut run))? };
    Ok(run.result)
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
