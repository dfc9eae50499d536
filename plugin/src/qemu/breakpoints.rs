//! Breakpoints of the kernel that QEMU has translated, and goes on to execute when they are gone.
//!
//! The byte is looked at again each time that one of them is executed: if memory has another one, QEMU forgets all that it has
//! translated. The module `tcg` of the crate `machine` has the reason.

use std::ffi::{c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::{
    NO_REGISTERS, Tb, bytes, qemu_plugin_insn_haddr, qemu_plugin_register_vcpu_insn_exec_cb,
    qemu_plugin_register_vcpu_tb_trans_cb, qemu_plugin_reset, qemu_plugin_tb_get_insn,
    qemu_plugin_tb_n_insns, qemu_plugin_tb_vaddr,
};
use crate::blocks::is_kernel;

/// `int3`, which ends a block.
const INT3: u8 = 0xcc;

/// Called for each block that is translated.
type Translated = extern "C" fn(u64, *mut Tb);

/// The number that QEMU gave the plugin, and what it calls.
static PLUGIN: OnceLock<(u64, Translated)> = OnceLock::new();

/// QEMU is about to forget what it has translated.
static FORGETS: AtomicBool = AtomicBool::new(false);

/// Whether these arguments ask for it.
pub(super) fn are_watched(arguments: &[&str]) -> bool {
    arguments.contains(&"breakpoints=on")
}

/// Has QEMU look for them alone.
pub(super) fn install(plugin: u64) {
    install_with(plugin, watch);
}

/// The same where `translated`, which calls [`watch`], looks for more.
pub(super) fn install_with(plugin: u64, translated: Translated) {
    if PLUGIN.set((plugin, translated)).is_ok() {
        register(plugin);
    }
}

extern "C" fn register(_: u64) {
    let Some(&(plugin, translated)) = PLUGIN.get() else { return };
    // SAFETY: the function lives as long as the plugin.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated) };
    FORGETS.store(false, Ordering::Release);
}

/// Watches the breakpoint at the end of a block of the kernel, if there is one.
pub(super) extern "C" fn watch(_: u64, tb: *mut Tb) {
    // SAFETY: QEMU gives a block with so many instructions, at least one, for the time of this call.
    let last = unsafe {
        if !is_kernel(qemu_plugin_tb_vaddr(tb)) {
            return;
        }
        qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1)
    };
    if *bytes(last) != [INT3] {
        return;
    }
    // SAFETY: an instruction of the block; the function lives as long as the plugin, and memory as long as QEMU.
    unsafe {
        let place = qemu_plugin_insn_haddr(last);
        if !place.is_null() {
            qemu_plugin_register_vcpu_insn_exec_cb(last, executed, NO_REGISTERS, place);
        }
    }
}

extern "C" fn executed(_: c_uint, place: *mut c_void) {
    // SAFETY: where the byte is in QEMU's own memory; other CPUs may write to it.
    let now = unsafe { AtomicU8::from_ptr(place.cast()) }.load(Ordering::Relaxed);
    let Some(&(plugin, _)) = PLUGIN.get() else { return };
    if now != INT3 && !FORGETS.swap(true, Ordering::AcqRel) {
        // SAFETY: the function lives as long as the plugin. QEMU calls it when no CPU executes anything.
        unsafe { qemu_plugin_reset(plugin, register) };
    }
}
