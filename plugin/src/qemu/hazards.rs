//! QEMU with several virtual CPUs, each of which is a thread, and hazards that are looked for in what they execute.

use std::cell::UnsafeCell;
use std::ffi::{c_uint, c_void};
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Once, OnceLock};

use super::{
    NO_REGISTERS, Tb, breakpoints, bytes, qemu_plugin_register_vcpu_tb_exec_cb, qemu_plugin_tb_get_insn,
    qemu_plugin_tb_n_insns, qemu_plugin_tb_vaddr,
};
use crate::hazards::Hazards;
use crate::spins::{Code, Spins};

/// Most CPUs that are watched.
const CPUS_MAX: usize = 256;

/// What one CPU does, which only its thread touches. Two of them share no cache line, nor two that are fetched together.
#[derive(Default)]
#[repr(align(128))]
struct Cpu(UnsafeCell<Spins>);

// SAFETY: QEMU calls with the number of a CPU from the thread of that CPU.
unsafe impl Sync for Cpu {}

static HAZARDS: OnceLock<Hazards> = OnceLock::new();
static CPUS: OnceLock<Box<[Cpu]>> = OnceLock::new();
static LISTENS: Once = Once::new();

/// What is to be looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Options {
    /// The descriptor of the socket to kiln.
    channel: i32,
    /// A loop that is passed more often is a hazard, if it waits.
    bound: u64,
}

impl Options {
    /// `hazards=DESCRIPTOR,lock-spin=BOUND`, if that is among the arguments.
    pub(super) fn of(arguments: &[&str]) -> Option<Self> {
        let value = |name: &str| arguments.iter().find_map(|text| text.strip_prefix(name));
        Some(Self { channel: value("hazards=")?.parse().ok()?, bound: value("lock-spin=")?.parse().ok()? })
    }
}

/// Has QEMU call for all that is executed.
pub(super) fn install(plugin: u64, options: Options) {
    // SAFETY: kiln gives the number of a socket that nothing else uses.
    let channel = unsafe { UnixStream::from_raw_fd(options.channel) };
    if HAZARDS.set(Hazards::new(channel, options.bound)).is_ok() {
        CPUS.get_or_init(|| (0..CPUS_MAX).map(|_| Cpu::default()).collect());
        breakpoints::install_with(plugin, translated);
    }
}

extern "C" fn translated(plugin: u64, tb: *mut Tb) {
    breakpoints::watch(plugin, tb);
    let Some(hazards) = HAZARDS.get() else { return };
    // Here and not before: threads of CPUs take no signals, and neither does what they start. QEMU wants them elsewhere.
    LISTENS.call_once(|| drop(std::thread::spawn(|| hazards.listen())));
    // SAFETY: QEMU gives a block with so many instructions, for the time of this call.
    let (address, count) = unsafe { (qemu_plugin_tb_vaddr(tb), qemu_plugin_tb_n_insns(tb)) };
    // SAFETY: as above.
    let instructions = (0..count).map(|index| unsafe { qemu_plugin_tb_get_insn(tb, index) });
    let code: Vec<u8> = instructions.flat_map(|instruction| bytes(instruction).iter().copied()).collect();
    let Some(code) = hazards.code(Code { address, instructions: count as u64, bytes: code.into() }) else {
        return;
    };
    let data = std::ptr::from_ref(code).cast_mut().cast::<c_void>();
    // SAFETY: the function lives as long as the plugin, and so does the code.
    unsafe { qemu_plugin_register_vcpu_tb_exec_cb(tb, entered, NO_REGISTERS, data) };
}

extern "C" fn entered(cpu: c_uint, data: *mut c_void) {
    let place = CPUS.get().and_then(|cpus| cpus.get(cpu as usize));
    let (Some(hazards), Some(place)) = (HAZARDS.get(), place) else { return };
    // SAFETY: `translated` gave a piece of code that is never removed, and only this thread has what this CPU does.
    let (code, spins) = unsafe { (&*data.cast::<Code>(), &mut *place.0.get()) };
    hazards.enter(cpu, spins, code);
}
