//! The root: a user space beside the agent, which programs see instead of the agent's own files.
//!
//! Its image is mounted read-only with an overlay in memory over it: Documentation/filesystems/overlayfs.rst. The agent
//! stays outside and needs nothing of it: each program gets a mount namespace of its own in which the root is at `/`, as
//! switch_root(8) puts it there. A root may be hostile, so the agent resolves every path in it as chroot(2) would.

use std::ffi::CString;
use std::fs;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use harness::check::{Checked, broken, describe};
use harness::modules::load;
use protocol::RootMount;
use protocol::root::{DESCRIPTION, LAYER, SERIAL, VIEW};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive, mount_move};
use rustix::process::{chdir, chroot};
use rustix::thread::UnshareFlags;

use crate::environment::FILES;
use crate::inside::Inside;

/// Where the image and the memory over it are mounted.
const IMAGE: &str = "/kiln/image";
const MEMORY: &str = "/kiln/memory";

/// File systems of the agent that the root has too.
const SHARED: [&str; 5] = ["/dev", "/proc", "/sys", "/run", "/tmp"];

/// The agent's program, for programs in the root that report results.
const AGENT: &str = "/run/kiln/agent";

/// Links in the root: each path, and where it leads.
const LINKS: [(&str, &str); 2] = [("/usr/local/bin/kiln-report", AGENT), ("/usr/local/bin/kiln-case", AGENT)];

/// Whether the root of this machine is there, and if not, why; nothing where it has none.
static STATE: Mutex<Option<Result<(), String>>> = Mutex::new(None);

fn state() -> MutexGuard<'static, Option<Result<(), String>>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Mounts the root, if this machine has one. What goes wrong is reported by the programs that need it.
pub(crate) fn prepare() {
    let Ok(description) = fs::read(DESCRIPTION) else { return };
    let mount = RootMount::decode(&description).map_err(|_| format!("{DESCRIPTION} is damaged"));
    let made = mount.and_then(|mount| make(&mount));
    *state() = Some(made);
}

/// Where a path of the initramfs or the window is in the root, if it is for that.
pub(crate) fn path_inside(path: &str) -> Option<&str> {
    path.strip_prefix(LAYER).filter(|rest| rest.starts_with('/'))
}

/// Makes a file in the root. What goes wrong is reported by the programs that need the root.
pub(crate) fn make_file(make: impl FnOnce(&Inside) -> std::io::Result<()>) {
    let mut state = state();
    if matches!(*state, Some(Ok(()))) {
        let made =
            inside().and_then(|inside| make(&inside).map_err(|error| format!("copying programs: {error}")));
        *state = Some(made);
    }
}

fn inside() -> Result<Inside, String> {
    Inside::open(Path::new(VIEW)).map_err(|error| format!("{VIEW}: {error}"))
}

/// Puts the root at `/` of this process, which must be single-threaded; nothing happens in a machine without one.
pub(crate) fn enter() -> Checked {
    match &*state() {
        None => Ok(()),
        Some(Err(why)) => broken(&format!("the root cannot be used: {why}")),
        Some(Ok(())) => switch().or_else(|error| broken(&format!("entering the root: {}", describe(error)))),
    }
}

fn switch() -> Result<(), Errno> {
    // SAFETY: the process has one thread, which shares no file system state with another.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS)? };
    chdir(VIEW)?;
    mount_move(".", "/")?;
    chroot(".")?;
    chdir("/")
}

fn make(root: &RootMount) -> Result<(), String> {
    for module in &root.modules {
        load(Path::new(module)).map_err(|stop| stop.0.text)?;
    }
    let disk = disk().ok_or("the machine has no disk with it")?;
    let options = c_string(&root.options)?;
    mounted(IMAGE, || mount(&disk, IMAGE, &root.filesystem, MountFlags::RDONLY, options.as_c_str()))?;
    mounted(MEMORY, || mount("tmpfs", MEMORY, "tmpfs", MountFlags::empty(), c"mode=0755,size=50%"))?;
    let (upper, work) = (format!("{MEMORY}/upper"), format!("{MEMORY}/work"));
    for directory in [&upper, &work] {
        fs::create_dir(directory).map_err(|error| format!("{directory}: {error}"))?;
    }
    let layers = c_string(&format!("lowerdir={IMAGE},upperdir={upper},workdir={work}"))?;
    mounted(VIEW, || mount("overlay", VIEW, "overlay", MountFlags::empty(), layers.as_c_str()))?;
    furnish()
}

fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("{text:?} holds a zero byte"))
}

fn mounted(place: &str, mount: impl FnOnce() -> Result<(), Errno>) -> Result<(), String> {
    fs::create_dir_all(place).map_err(|error| format!("{place}: {error}"))?;
    mount().map_err(|error| format!("mounting {place}: {}", describe(error)))
}

/// The block device with the image.
fn disk() -> Option<String> {
    let names = fs::read_dir("/sys/block").ok()?.flatten().map(|entry| entry.path());
    let is_it = |path: &Path| fs::read_to_string(path.join("serial")).is_ok_and(|text| text.trim() == SERIAL);
    let found = names.into_iter().find(|path| is_it(path))?;
    Some(format!("/dev/{}", found.file_name()?.to_str()?))
}

/// Puts into the root what came with the initramfs, and what every machine has.
fn furnish() -> Result<(), String> {
    let inside = inside()?;
    inside.take_all(Path::new(LAYER)).map_err(|error| format!("{LAYER}: {error}"))?;
    for (path, target) in LINKS {
        inside.link(path, target).map_err(|error| format!("{path}: {error}"))?;
    }
    for (path, text) in FILES {
        inside.write_absent(path, text.as_bytes(), 0o644).map_err(|error| format!("{path}: {error}"))?;
    }
    fs::write(AGENT, "").map_err(|error| format!("{AGENT}: {error}"))?;
    mount_bind("/init", AGENT).map_err(|error| format!("{AGENT}: {}", describe(error)))?;
    SHARED.iter().try_for_each(|place| share(&inside, place))
}

/// Shows a file system of the agent in the root, too.
fn share(inside: &Inside, place: &str) -> Result<(), String> {
    let directory = inside.directory(place).map_err(|error| format!("{place}: {error}"))?;
    // By its number: a path would be resolved outside of the root.
    let target = format!("/proc/self/fd/{}", directory.as_raw_fd());
    mount_bind_recursive(place, &target).map_err(|error| format!("{place}: {}", describe(error)))
}
