//! `handle`, `dnotify`, `tmpfs`: files without their names, old notifications, and a file system that is full.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use harness::check::{Checked, at_least, equal, fails, holds};
use harness::child::last_error;
use harness::storage::{mount, private_mounts};
use harness::sys::{handle, succeeded, unshare};
use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, unmount};
use rustix::thread::UnshareFlags;

use crate::Worker;
use crate::kit::file;
use crate::kit::support::supported_unless;
use crate::stressor::{Class, Need, Setting, Stressor, size};

const BYTES: Setting = size("bytes", "size of the file system", 1 << 20..=256 << 20, 4 << 20);

const FILES: Stressor = Stressor { classes: &[Class::Filesystem, Class::Os], ..Stressor::PLAIN };

pub(super) const HANDLE: Stressor = Stressor {
    name: "handle",
    about: "files opened by their handles: name_to_handle_at(2), open_by_handle_at(2)",
    operation: "a handle taken, opened, and opened again after the file was removed",
    verifies: "it is the same inode; a removed file gives ESTALE",
    needs: &[Need::Config("FHANDLE"), Need::Capability(2)],
    body: handles,
    ..FILES
};

pub(super) const DNOTIFY: Stressor = Stressor {
    name: "dnotify",
    about: "signals for changes of a directory: F_NOTIFY of fcntl(2)",
    operation: "a file made, written and removed",
    verifies: "a signal with the directory's descriptor for each change",
    needs: &[Need::Config("DNOTIFY")],
    body: notified,
    ..FILES
};

pub(super) const TMPFS: Stressor = Stressor {
    name: "tmpfs",
    classes: &[Class::Filesystem, Class::Memory, Class::Os],
    about: "a small file system in memory that is filled to its end, in a mount namespace of its own: tmpfs(5)",
    operation: "a file system filled and emptied",
    verifies: "it takes what it has room for, then gives ENOSPC, and all room comes back",
    options: &[BYTES],
    needs: &[Need::Filesystem("tmpfs"), Need::Capability(21)],
    body: full,
    ..FILES
};

/// `struct file_handle` with room for the largest.
#[repr(C)]
struct Handle {
    size: u32,
    kind: i32,
    bytes: [u8; 128],
}

fn handle_of(path: &str) -> Result<Handle, Errno> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let (mut handle, mut mount) = (Handle { size: 128, kind: 0, bytes: [0; 128] }, 0_i32);
    // SAFETY: a path that ends in a null byte, a handle with its size, and a place for a number.
    let taken = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            path.as_ptr(),
            &raw mut handle,
            &raw mut mount,
            0,
        )
    };
    if taken == -1 { Err(last_error()) } else { Ok(handle) }
}

fn open_handle(directory: &File, handle: &Handle) -> Result<OwnedFd, Errno> {
    // SAFETY: the kernel only reads the handle, and gives a new descriptor.
    let opened = unsafe {
        libc::syscall(libc::SYS_open_by_handle_at, directory.as_raw_fd(), &raw const *handle, libc::O_RDONLY)
    };
    // SAFETY: made just now.
    i32::try_from(opened)
        .ok()
        .filter(|&number| number >= 0)
        .map(|number| unsafe { OwnedFd::from_raw_fd(number) })
        .ok_or_else(last_error)
}

fn handles(worker: &Worker) -> Checked {
    let directory = File::open(".")?;
    worker.repeat(|| {
        let inode = fstat(file::create("file")?)?.st_ino;
        let handle = supported_unless("name_to_handle_at(2) here", handle_of("file"), &[Errno::OVERFLOW])?;
        let opened =
            supported_unless("open_by_handle_at(2)", open_handle(&directory, &handle), &[Errno::STALE])?;
        equal("the inode", fstat(&opened)?.st_ino, inode)?;
        drop(opened);
        fs::remove_file("file")?;
        fails("a handle of a removed file", open_handle(&directory, &handle), Errno::STALE)
    })
}

/// Signals that came, and the descriptor of the last.
static SIGNALS: AtomicU64 = AtomicU64::new(0);
static DESCRIPTOR: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    /// Where `si_fd` is in the structure.
    const OFFSET: usize = 24;
    // SAFETY: signals of F_NOTIFY have a descriptor there.
    let descriptor = unsafe { info.byte_add(OFFSET).cast::<i32>().read() };
    DESCRIPTOR.store(descriptor, Ordering::Relaxed);
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// DN_MODIFY, DN_CREATE and DN_DELETE, and DN_MULTISHOT: go on after the first.
const EVENTS: u32 = 2 | 4 | 8 | 1 << 31;

fn notified(worker: &Worker) -> Checked {
    /// F_SETSIG of <asm-generic/fcntl.h>.
    const SET_SIGNAL: libc::c_int = 10;
    fs::create_dir("watched")?;
    let directory = File::open("watched")?;
    let control = |command, argument: libc::c_int| {
        // SAFETY: both commands take a number.
        succeeded(unsafe { libc::fcntl(directory.as_raw_fd(), command, argument) })
    };
    let signal = libc::SIGRTMIN() + 4;
    handle(signal, note, libc::SA_RESTART)?;
    control(SET_SIGNAL, signal)?;
    supported_unless(
        "F_NOTIFY here",
        control(libc::F_NOTIFY, EVENTS.cast_signed()),
        &[Errno::INVAL, Errno::NOTDIR],
    )?;
    worker.repeat(|| {
        let before = SIGNALS.load(Ordering::Relaxed);
        fs::write("watched/file", "x")?;
        fs::remove_file("watched/file")?;
        // Signals are handled before the call that causes them returns.
        at_least("signals", SIGNALS.load(Ordering::Relaxed) - before, 3)?;
        equal("the descriptor", DESCRIPTOR.load(Ordering::Relaxed), directory.as_raw_fd())
    })
}

fn full(worker: &Worker) -> Checked {
    let size = worker.size(&BYTES);
    supported_unless("a mount namespace", unshare(UnshareFlags::NEWNS), &[Errno::NOSPC])?;
    private_mounts()?;
    mount("stress", "small", "tmpfs", MountFlags::empty(), &format!("size={size}"))?;
    let free = || rustix::fs::statfs("small").map(|space| space.f_bfree);
    let empty = free()?;
    let outcome = worker.repeat(|| {
        let (file, block) = (File::create("small/file")?, vec![7; 65536]);
        let mut taken = 0;
        let last = loop {
            match rustix::io::write(&file, &block) {
                Ok(more) => taken += more,
                Err(error) => break error,
            }
            holds("it takes no more than it has room for", taken <= size)?;
        };
        equal("what ends the writing", last, Errno::NOSPC)?;
        equal("bytes taken", taken, size / rustix::param::page_size() * rustix::param::page_size())?;
        equal("free blocks", free()?, 0)?;
        drop(file);
        fs::remove_file("small/file")?;
        equal("free blocks once it is empty", free()?, empty)
    });
    unmount("small", UnmountFlags::DETACH)?;
    outcome
}
