//! A program that runs a stranger's code, such as make in a stranger's tree.
//!
//! It has no network: network_namespaces(7). In the place of the user's home directory and of those for temporary files
//! it finds empty directories in memory, in which only what it works on is as it was, and only what it makes can be
//! written: mount_namespaces(7). As root it keeps no capability but those over files: capabilities(7).

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use rustix::fs::{CWD, Mode};
use rustix::io::Errno;
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree,
};
use rustix::thread::{CapabilitySet, UnshareFlags, remove_capability_from_bounding_set};

use crate::scratch::mount_tmpfs;

/// What is hidden besides the home directory: temporary files, and the sockets of the user's services, which are a way
/// out also without a network.
const HIDDEN: [&str; 3] = ["/tmp", "/var/tmp", "/run/user"];

/// What is in the place of something hidden: a stranger's program may not fill the memory.
const EMPTY: &CStr = c"mode=0700,size=25%";

/// What root keeps: builds change the owners and modes of files.
const CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// A directory that the program sees as it is.
struct Kept {
    path: CString,
    /// The directories that lead to where it is seen from one that is hidden, and where it is seen.
    way: Vec<CString>,
    is_writable: bool,
    tree: Option<OwnedFd>,
}

/// Makes `command` start its program without a network and without what is in the user's home directory and in those
/// for temporary files, but for some directories: those that it may write to, and those that it may only read. Those that
/// do not exist are left out. To be called after [`contain()`](crate::contain()), which gives the right to do so.
///
/// Where this user may not make namespaces, or not mount in them, the program is started without.
///
/// # Errors
///
/// When a path holds a zero byte.
pub fn sandbox(command: &mut Command, written: &[&Path], read: &[&Path]) -> io::Result<()> {
    let hidden = HIDDEN.iter().map(PathBuf::from).chain(std::env::home_dir());
    sandbox_without(command, &hidden.collect::<Vec<_>>(), written, read)
}

/// Whether [`sandbox()`] protects this user: the directories that it hides are others inside.
#[must_use]
pub fn can_sandbox() -> bool {
    hides(Path::new(HIDDEN[0])).unwrap_or(false)
}

fn hides(directory: &Path) -> io::Result<bool> {
    let mut command = Command::new("stat");
    command.arg("--format=%d").arg(directory);
    crate::contain(&mut command);
    sandbox(&mut command, &[], &[])?;
    let inside = String::from_utf8_lossy(&command.output()?.stdout).trim().parse::<u64>();
    Ok(inside.is_ok_and(|device| fs::metadata(directory).is_ok_and(|outside| outside.dev() != device)))
}

fn sandbox_without(
    command: &mut Command,
    hidden: &[PathBuf],
    written: &[&Path],
    read: &[&Path],
) -> io::Result<()> {
    let hidden = existing(hidden.iter().filter_map(|path| path.canonicalize().ok()));
    let kept = written.iter().map(|path| (*path, true)).chain(read.iter().map(|path| (*path, false)));
    let places = kept.flat_map(|(path, is_writable)| {
        let places = places(path, &hidden).into_iter();
        places.map(move |place| (place, is_writable, path))
    });
    let mut places: Vec<(PathBuf, bool, &Path)> = places.collect();
    // Each below those that hold it, of which it is a part already unless it may be written to.
    places.sort_by(|a, b| (&a.0, !a.1).cmp(&(&b.0, !b.1)));
    places.dedup_by(|below, above| below.0.starts_with(&above.0) && (above.1 || !below.1));
    let kept = places.iter().map(|(place, is_writable, path)| Kept::new(path, place, *is_writable, &hidden));
    let mut kept = kept.collect::<io::Result<Vec<_>>>()?;
    let hidden = hidden.iter().map(|path| c_string(path)).collect::<io::Result<Vec<_>>>()?;
    // It names a directory that is hidden.
    command.env_remove("TMPDIR");
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe { command.pre_exec(move || Ok(enter(&hidden, &mut kept)?)) };
    Ok(())
}

/// Directories, without those that are below others.
fn existing(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = paths.filter(|path| path.is_dir() && path.parent().is_some()).collect();
    all.sort();
    all.dedup_by(|below, above| below.starts_with(above));
    all
}

/// Where a directory is seen in hidden ones: under its real name, and under the one that is used, which may lead through
/// links that are hidden.
fn places(path: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let (Ok(real), Ok(used)) = (path.canonicalize(), std::path::absolute(path)) else { return Vec::new() };
    let is_hidden = |place: &Path| hidden.iter().any(|root| place != root && place.starts_with(root));
    let mut places: Vec<PathBuf> = [Some(real), through(&used, hidden)].into_iter().flatten().collect();
    places.retain(|place| is_hidden(place));
    places.dedup();
    places
}

/// A path with no links in what comes before a hidden directory.
fn through(path: &Path, hidden: &[PathBuf]) -> Option<PathBuf> {
    let mut above: Vec<&Path> = path.ancestors().collect();
    above.reverse();
    let real = above.iter().find_map(|above| {
        let real = above.canonicalize().ok()?;
        let rest = path.strip_prefix(above).ok()?;
        hidden.iter().any(|root| real.starts_with(root)).then(|| real.join(rest))
    });
    real.filter(|path| path.components().all(|part| part != Component::ParentDir))
}

impl Kept {
    fn new(path: &Path, place: &Path, is_writable: bool, hidden: &[PathBuf]) -> io::Result<Self> {
        let way = place.ancestors().take_while(|above| !hidden.iter().any(|root| above == root));
        let mut way = way.map(c_string).collect::<io::Result<Vec<_>>>()?;
        way.reverse();
        Ok(Self { path: c_string(path)?, way, is_writable, tree: None })
    }

    fn open(&mut self) -> rustix::io::Result<()> {
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        match open_tree(CWD, &*self.path, flags) {
            // It has gone meanwhile.
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            tree => self.tree = Some(tree?),
        }
        Ok(())
    }

    fn mount(&self) -> rustix::io::Result<()> {
        let (Some(tree), Some(place)) = (&self.tree, self.way.last()) else { return Ok(()) };
        for directory in &self.way {
            match rustix::fs::mkdir(directory, Mode::RWXU) {
                Err(Errno::EXIST) => {}
                other => other?,
            }
        }
        if !self.is_writable {
            make_read_only(tree);
        }
        move_mount(tree, c"", CWD, &**place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
    }
}

/// Kernels before 5.12 cannot.
fn make_read_only(tree: &OwnedFd) {
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    let attributes =
        libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: mount_setattr(2) reads an empty path and the attributes.
    unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of_val(&attributes),
        )
    };
}

fn c_string(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn enter(hidden: &[CString], kept: &mut [Kept]) -> rustix::io::Result<()> {
    // SAFETY: the process has one thread, which shares no file system state with another.
    let unshare = |flags| unsafe { rustix::thread::unshare_unsafe(flags) };
    let _ = unshare(UnshareFlags::NEWNET);
    // Whatever is refused before something is hidden, the program can do without.
    if unshare(UnshareFlags::NEWNS).is_err() || prepare(kept).is_err() {
        return Ok(());
    }
    for (count, place) in hidden.iter().enumerate() {
        match mount_tmpfs(place, EMPTY) {
            Err(_) if count == 0 => return Ok(()),
            other => other?,
        }
    }
    kept.iter().try_for_each(Kept::mount)?;
    // Others than root lose all of them when the program is executed.
    for capability in CapabilitySet::all().difference(CAPABILITIES).iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    Ok(())
}

fn prepare(kept: &mut [Kept]) -> rustix::io::Result<()> {
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    kept.iter_mut().try_for_each(Kept::open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Runs a script that knows `$home`, where it finds only `tree`, of which it may write to `objects`.
    fn run(script: &str) -> (String, tempfile::TempDir) {
        let home = tempfile::tempdir().unwrap();
        for directory in ["tree/objects", "keys", "linked"] {
            fs::create_dir_all(home.path().join(directory)).unwrap();
        }
        fs::write(home.path().join("keys/id"), "secret").unwrap();
        symlink(home.path().join("linked"), home.path().join("link")).unwrap();
        let seen = in_home(home.path(), script);
        (seen, home)
    }

    fn in_home(home: &Path, script: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("home", home);
        crate::contain(&mut command);
        let [tree, objects, none, link] =
            ["tree", "tree/objects", "no", "link/made/../made"].map(|path| home.join(path));
        let hidden = [home.to_path_buf(), "/no/such".into()];
        sandbox_without(&mut command, &hidden, &[&objects, &none], &[&tree, &link, home]).unwrap();
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn it_sees_of_a_home_directory_only_what_it_works_on() {
        let (seen, home) = run("find $home; touch $home/dropped $home/tree/objects/made");
        let expected =
            ["", "/tree", "/tree/objects"].map(|path| format!("{}{path}\n", home.path().display()));
        assert_eq!(seen, expected.concat());
        assert!(home.path().join("tree/objects/made").exists() && !home.path().join("dropped").exists());
    }

    #[test]
    fn it_writes_only_to_what_it_makes() {
        let (seen, home) = run("touch $home/tree/planted 2> /dev/null || echo refused");
        assert!(seen == "refused\n" && !home.path().join("tree/planted").exists());
    }

    #[test]
    fn a_name_that_leads_through_hidden_links_is_as_it_was() {
        let (outside, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(outside.path().join("linux/objects")).unwrap();
        symlink(outside.path().join("linux"), home.path().join("tree")).unwrap();
        assert_eq!(in_home(home.path(), "cd $home/tree && find ."), ".\n./objects\n");
        // A home directory that is a link itself.
        let above = tempfile::tempdir().unwrap();
        symlink(home.path(), above.path().join("me")).unwrap();
        assert_eq!(in_home(&above.path().join("me"), "cd $home/tree && find ."), ".\n./objects\n");
    }

    #[test]
    fn it_is_known_whether_it_protects() {
        assert!(can_sandbox());
        assert!(!hides(Path::new("/usr")).unwrap(), "which is not hidden");
    }

    #[test]
    fn it_has_no_network() {
        let (seen, _home) = run("readlink /proc/self/ns/net; ! ip route 2> /dev/null | grep .");
        let own = fs::read_link("/proc/self/ns/net").unwrap();
        assert!(
            seen.starts_with("net:[") && seen.lines().eq([seen.trim()]) && Path::new(seen.trim()) != own,
            "{seen}"
        );
    }

    #[test]
    fn it_cannot_undo_what_was_done() {
        let (seen, _home) = run("umount -l $home 2> /dev/null; ls /proc/1/root 2> /dev/null; ls $home; \
             grep CapEff /proc/self/status");
        let mut lines = seen.lines();
        assert_eq!(lines.next(), Some("tree"), "{seen}");
        let capabilities = lines.next().and_then(|line| line.split_once('\t')).map(|(_, set)| set);
        let capabilities = u64::from_str_radix(capabilities.unwrap_or_default(), 16).unwrap();
        assert_eq!(capabilities & !CAPABILITIES.bits(), 0, "{seen}");
    }

    #[test]
    fn directories_below_others_are_part_of_those() {
        let found =
            existing(["/usr/bin", "/usr", "/no/such", "/", "/etc/passwd"].map(PathBuf::from).into_iter());
        assert_eq!(found, [Path::new("/usr")]);
    }
}
