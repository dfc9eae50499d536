//! The stressors, a folder for each main class.
//!
//! To add one, copy a file, declare it and add its constant to the `ALL` of its class: one line each.

mod cache;
mod cpu;
mod device;
mod filesystem;
mod interrupt;
mod io;
mod ipc;
mod memory;
mod network;
mod os;
mod scheduler;
mod security;
#[cfg(test)]
mod tests;
mod vm;

use protocol::stress::Catalogue;

use crate::stressor::Stressor;

const CLASSES: &[&[Stressor]] = &[
    cpu::ALL,
    cache::ALL,
    memory::ALL,
    vm::ALL,
    filesystem::ALL,
    io::ALL,
    network::ALL,
    ipc::ALL,
    scheduler::ALL,
    interrupt::ALL,
    os::ALL,
    security::ALL,
    device::ALL,
];

/// All stressors.
pub fn all() -> impl Iterator<Item = &'static Stressor> {
    CLASSES.iter().copied().flatten()
}

/// All stressors by name, for the host.
#[must_use]
pub fn catalogue() -> Catalogue {
    let mut stressors: Vec<_> = all().map(Stressor::described).collect();
    stressors.sort_by(|a, b| a.name.cmp(&b.name));
    Catalogue { stressors }
}
