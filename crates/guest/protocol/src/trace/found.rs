//! What is there already when a recording begins, which no event of it tells.

use serde::{Deserialize, Serialize};

/// A part of it, as proc(5) and sysfs(5) have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// A thread.
    Task {
        /// Its number.
        thread: u32,
        /// That of its process.
        process: u32,
        /// That of the parent; 0 for the first.
        parent: u32,
        /// Its name.
        name: String,
    },
    /// An open file.
    Descriptor {
        /// The process.
        process: u32,
        /// The descriptor.
        number: u32,
        /// Its path, or what it is, such as `pipe:[17]`.
        file: String,
    },
    /// A mount.
    Mount {
        /// Its number.
        number: u32,
        /// Major and minor number of its device, such as `254:0`.
        device: String,
        /// Where it is.
        place: String,
        /// The type of the file system.
        kind: String,
        /// What is mounted.
        source: String,
    },
    /// An interrupt with a handler.
    Interrupt {
        /// Its number.
        number: u32,
        /// Its handlers, separated by commas.
        handlers: String,
    },
    /// A module of the kernel.
    Module {
        /// Its name.
        name: String,
        /// Its size in bytes.
        size: u64,
        /// Where it is; 0 if the kernel does not tell.
        address: u64,
    },
}
