//! What an init mounts.

use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};

use harness::needs::DISK;

/// A file system that is mounted.
struct Mount {
    kind: &'static str,
    place: &'static str,
    options: &'static str,
    /// Some kernels lack it.
    is_optional: bool,
}

const fn needed(kind: &'static str, place: &'static str, options: &'static str) -> Mount {
    Mount { kind, place, options, is_optional: false }
}

const fn optional(kind: &'static str, place: &'static str, options: &'static str) -> Mount {
    Mount { kind, place, options, is_optional: true }
}

const MOUNTS: &[Mount] = &[
    needed("devtmpfs", "/dev", "mode=0755"),
    needed("proc", "/proc", ""),
    needed("sysfs", "/sys", ""),
    needed("tmpfs", "/run", "mode=0755"),
    needed("tmpfs", crate::leftovers::TMP, "mode=1777,size=50%"),
    optional("devpts", "/dev/pts", "mode=0620,ptmxmode=0666"),
    optional("tmpfs", "/dev/shm", "mode=1777"),
    optional("hugetlbfs", "/dev/hugepages", ""),
    optional("mqueue", "/dev/mqueue", ""),
    optional("cgroup2", "/sys/fs/cgroup", ""),
    optional("securityfs", "/sys/kernel/security", ""),
    optional("debugfs", "/sys/kernel/debug", ""),
    optional("tracefs", "/sys/kernel/tracing", ""),
    optional("bpf", "/sys/fs/bpf", ""),
];

struct Link {
    place: &'static str,
    target: &'static str,
}

const LINKS: &[Link] = &[
    Link { place: "/dev/fd", target: "/proc/self/fd" },
    Link { place: "/dev/stdin", target: "/proc/self/fd/0" },
    Link { place: "/dev/stdout", target: "/proc/self/fd/1" },
    Link { place: "/dev/stderr", target: "/proc/self/fd/2" },
    Link { place: "/etc/mtab", target: "/proc/self/mounts" },
    Link { place: "/var/run", target: "/run" },
];

/// User-Mode Linux calls its disk by another name.
const DISK_OF_UML: &str = "/dev/ubda";

const DIRECTORIES: &[&str] = &["/root", "/etc", "/mnt", "/run/kiln", "/run/lock", "/var/log", "/var/tmp"];

/// Mounts everything and gives what went wrong.
pub(crate) fn mount_all() -> Vec<String> {
    let mut trouble = Vec::new();
    for one in MOUNTS {
        match one.mount() {
            Err(Errno::NODEV | Errno::NOENT) if one.is_optional => {}
            Err(error) => {
                let Mount { kind, place, .. } = one;
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
    for Link { place, target } in LINKS {
        // It is there already on a second start in the same machine.
        let _ = std::os::unix::fs::symlink(target, place);
    }
    if Path::new(DISK_OF_UML).exists() {
        // As above.
        let _ = std::os::unix::fs::symlink(DISK_OF_UML, DISK);
    }
    trouble
}

impl Mount {
    fn mount(&self) -> Result<(), Errno> {
        let Self { kind, place, options, .. } = *self;
        // In sysfs the kernel makes the mount points; where it lacks the feature there is none.
        let _ = std::fs::create_dir_all(place);
        let options = std::ffi::CString::new(options).map_err(|_| Errno::INVAL)?;
        match mount(kind, place, kind, MountFlags::empty(), options.as_c_str()) {
            // The kernel may have mounted devtmpfs by itself.
            Err(Errno::BUSY) => Ok(()),
            other => other,
        }
    }
}
