//! What cases about disks and file systems share: tools of the host, loop devices, own mounts.

use std::fs::{File, create_dir_all};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, fsconfig_create, fsmount,
    fsopen, mount_change, mount_move,
};
use rustix::process::{chdir, chroot};
use rustix::thread::UnshareFlags;

use crate::check::{Checked, broken, describe};
use crate::sys::{ioctl, unshare};

/// Makes mkfs.xfs accept sizes that it otherwise leaves to its own test suite.
const ANY_SIZE: [(&str, &str); 3] = [("QA_CHECK_FS", "1"), ("TEST_DIR", "/tmp"), ("TEST_DEV", "/tmp")];

/// Runs a program of the host, which must succeed.
///
/// # Errors
///
/// As the manual page says.
pub fn tool(name: &str, arguments: &[&str]) -> Checked {
    let directories = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    let found =
        directories.iter().map(|directory| Path::new(directory).join(name)).find(|path| path.exists());
    let Some(path) = found else { return broken(&format!("{name} is not in the machine")) };
    match Command::new(path).args(arguments).envs(ANY_SIZE).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => broken(&format!("{name} ended with {status}")),
        Err(error) => broken(&format!("{name} cannot be run: {error}")),
    }
}

/// A file system without a device that is mounted nowhere, and gone when it is closed: fsopen(2).
///
/// # Errors
///
/// As fsopen(2), fsconfig(2) and fsmount(2) say.
pub fn detached(kind: &str) -> Result<OwnedFd, Errno> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

/// The path of a directory that is open: its files can be reached below it by this process and those that it forks.
#[must_use]
pub fn path_of(directory: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()))
}

/// From now on mounts of this process are its own, and end with it.
///
/// # Errors
///
/// As the manual page says.
pub fn own_mounts() -> Checked {
    unshare(UnshareFlags::NEWNS)?;
    Ok(private_mounts()?)
}

/// From now on nothing that is mounted in this namespace is seen in another.
///
/// # Errors
///
/// As the manual page says.
pub fn private_mounts() -> Result<(), Errno> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
}

/// Puts what is mounted at `root` at `/` of this process, in a mount namespace of its own, as switch_root(8) does.
///
/// # Errors
///
/// What the agent knows to be a `hindrance`, unless that is empty; and when the kernel refuses it.
pub fn enter_root(root: &str, hindrance: &str) -> Checked {
    if !hindrance.is_empty() {
        return broken(hindrance);
    }
    let switch = || {
        unshare(UnshareFlags::NEWNS)?;
        chdir(root)?;
        mount_move(".", "/")?;
        chroot(".")?;
        chdir("/")
    };
    switch().or_else(|error: Errno| broken(&format!("entering the root: {}", describe(error))))
}

/// mount(2), on a directory that is made if need be.
pub fn mount(
    source: impl AsRef<Path>,
    target: &str,
    kind: &str,
    flags: MountFlags,
    options: &str,
) -> Result<(), Errno> {
    create_dir_all(target).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let options = std::ffi::CString::new(options).map_err(|_| Errno::INVAL)?;
    rustix::mount::mount(source.as_ref(), target, kind, flags, options.as_c_str())
}

/// Makes a file of `mib` MiB without any blocks.
///
/// # Errors
///
/// As the manual page says.
pub fn sparse(path: &str, mib: u64) -> Checked {
    File::create(path)?.set_len(mib << 20)?;
    Ok(())
}

// Requests of <linux/loop.h>.
const SET_FD: u32 = 0x4c00;
const CLR_FD: u32 = 0x4c01;
const SET_STATUS: u32 = 0x4c04;
const GET_STATUS: u32 = 0x4c05;
const GET_FREE: u32 = 0x4c82;
/// The device refuses writes.
pub const READ_ONLY: u32 = 1;
/// The file is detached when the last user closes the device.
pub const AUTOCLEAR: u32 = 4;

/// `struct loop_info64`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LoopStatus {
    /// Device of the file.
    pub device: u64,
    /// Inode of the file.
    pub inode: u64,
    /// Device number that the file stands for.
    pub backing_device: u64,
    /// Where in the file the device begins, in bytes.
    pub offset: u64,
    /// Size of the device in bytes; 0 for that of the file.
    pub size_limit: u64,
    /// Number of the device.
    pub number: u32,
    /// Kind of encryption and length of its key.
    pub encryption: [u32; 2],
    /// Flags such as [`AUTOCLEAR`].
    pub flags: u32,
    /// Name of the file.
    pub file_name: [u8; 64],
    /// Name of the encryption, its key and its initial values.
    pub secrets: [u8; 64 + 32 + 16],
}

impl Default for LoopStatus {
    fn default() -> Self {
        // SAFETY: all zeroes is a valid value of this plain structure.
        unsafe { std::mem::zeroed() }
    }
}

/// A loop device. Its file is detached when it is dropped, at the latest when its last user ends.
#[derive(Debug)]
pub struct Loop {
    /// Its node in `/dev`.
    pub path: PathBuf,
    device: OwnedFd,
}

impl Loop {
    /// A device without a file.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn free() -> Result<Self, Errno> {
        let control = open("/dev/loop-control", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        // SAFETY: the request takes no argument.
        let number = unsafe { ioctl(control, GET_FREE, 0)? };
        let path = PathBuf::from(format!("/dev/loop{number}"));
        let device = open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { path, device })
    }

    /// Attaches a file, opened with `access`, to a free device.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn attach(file: &str, access: OFlags) -> Result<Self, Errno> {
        let device = Self::free()?;
        device.set_file(open(file, access | OFlags::CLOEXEC, Mode::empty())?)?;
        device.set_status(&LoopStatus { flags: AUTOCLEAR, ..LoopStatus::default() })?;
        Ok(device)
    }

    /// Attaches a file: LOOP_SET_FD.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn set_file(&self, file: impl AsFd) -> Result<usize, Errno> {
        let file = file.as_fd().as_raw_fd().unsigned_abs() as usize;
        // SAFETY: the request takes a descriptor.
        unsafe { ioctl(&self.device, SET_FD, file) }
    }

    /// LOOP_SET_STATUS64.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn set_status(&self, status: &LoopStatus) -> Result<usize, Errno> {
        // SAFETY: the request reads a `loop_info64`.
        unsafe { ioctl(&self.device, SET_STATUS, (&raw const *status).addr()) }
    }

    /// LOOP_GET_STATUS64.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn status(&self) -> Result<LoopStatus, Errno> {
        let mut status = LoopStatus::default();
        // SAFETY: the request fills a `loop_info64`.
        unsafe { ioctl(&self.device, GET_STATUS, (&raw mut status).addr())? };
        Ok(status)
    }

    /// Detaches its file: LOOP_CLR_FD.
    ///
    /// # Errors
    ///
    /// As the manual page says.
    pub fn detach(&self) -> Result<usize, Errno> {
        // SAFETY: the request takes no argument.
        unsafe { ioctl(&self.device, CLR_FD, 0) }
    }

    /// Its open node.
    pub fn device(&self) -> &OwnedFd {
        &self.device
    }
}

/// The size of a block device in bytes: BLKGETSIZE64.
///
/// # Errors
///
/// As the manual page says.
pub fn device_size(device: impl AsFd) -> Result<u64, Errno> {
    let mut size = 0_u64;
    let request = rustix::ioctl::opcode::read::<usize>(0x12, 114);
    // SAFETY: the request stores a u64.
    unsafe { ioctl(device, request, (&raw mut size).addr())? };
    Ok(size)
}
