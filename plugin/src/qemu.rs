//! What QEMU calls, and what it is asked: its interface for plugins, version 1 (docs/devel/tcg-plugins.rst of QEMU).
//!
//! QEMU has one virtual CPU here and one thread for it, which makes all calls but the first; where [`hazards`] or [`breakpoints`] are
//! looked for, there may be several.

mod breakpoints;
mod hazards;

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::Write;
use std::sync::LazyLock;

use protocol::measure::{MARK_BEGIN, MARK_END, MARK_JOB_DONE};
use protocol::profile::{EVENTS_MAX, INSTRUCTIONS_MAX};

use crate::blocks::{Id, is_kernel};
use crate::events::{Counts, Events};
use crate::output::Output;
use crate::recorder::Recorder;
use crate::stacks::End;

/// A block that is being translated, and an instruction in it.
type Tb = c_void;
type Insn = c_void;

type Callback = extern "C" fn(c_uint, *mut c_void);
type MemoryCallback = extern "C" fn(c_uint, u32, u64, *mut c_void);

/// The operation `QEMU_PLUGIN_INLINE_ADD_U64`, and the flag `QEMU_PLUGIN_CB_NO_REGS`.
const ADD: c_int = 0;
const NO_REGISTERS: c_int = 0;

/// `QEMU_PLUGIN_MEM_W` and `QEMU_PLUGIN_MEM_RW`: QEMU 7.2 was seen to tell of reads only to those who want both.
const WRITES: c_int = 2;
const ALL: c_int = 3;

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(plugin: u64, callback: extern "C" fn(u64, *mut Tb));
    fn qemu_plugin_register_vcpu_tb_exec_cb(tb: *mut Tb, callback: Callback, flags: c_int, data: *mut c_void);
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        insn: *mut Insn,
        callback: Callback,
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_vcpu_insn_exec_inline(
        insn: *mut Insn,
        operation: c_int,
        to: *mut u64,
        value: u64,
    );
    fn qemu_plugin_register_vcpu_mem_cb(
        insn: *mut Insn,
        callback: MemoryCallback,
        flags: c_int,
        way: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_tb_n_insns(tb: *const Tb) -> usize;
    fn qemu_plugin_tb_vaddr(tb: *const Tb) -> u64;
    fn qemu_plugin_tb_get_insn(tb: *const Tb, index: usize) -> *mut Insn;
    fn qemu_plugin_insn_data(insn: *const Insn) -> *const u8;
    fn qemu_plugin_insn_size(insn: *const Insn) -> usize;
    fn qemu_plugin_insn_haddr(insn: *const Insn) -> *mut c_void;
    fn qemu_plugin_reset(plugin: u64, done: extern "C" fn(u64));
    fn qemu_plugin_outs(text: *const c_char);
}

/// The version of the interface.
#[unsafe(no_mangle)]
pub(crate) static qemu_plugin_version: c_int = 1;

/// What the plugin has; only the thread of the virtual CPU touches it.
#[derive(Default)]
struct Plugin {
    recorder: Recorder,
    output: Output,
    file: Option<File>,
    /// Calls and returns are followed.
    follows: bool,
    /// Only events are counted.
    events: Option<Events>,
}

/// What only one thread touches.
#[derive(Default)]
struct OneThread<T>(UnsafeCell<T>);

// SAFETY: QEMU calls from one thread: `install` returns before that of the virtual CPU starts.
unsafe impl<T> Sync for OneThread<T> {}
// SAFETY: as above.
unsafe impl<T> Send for OneThread<T> {}

static PLUGIN: LazyLock<OneThread<Plugin>> = LazyLock::new(OneThread::default);

/// All instructions that have begun. The code that QEMU makes adds to it.
static PROGRESS: OneThread<u64> = OneThread(UnsafeCell::new(0));

/// How often each event has happened. The code that QEMU makes adds to it.
static COUNTS: OneThread<Counts> = OneThread(UnsafeCell::new([0; EVENTS_MAX]));

/// Longest instruction of x86, in bytes.
const INSTRUCTION_BYTES: u64 = 15;

/// The plugin, for the time of one call from QEMU.
fn plugin() -> &'static mut Plugin {
    // SAFETY: one thread, and no function here calls another that uses this.
    unsafe { &mut *PLUGIN.0.get() }
}

fn progress() -> u64 {
    // SAFETY: written by the same thread.
    unsafe { PROGRESS.0.get().read() }
}

fn counts() -> &'static Counts {
    // SAFETY: written by the same thread, and not while this is used.
    unsafe { &*COUNTS.0.get() }
}

/// Called by QEMU when it has loaded the plugin, with `output=PATH` among the arguments, and perhaps `stacks=off`: QEMU then
/// does not tell of calls and returns; or `events=PATH`: only the events in that file are counted. With `hazards=DESCRIPTOR` nothing is
/// counted, and hazards are told there; with `breakpoints=on`, breakpoints that are gone are forgotten.
///
/// # Safety
///
/// `arguments` are `count` strings.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    _info: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: QEMU gives as many strings.
    let texts = (0..count).map(|index| unsafe { CStr::from_ptr(*arguments.add(index)) });
    let texts: Vec<&str> = texts.filter_map(|text| text.to_str().ok()).collect();
    if let Some(options) = hazards::Options::of(&texts) {
        hazards::install(id, options);
        return 0;
    }
    if breakpoints::are_watched(&texts) {
        breakpoints::install(id);
        return 0;
    }
    let path = texts.iter().find_map(|text| text.strip_prefix("output="));
    let file = path.and_then(|path| File::options().append(true).create(true).open(path).ok());
    if file.is_none() {
        say(c"kiln's plugin: no output=FILE that can be written\n");
        return 1;
    }
    plugin().file = file;
    plugin().follows = !texts.contains(&"stacks=off");
    if let Some(path) = texts.iter().find_map(|text| text.strip_prefix("events=")) {
        let Ok(bytes) = std::fs::read(path) else {
            say(c"kiln's plugin: its events=FILE cannot be read\n");
            return 1;
        };
        plugin().events = Some(Events::new(&bytes));
    }
    // SAFETY: the function lives as long as the plugin.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, translated) };
    0
}

extern "C" fn translated(_: u64, tb: *mut Tb) {
    // SAFETY: QEMU gives a block with so many instructions, for the time of this call.
    let (address, count) = unsafe { (qemu_plugin_tb_vaddr(tb), qemu_plugin_tb_n_insns(tb)) };
    // SAFETY: as above.
    let instructions = (0..count).map(|index| unsafe { qemu_plugin_tb_get_insn(tb, index) });
    match &plugin().events {
        Some(events) => count_events(events, address, instructions),
        None => record(tb, address, &instructions.collect::<Vec<_>>()),
    }
}

/// Has the events of a block counted, and nothing else.
fn count_events(events: &Events, address: u64, instructions: impl Iterator<Item = *mut Insn>) {
    if !is_kernel(address) {
        instructions.for_each(|instruction| call_if_of_interest(instruction, bytes(instruction)));
        return;
    }
    let end = address.saturating_add(INSTRUCTIONS_MAX as u64 * INSTRUCTION_BYTES);
    let entries = events.within(address..end);
    if entries.is_empty() {
        return;
    }
    let mut address = address;
    for instruction in instructions {
        for entry in entries.iter().filter(|entry| entry.address == address) {
            // The events have numbers within the array.
            let count = COUNTS.0.get().cast::<u64>().wrapping_add(entry.event as usize);
            // SAFETY: the number lives for ever.
            unsafe { qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD, count, 1) };
        }
        address = address.wrapping_add(bytes(instruction).len() as u64);
    }
}

/// Has a block recorded, instruction by instruction.
fn record(tb: *mut Tb, address: u64, instructions: &[*mut Insn]) {
    let mut sizes = Vec::with_capacity(instructions.len());
    let mut end = End::Other;
    for &instruction in instructions {
        let bytes = bytes(instruction);
        sizes.push(u8::try_from(bytes.len()).unwrap_or(u8::MAX));
        end = End::of(bytes);
        // SAFETY: the number lives for ever.
        unsafe { qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD, PROGRESS.0.get(), 1) };
        if !is_kernel(address) {
            call_if_of_interest(instruction, bytes);
        }
    }
    let Plugin { recorder: Recorder { blocks, .. }, follows, .. } = plugin();
    let id = blocks.id(address, &sizes);
    if let Some(block) = blocks.known(id) {
        block.end = end;
    }
    let way = match end {
        End::Call => Some(WRITES),
        End::Return => Some(ALL),
        End::Other | End::Leave => None,
    };
    if let (Some(way), Some(&last), true) = (way, instructions.last(), *follows && is_kernel(address)) {
        // SAFETY: the block's last instruction; the function lives as long as the plugin.
        unsafe { qemu_plugin_register_vcpu_mem_cb(last, stack, NO_REGISTERS, way, std::ptr::null_mut()) };
    }
    let data = std::ptr::without_provenance_mut(id as usize);
    // SAFETY: the function lives as long as the plugin, and the data are a number.
    unsafe { qemu_plugin_register_vcpu_tb_exec_cb(tb, block, NO_REGISTERS, data) };
}

/// The bytes of an instruction, for the time of QEMU's call.
fn bytes<'a>(instruction: *mut Insn) -> &'a [u8] {
    // SAFETY: the data are as many bytes as the size says.
    unsafe {
        let size = qemu_plugin_insn_size(instruction);
        std::slice::from_raw_parts(qemu_plugin_insn_data(instruction), size)
    }
}

/// Has the plugin called before this instruction of user space, if it tells something.
fn call_if_of_interest(instruction: *mut Insn, bytes: &[u8]) {
    if let Some(callback) = of_interest(bytes) {
        let none = std::ptr::null_mut();
        // SAFETY: the function lives as long as the plugin.
        unsafe { qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, NO_REGISTERS, none) };
    }
}

/// What is called before this instruction of user space: a mark, or `rdtsc`.
fn of_interest(bytes: &[u8]) -> Option<Callback> {
    match *bytes {
        [0x0f, 0x31] => Some(time_stamp),
        [0x0f, 0x1f, 0x80, a, b, c, d] => match u32::from_le_bytes([a, b, c, d]) {
            MARK_BEGIN => Some(begin),
            MARK_END => Some(end),
            MARK_JOB_DONE => Some(job_done),
            _ => None,
        },
        _ => None,
    }
}

extern "C" fn block(_: c_uint, data: *mut c_void) {
    plugin().recorder.block(Id::try_from(data.addr()).unwrap_or(0), progress());
}

extern "C" fn stack(_: c_uint, _: u32, address: u64, _: *mut c_void) {
    plugin().recorder.stack(address);
}

extern "C" fn begin(_: c_uint, _: *mut c_void) {
    let Plugin { recorder, events, .. } = plugin();
    events.as_mut().map_or_else(|| recorder.begin(), Events::begin);
}

extern "C" fn time_stamp(_: c_uint, _: *mut c_void) {
    let Plugin { recorder, events, .. } = plugin();
    match events {
        Some(events) => events.time_stamp(counts()),
        None => recorder.time_stamp(progress()),
    }
}

extern "C" fn end(_: c_uint, _: *mut c_void) {
    let Plugin { recorder, events, .. } = plugin();
    events.as_mut().map_or_else(|| recorder.end(), Events::end);
}

extern "C" fn job_done(_: c_uint, _: *mut c_void) {
    let Plugin { recorder, events, output, file, .. } = plugin();
    let bytes = match events {
        Some(events) => output.events(&events.job_done()),
        None => output.job(&recorder.job_done(), &mut recorder.blocks, &recorder.stacks),
    };
    let written = match (bytes, file.as_mut()) {
        (Some(bytes), Some(file)) => file.write_all(&bytes).is_ok(),
        (None, Some(_)) => false,
        (_, None) => return,
    };
    if !written {
        say(c"kiln's plugin: its output cannot be written any more\n");
        *file = None;
    }
}

fn say(text: &CStr) {
    // SAFETY: a string of C.
    unsafe { qemu_plugin_outs(text.as_ptr()) };
}
