//! What all operations find in the machine.

use std::fs;
use std::path::Path;

use harness::check::{Checked, Stop};
use harness::modules::load;
use harness::storage::{Loop, mount, sparse, tool};
use protocol::measure::MODULES;
use rustix::fs::OFlags;
use rustix::mount::MountFlags;

/// An ext4 file system on a loop device over memory: its requests end when the kernel says so, not the host.
pub const EXT4: &str = "/ext4";

/// A file of 64 KiB, in the root file system and in [`EXT4`] alike, relative to their roots.
pub const SMALL_FILE: &str = "small-file";

/// Its size and that of the file system, in bytes.
const SMALL_SIZE: usize = 64 << 10;
const DISK_MIB: u64 = 64;

/// What makes the file system the same each time.
const SAME: [&str; 6] = ["-q", "-U", "6b696c6e-6b69-4c6e-8b69-6c6e6b696c6e", "-E", HASH_SEED, "/ext4.img"];
const HASH_SEED: &str = "hash_seed=6b696c6e-6b69-4c6e-8b69-6c6e6b696c6e";

/// Loads the modules, makes files; gives what went wrong. An operation that misses something says so itself.
pub(super) fn all() -> Vec<String> {
    let modules = fs::read_to_string(MODULES).unwrap_or_default();
    let mut done: Vec<Checked> = modules.lines().map(|path| load(Path::new(path))).collect();
    done.extend([small_file("/"), ext4()]);
    done.into_iter().filter_map(|done| done.err().map(|Stop(report)| report.text)).collect()
}

fn ext4() -> Checked {
    if !["/usr/sbin/mkfs.ext4", "/dev/loop-control"].iter().all(|path| Path::new(path).exists()) {
        return Ok(());
    }
    sparse("/ext4.img", DISK_MIB)?;
    tool("mkfs.ext4", &SAME)?;
    let disk = Loop::attach("/ext4.img", OFlags::RDWR)?;
    mount(&disk.path, EXT4, "ext4", MountFlags::empty(), "")?;
    small_file(EXT4)
}

fn small_file(directory: &str) -> Checked {
    Ok(fs::write(Path::new(directory).join(SMALL_FILE), vec![b'k'; SMALL_SIZE])?)
}
