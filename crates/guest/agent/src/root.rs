//! The root: a user space beside the agent, which programs see instead of the agent's own files.
//!
//! Its files are mounted read-only with an overlay in memory over them: Documentation/filesystems/overlayfs.rst. The agent
//! stays outside and needs nothing of it: each program gets a mount namespace of its own in which the root is at `/`, as
//! switch_root(8) puts it there. A root may be hostile, so the agent resolves every path in it as chroot(2) would.

use std::ffi::CString;
use std::fs;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use harness::check::{Checked, describe};
use harness::modules::load;
use harness::storage::enter_root;
use protocol::RootMount;
use protocol::root::{DESCRIPTION, LAYER, Mount, SERIAL, SHARED, Source, VIEW};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive};

use crate::environment::FILES;
use crate::inside::Inside;
use crate::services::Services;

/// Where its files and the memory over them are mounted.
const LOWER: &str = "/kiln/lower";
const MEMORY: &str = "/kiln/memory";

/// The agent's program, for programs in the root that report results.
const AGENT: &str = "/run/kiln/agent";

/// Links in the root: each path, and where it leads.
const LINKS: [(&str, &str); 3] = [
    ("/usr/local/bin/kiln-report", AGENT),
    ("/usr/local/bin/kiln-checkpoint", AGENT),
    ("/usr/local/bin/kiln-case", AGENT),
];

/// Why a root cannot be used whose services are gone.
const LOST: &str = "its init has ended, and with it all of its programs";

/// What became of the root of this machine; nothing where it has none.
static STATE: Mutex<Option<State>> = Mutex::new(None);

#[derive(Debug)]
enum State {
    /// It is mounted once the machine is one of its own.
    Waiting(RootMount),
    /// It is there, and its services if it was to start them.
    Ready(Option<Services>),
    /// It cannot be used, and why.
    Unusable(String),
}

impl State {
    fn of(made: Result<Option<Services>, String>) -> Self {
        made.map_or_else(Self::Unusable, Self::Ready)
    }
}

fn state() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Mounts the root, if this machine has one that may be cloned, and prepares for any other. What goes wrong is reported by
/// the programs that need it.
pub(crate) fn prepare() {
    let Ok(description) = fs::read(DESCRIPTION) else { return };
    *state() = Some(match RootMount::decode(&description) {
        Err(_) => State::Unusable(format!("{DESCRIPTION} is damaged")),
        Ok(root) => match load_all(&root.modules) {
            Ok(()) if root.late => State::Waiting(root),
            loaded => State::of(loaded.and_then(|()| make(&root))),
        },
    });
}

/// Mounts the root of a machine that has become one of its own, if that was to come; says whether it was.
pub(crate) fn wake() -> bool {
    let mut state = state();
    let Some(State::Waiting(root)) = &*state else { return false };
    let made = make(root);
    *state = Some(State::of(made));
    true
}

/// Where a path of the initramfs or the window is in the root, if it is for that.
pub(crate) fn path_inside(path: &str) -> Option<&str> {
    path.strip_prefix(LAYER).filter(|rest| rest.starts_with('/'))
}

/// Makes a file in the root. What goes wrong is reported by the programs that need the root.
pub(crate) fn make_file(make: impl FnOnce(&Inside) -> std::io::Result<()>) {
    let mut state = state();
    let make = |inside: Inside| make(&inside).map_err(|error| format!("copying programs: {error}"));
    if matches!(*state, Some(State::Ready(_)))
        && let Err(why) = inside().and_then(make)
    {
        *state = Some(State::Unusable(why));
    }
}

/// Whether it runs services, which take care of what programs leave behind.
pub(crate) fn has_services() -> bool {
    matches!(*state(), Some(State::Ready(Some(_))))
}

/// What keeps later programs from the root, if its init has ended since this was asked last, and with it all programs.
pub(crate) fn lost_services() -> Option<String> {
    let mut state = state();
    let Some(State::Ready(Some(services))) = &*state else { return None };
    if !services.have_ended() {
        return None;
    }
    *state = Some(State::Unusable(LOST.to_string()));
    drop(state);
    hindrance()
}

fn inside() -> Result<Inside, String> {
    Inside::open(Path::new(VIEW)).map_err(|error| format!("{VIEW}: {error}"))
}

/// What keeps programs from the root: an empty text if nothing does, and nothing in a machine without one.
pub(crate) fn hindrance() -> Option<String> {
    Some(match state().as_ref()? {
        State::Waiting(_) => "the root is not mounted yet".to_string(),
        State::Unusable(why) => format!("the root cannot be used: {why}"),
        State::Ready(_) => String::new(),
    })
}

/// Puts the root at `/` of this process, which must be single-threaded; nothing happens in a machine without one.
pub(crate) fn enter() -> Checked {
    let Some(hindrance) = hindrance() else { return Ok(()) };
    match &*state() {
        Some(State::Ready(Some(services))) => services.enter(),
        _ => enter_root(VIEW, &hindrance),
    }
}

fn load_all(modules: &[String]) -> Result<(), String> {
    modules.iter().try_for_each(|module| load(Path::new(module)).map_err(|stop| stop.0.text))
}

fn make(root: &RootMount) -> Result<Option<Services>, String> {
    let (source, options) = (source(&root.lower)?, c_string(&root.lower.options)?);
    let filesystem = root.lower.filesystem.as_str();
    mounted(LOWER, || mount(&source, LOWER, filesystem, MountFlags::RDONLY, options.as_c_str()))?;
    mounted(MEMORY, || mount("tmpfs", MEMORY, "tmpfs", MountFlags::empty(), c"mode=0755,size=50%"))?;
    let (upper, work) = (format!("{MEMORY}/upper"), format!("{MEMORY}/work"));
    for directory in [&upper, &work] {
        fs::create_dir(directory).map_err(|error| format!("{directory}: {error}"))?;
    }
    let layers = c_string(&format!("lowerdir={LOWER},upperdir={upper},workdir={work}"))?;
    mounted(VIEW, || mount("overlay", VIEW, "overlay", MountFlags::empty(), layers.as_c_str()))?;
    furnish()?;
    root.writable.iter().try_for_each(|(place, mount)| mount_in_root(place, mount))?;
    let limit = root.services_ms.map(Duration::from_millis);
    limit.map(Services::start).transpose()
}

/// What mount(2) calls the source of a file system.
fn source(mount: &Mount) -> Result<String, String> {
    match &mount.source {
        Source::Disk => disk().ok_or_else(|| "the machine has no disk with it".to_string()),
        Source::Name(name) => Ok(name.clone()),
    }
}

/// Mounts a file system that programs may write to.
fn mount_in_root(place: &str, with: &Mount) -> Result<(), String> {
    let (source, options) = (source(with)?, c_string(&with.options)?);
    attach(&inside()?, place, |target| {
        mount(&source, target, &with.filesystem, MountFlags::empty(), options.as_c_str())
    })
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
    attach(inside, place, |target| mount_bind_recursive(place, target))
}

/// Mounts something at a directory of the root.
fn attach(inside: &Inside, place: &str, mount: impl FnOnce(&str) -> Result<(), Errno>) -> Result<(), String> {
    let directory = inside.directory(place).map_err(|error| format!("{place}: {error}"))?;
    // By its number: a path would be resolved outside of the root.
    let target = format!("/proc/self/fd/{}", directory.as_raw_fd());
    mount(&target).map_err(|error| format!("mounting {place}: {}", describe(error)))
}
