//! A program that runs a stranger's code, such as make in a stranger's tree.
//!
//! It has no network: network_namespaces(7). In the place of the user's home directory and of `/tmp` it finds empty
//! directories in memory, in which only what it works on is as it was: mount_namespaces(7).

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{CWD, Mode};
use rustix::io::Errno;
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree,
};
use rustix::thread::UnshareFlags;

use crate::scratch::mount_tmpfs;

/// What is hidden besides the home directory.
const TEMPORARY: &str = "/tmp";

/// A directory that the program sees as it is.
struct Kept {
    path: CString,
    /// The directories that lead to it from one that is hidden, and what it is mounted on.
    way: Vec<CString>,
    tree: Option<OwnedFd>,
}

/// Makes `command` start its program without a network, and with nothing of the user's home directory and of `/tmp` but
/// the directories `kept`; those that do not exist are left out. To be called after [`contain()`](crate::contain()),
/// which gives the right to do so.
///
/// Where this user may not make namespaces, the program is started without.
///
/// # Errors
///
/// When a path holds a zero byte.
pub fn sandbox(command: &mut Command, kept: &[&Path]) -> io::Result<()> {
    sandbox_without(command, &[Some(PathBuf::from(TEMPORARY)), std::env::home_dir()], kept)
}

fn sandbox_without(command: &mut Command, hidden: &[Option<PathBuf>], kept: &[&Path]) -> io::Result<()> {
    let hidden = outermost(hidden.iter().flatten().map(PathBuf::as_path));
    let mut trees = Vec::new();
    for path in outermost(kept.iter().copied()) {
        if let Some(root) = hidden.iter().find(|root| path.starts_with(root)) {
            let way = path.ancestors().take_while(|above| above != root).map(c_string);
            let mut way = way.collect::<io::Result<Vec<_>>>()?;
            way.reverse();
            trees.push(Kept { path: c_string(&path)?, way, tree: None });
        }
    }
    let hidden = hidden.iter().map(|path| c_string(path)).collect::<io::Result<Vec<_>>>()?;
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe { command.pre_exec(move || Ok(enter(&hidden, &mut trees)?)) };
    Ok(())
}

/// Those that exist, without links in their names and without those that are below others.
fn outermost<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = paths.filter_map(|path| path.canonicalize().ok()).collect();
    all.retain(|path| path.is_dir() && path.parent().is_some());
    all.sort();
    all.dedup_by(|below, above| below.starts_with(above));
    all
}

fn c_string(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn enter(hidden: &[CString], kept: &mut [Kept]) -> rustix::io::Result<()> {
    // SAFETY: the process has one thread, which shares no file system state with another.
    let alone = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::NEWNET) };
    if alone.is_err() {
        return Ok(());
    }
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    for one in &mut *kept {
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        one.tree = Some(open_tree(CWD, &*one.path, flags)?);
    }
    hidden.iter().try_for_each(|place| mount_tmpfs(place))?;
    kept.iter().try_for_each(mount_again)
}

fn mount_again(kept: &Kept) -> rustix::io::Result<()> {
    for directory in &kept.way {
        match rustix::fs::mkdir(directory, Mode::RWXU) {
            Err(Errno::EXIST) => {}
            other => other?,
        }
    }
    let Some(tree) = &kept.tree else { return Ok(()) };
    move_mount(tree, c"", CWD, &*kept.path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Runs a script that knows `$home`, where it finds only `tree` and what is below that.
    fn run(script: &str) -> (String, tempfile::TempDir) {
        let home = tempfile::tempdir().unwrap();
        for directory in ["tree/objects", "keys"] {
            fs::create_dir_all(home.path().join(directory)).unwrap();
        }
        fs::write(home.path().join("keys/id"), "secret").unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("home", home.path());
        crate::contain(&mut command);
        let kept = [home.path().join("tree"), home.path().join("tree/objects"), home.path().join("no")];
        let kept: Vec<&Path> = kept.iter().map(PathBuf::as_path).collect();
        sandbox_without(&mut command, &[Some(home.path().to_path_buf()), Some("/no/such".into())], &kept)
            .unwrap();
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        (String::from_utf8(output.stdout).unwrap(), home)
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
    fn it_has_no_network() {
        let (seen, _home) = run("readlink /proc/self/ns/net; ! ip route 2> /dev/null | grep .");
        let own = fs::read_link("/proc/self/ns/net").unwrap();
        assert!(
            seen.starts_with("net:[") && seen.lines().eq([seen.trim()]) && Path::new(seen.trim()) != own,
            "{seen}"
        );
    }

    #[test]
    fn directories_below_others_are_part_of_those() {
        let found =
            outermost(["/usr/bin", "/usr", "/no/such", "/", "/etc/passwd"].map(Path::new).into_iter());
        assert_eq!(found, [Path::new("/usr")]);
    }
}
