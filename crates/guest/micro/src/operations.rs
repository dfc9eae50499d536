//! The operations, one file per area of the kernel.
//!
//! To add one, copy one: a line in the `OPERATIONS` of its area and a function below it. A new area is a new file
//! and a line in [`AREAS`]. What several of them need is in [`parts`].

mod bpf;
mod cgroup;
mod directory;
mod ext4;
mod fault;
mod file;
mod futex;
mod inet;
mod inotify;
mod io_uring;
mod ipc;
mod memory;
mod module;
mod mount;
mod namespace;
mod parts;
mod pipe;
mod poll;
mod proc;
mod process;
mod random;
mod sched;
mod security;
mod signal;
mod splice;
mod switch;
mod syscall;
#[cfg(test)]
mod tests;
mod timer;
mod unix;

use protocol::{Need, catalogue};

use super::Operation;
use crate::LIMIT;

/// All areas, in the order in which they are measured.
const AREAS: &[&[Operation]] = &[
    syscall::OPERATIONS,
    sched::OPERATIONS,
    file::OPERATIONS,
    directory::OPERATIONS,
    ext4::OPERATIONS,
    pipe::OPERATIONS,
    unix::OPERATIONS,
    inet::OPERATIONS,
    poll::OPERATIONS,
    process::OPERATIONS,
    switch::OPERATIONS,
    signal::OPERATIONS,
    memory::OPERATIONS,
    fault::OPERATIONS,
    futex::OPERATIONS,
    timer::OPERATIONS,
    namespace::OPERATIONS,
    cgroup::OPERATIONS,
    security::OPERATIONS,
    io_uring::OPERATIONS,
    splice::OPERATIONS,
    inotify::OPERATIONS,
    ipc::OPERATIONS,
    random::OPERATIONS,
    proc::OPERATIONS,
    bpf::OPERATIONS,
    module::OPERATIONS,
    mount::OPERATIONS,
];

/// All operations, in the order in which they are measured.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    AREAS.iter().copied().flatten()
}

/// All operations, for the host.
#[must_use]
pub fn catalogue() -> Vec<catalogue::Operation> {
    let described = |operation: &Operation| catalogue::Operation {
        name: operation.name.to_string(),
        about: operation.about.to_string(),
        needs: operation.needs.iter().map(Need::owned).collect(),
        limit: LIMIT,
    };
    all().map(described).collect()
}

/// The operation called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Operation> {
    all().find(|operation| operation.name == name)
}
