//! Maps and programs of BPF: bpf(2).

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;

use crate::sys::{call, call_for_descriptor};

// Commands, types and flags of <linux/bpf.h>.
const MAP_CREATE: usize = 0;
const MAP_LOOKUP: usize = 1;
const MAP_UPDATE: usize = 2;
const MAP_DELETE: usize = 3;
const MAP_NEXT_KEY: usize = 4;
const PROG_LOAD: usize = 5;
const PROG_TEST_RUN: usize = 10;
const LINK_CREATE: usize = 28;
/// `BPF_MAP_TYPE_HASH`.
pub const HASH: u32 = 1;
/// `BPF_MAP_TYPE_ARRAY`.
pub const ARRAY: u32 = 2;
/// `BPF_PROG_TYPE_SOCKET_FILTER`.
pub const SOCKET_FILTER: u32 = 1;
/// `BPF_PROG_TYPE_KPROBE`.
pub const KPROBE: u32 = 2;
/// `BPF_PROG_TYPE_XDP`.
pub const XDP: u32 = 6;
/// `BPF_PROG_TYPE_PERF_EVENT`.
pub const PERF_EVENT: u32 = 7;
/// `XDP_DROP`: what an XDP program returns to drop the packet.
pub const XDP_DROP: i32 = 1;
/// `BPF_ANY`: make or change the element.
pub const ANY: u64 = 0;
/// `BPF_NOEXIST`: make the element.
pub const NOEXIST: u64 = 1;
/// `BPF_EXIST`: change the element.
pub const EXIST: u64 = 2;

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

impl From<OwnedFd> for Map {
    /// A map that somebody else has made, whose values may be shorter: the last bytes of a value are left out.
    fn from(map: OwnedFd) -> Self {
        Self(map)
    }
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
    ///
    /// # Errors
    ///
    /// As the manual page says.
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
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn delete(&self, key: u32) -> Result<usize, Errno> {
        self.element(MAP_DELETE, key, None, 0)
    }

    /// The key after `key`.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn next_key(&self, key: u32) -> Result<u32, Errno> {
        let mut next = 0;
        self.element(MAP_NEXT_KEY, key, Some(&mut next), 0)?;
        u32::try_from(next).map_err(|_| Errno::RANGE)
    }
}

/// One instruction: operation, destination and source register, offset and constant.
#[must_use]
pub const fn step(operation: u8, destination: u8, source: u8, offset: i16, constant: i32) -> u64 {
    let registers = (source << 4) | destination;
    operation as u64
        | (registers as u64) << 8
        | ((offset as u16) as u64) << 16
        | ((constant as u32) as u64) << 32
}

/// The instruction that sets a register to a constant.
#[must_use]
pub const fn set(register: u8, constant: i32) -> u64 {
    step(0xb7, register, 0, 0, constant)
}

/// The instruction that copies a register.
#[must_use]
pub const fn copy(destination: u8, source: u8) -> u64 {
    step(0xbf, destination, source, 0, 0)
}

/// The instruction that calls a helper of the kernel.
#[must_use]
pub const fn call_helper(number: i32) -> u64 {
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

/// Loads a program; `log` gets what the verifier says, which must fit into it unless it has no room at all.
///
/// # Errors
///
/// As the manual page says.
pub fn load_with_log(kind: u32, steps: &[u64], log: &mut [u8]) -> Result<OwnedFd, Errno> {
    let mut attributes = Load {
        kind,
        count: u32::try_from(steps.len()).unwrap_or(u32::MAX),
        steps: steps.as_ptr().addr() as u64,
        license: c"GPL".as_ptr().addr() as u64,
        log_level: u32::from(!log.is_empty()),
        log_size: u32::try_from(log.len()).unwrap_or(u32::MAX),
        log: if log.is_empty() { 0 } else { log.as_mut_ptr().addr() as u64 },
        kernel_version: 0,
        flags: 0,
    };
    // SAFETY: steps, license and log live until the call has returned, and have the given sizes.
    unsafe { call_for_descriptor(libc::SYS_bpf, arguments(PROG_LOAD, &mut attributes)) }
}

/// Loads a program whose log would be long, such as [`busy`].
///
/// # Errors
///
/// As the manual page says.
pub fn load_without_log(kind: u32, steps: &[u64]) -> Result<OwnedFd, Errno> {
    load_with_log(kind, steps, &mut [])
}

/// Loads a program: `BPF_PROG_LOAD`.
///
/// # Errors
///
/// As the manual page says.
pub fn load(kind: u32, steps: &[u64]) -> Result<OwnedFd, Errno> {
    load_with_log(kind, steps, &mut [0; 16384])
}

/// Steps that set register 0 to the address of an element, or to 0 if there is none.
fn element(map: &Map, key: i32) -> [u64; 6] {
    const LOOKUP: i32 = 1;
    let map_number = i32::try_from(map.number()).unwrap_or(-1);
    [
        step(0x62, 10, 0, -4, key),      // *(u32 *)(r10 - 4) = key
        step(0x18, 1, 1, 0, map_number), // r1 = map, in two parts
        0,
        copy(2, 10),
        step(0x07, 2, 0, 0, -4), // r2 = address of the key
        call_helper(LOOKUP),
    ]
}

/// Adds one to element 0 of the map and returns the new value, or -1 if there is no such element.
#[must_use]
pub fn counting(map: &Map) -> Vec<u64> {
    let rest = [
        step(0x55, 0, 0, 2, 0), // found: skip two steps
        set(0, -1),
        EXIT,
        step(0x79, 1, 0, 0, 0), // r1 = *(u64 *)r0
        step(0x07, 1, 0, 0, 1),
        step(0x7b, 0, 1, 0, 0), // *(u64 *)r0 = r1
        copy(0, 1),
        EXIT,
    ];
    [&element(map, 0)[..], &rest].concat()
}

/// Steps that add a register to an element, if it is there: they change registers 0 to 5.
fn add(map: &Map, key: i32, register: u8) -> Vec<u64> {
    let rest = [
        step(0x15, 0, 0, 1, 0),        // not found: skip a step
        step(0xdb, 0, register, 0, 0), // lock *(u64 *)r0 += register
    ];
    [&element(map, key)[..], &rest].concat()
}

/// Is busy for `nanoseconds`, adds the time that it really took to element 0 of the map and one to element 1, and returns
/// `result`. It ends early after [`ROUNDS`] looks at the clock, since the verifier follows each of them.
#[must_use]
pub fn busy(map: &Map, nanoseconds: i32, result: i32) -> Vec<u64> {
    const KTIME_GET_NS: i32 = 5;
    // A division takes long, and the verifier counts steps.
    let work = [
        step(0x27, 9, 0, 0, 0x0001_0dcd), // r9 *= constant
        step(0x37, 9, 0, 0, 3),           // r9 /= 3
    ];
    let begin = [call_helper(KTIME_GET_NS), copy(6, 0), set(7, 0), copy(9, 0)];
    let look = [
        call_helper(KTIME_GET_NS),
        copy(8, 0),
        step(0x1f, 8, 6, 0, 0), // r8 -= r6
    ];
    let around = i16::try_from(work.len() * WORK + look.len() + 3).unwrap_or(i16::MAX);
    let repeat = [
        step(0x35, 8, 0, 2, nanoseconds), // r8 >= nanoseconds: the time is over
        step(0x07, 7, 0, 0, 1),
        step(0xa5, 7, 0, -around, ROUNDS), // r7 < ROUNDS: once more
    ];
    let count = [set(6, 1)];
    let end = [set(0, result), EXIT];
    [&begin[..], &[work; WORK].concat(), &look, &repeat, &add(map, 0, 8), &count, &add(map, 1, 6), &end]
        .concat()
}

/// Looks at the clock of a [`busy`] program at most: with what lies in between, more than a millisecond.
pub const ROUNDS: i32 = 3000;

/// Multiplications and divisions between two looks at the clock.
const WORK: usize = 64;

/// Attaches an XDP program to an interface of this network namespace in generic mode, which every driver has, for as long as the
/// link is open: `BPF_LINK_CREATE`.
///
/// # Errors
///
/// As the manual page says.
pub fn link_xdp(program: &OwnedFd, interface: u32) -> Result<OwnedFd, Errno> {
    const ATTACH_XDP: u32 = 37;
    const GENERIC_MODE: u32 = 1 << 1;
    let mut attributes = [program.as_raw_fd().unsigned_abs(), interface, ATTACH_XDP, GENERIC_MODE];
    // SAFETY: creating this link takes no addresses.
    unsafe { call_for_descriptor(libc::SYS_bpf, arguments(LINK_CREATE, &mut attributes)) }
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
