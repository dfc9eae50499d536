//! What an init mounts.

use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use harness::needs::DISK;

/// Type, where, options, and whether a kernel may lack it.
const MOUNTS: &[(&str, &str, &str, bool)] = &[
    ("devtmpfs", "/dev", "mode=0755", false),
    ("proc", "/proc", "", false),
    ("sysfs", "/sys", "", false),
    ("tmpfs", "/run", "mode=0755", false),
    ("tmpfs", crate::leftovers::TMP, "mode=1777,size=50%", false),
    ("devpts", "/dev/pts", "mode=0620,ptmxmode=0666", true),
    ("tmpfs", "/dev/shm", "mode=1777", true),
    ("mqueue", "/dev/mqueue", "", true),
    ("cgroup2", "/sys/fs/cgroup", "", true),
    ("securityfs", "/sys/kernel/security", "", true),
    ("debugfs", "/sys/kernel/debug", "", true),
    ("tracefs", "/sys/kernel/tracing", "", true),
    ("bpf", "/sys/fs/bpf", "", true),
];

const LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];

/// User-Mode Linux calls its disk by another name.
const DISK_OF_UML: &str = "/dev/ubda";

const DIRECTORIES: &[&str] = &["/root", "/etc", "/mnt", "/run/kiln"];

/// Mounts everything and gives what went wrong.
pub(crate) fn mount_all() -> Vec<String> {
    let mut trouble = Vec::new();
    for &(kind, place, options, may_lack) in MOUNTS {
        match mount_one(kind, place, options) {
            Err(Errno::NODEV | Errno::NOENT) if may_lack => {}
            Err(error) => {
                trouble.push(format!("mount {kind} on {place}: {}", harness::check::describe(error)));
            }
            Ok(()) => {}
        }
    }
    for directory in DIRECTORIES {
        if let Err(error) = std::fs::create_dir_all(directory) {
            trouble.push(format!("mkdir {directory}: {error}"));
        }
    }
    for (target, place) in LINKS {
        // It is there already on a second start in the same machine.
        let _ = std::os::unix::fs::symlink(target, place);
    }
    if Path::new(DISK_OF_UML).exists() {
        // As above.
        let _ = std::os::unix::fs::symlink(DISK_OF_UML, DISK);
    }
    trouble
}

fn mount_one(kind: &str, place: &str, options: &str) -> Result<(), Errno> {
    // In sysfs the kernel makes the mount points; where it lacks the feature there is none.
    let _ = std::fs::create_dir_all(place);
    let options = std::ffi::CString::new(options).map_err(|_| Errno::INVAL)?;
    match mount(kind, place, kind, MountFlags::empty(), options.as_c_str()) {
        // The kernel may have mounted devtmpfs by itself.
        Err(Errno::BUSY) => Ok(()),
        other => other,
    }
}
