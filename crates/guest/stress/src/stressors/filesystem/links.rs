//! `link`, `symlink`, `rename`, `unlink`, `mknod`: names of inodes.

use std::fs::{self, File};

use harness::check::{Checked, equal, fails, holds};
use rustix::fs::{
    CWD, FileType, Mode, RenameFlags, link, mknodat, rename, renameat_with, stat, symlink, unlink,
};
use rustix::io::Errno;

use crate::Worker;
use crate::kit::file;
use crate::stressor::{Class, Setting, Stressor, number};

const LINKS: Setting = number("links", "names at a time", 2..=1024, 128);

const NAMES: Stressor =
    Stressor { classes: &[Class::Filesystem, Class::Os], options: &[LINKS], ..Stressor::PLAIN };

pub(super) const LINK: Stressor = Stressor {
    name: "link",
    about: "many names of one inode: link(2)",
    operation: "a name added, found and removed",
    verifies: "the inode and its link count",
    body: hard,
    ..NAMES
};

pub(super) const SYMLINK: Stressor = Stressor {
    name: "symlink",
    about: "symbolic links, chains and circles of them: symlink(2), readlink(2)",
    operation: "a link made, read, followed and removed",
    verifies: "where it leads; a circle gives ELOOP",
    body: symbolic,
    ..NAMES
};

pub(super) const RENAME: Stressor = Stressor {
    name: "rename",
    about: "rename(2) and renameat2(2) within and between directories",
    operation: "a file moved, exchanged with another, and moved back",
    verifies: "the inode under each name; RENAME_NOREPLACE replaces nothing",
    options: &[],
    body: moves,
    ..NAMES
};

pub(super) const UNLINK: Stressor = Stressor {
    name: "unlink",
    about: "files removed while they are open",
    operation: "a file made, written, removed, read and closed",
    verifies: "the name is gone at once, and the content only with the last descriptor",
    options: &[],
    body: removed,
    ..NAMES
};

pub(super) const MKNOD: Stressor = Stressor {
    name: "mknod",
    about: "mknod(2) of files, FIFOs and sockets, and of devices where the user may",
    operation: "a node of each kind made and removed",
    verifies: "kind, permissions and device number; a name that exists gives EEXIST",
    options: &[],
    body: nodes,
    ..NAMES
};

fn hard(worker: &Worker) -> Checked {
    let count = worker.size(&LINKS);
    let inode = rustix::fs::fstat(file::create("one")?)?.st_ino;
    while worker.goes_on() {
        for at in 0..count {
            let name = at.to_string();
            match link("one", name.as_str()) {
                // The file system has a limit.
                Err(Errno::MLINK) => break,
                done => done?,
            }
            let found = stat(name.as_str())?;
            equal("inode and links", (found.st_ino, found.st_nlink), (inode, at as u64 + 2))?;
            worker.count();
        }
        for entry in fs::read_dir(".")?.flatten().filter(|entry| entry.file_name() != "one") {
            fs::remove_file(entry.path())?;
        }
        equal("links in the end", stat("one")?.st_nlink, 1)?;
    }
    Ok(())
}

fn symbolic(worker: &Worker) -> Checked {
    let count = worker.size(&LINKS).min(30);
    fs::write("0", "the end")?;
    while worker.goes_on() {
        for at in 1..=count {
            let (name, before) = (at.to_string(), (at - 1).to_string());
            symlink(before.as_str(), name.as_str())?;
            equal("where it leads", fs::read_link(&name)?, std::path::PathBuf::from(&before))?;
            equal("what it leads to", fs::read_to_string(&name)?, "the end")?;
            worker.count();
        }
        symlink("circle", "circle")?;
        fails("a circle", File::open("circle"), Errno::LOOP)?;
        unlink("circle")?;
        (1..=count).rev().try_for_each(|at| unlink(at.to_string()))?;
    }
    Ok(())
}

fn moves(worker: &Worker) -> Checked {
    fs::create_dir("a")?;
    fs::create_dir("b")?;
    let inode = |name: &str| -> Checked<u64> { Ok(rustix::fs::fstat(file::create(name)?)?.st_ino) };
    let (first, second) = (inode("a/1")?, inode("b/2")?);
    let now = |name: &str| stat(name).map(|found| found.st_ino);
    let flagged = |from: &str, to: &str, flags| renameat_with(CWD, from, CWD, to, flags);
    worker.repeat(|| {
        rename("a/1", "b/1")?;
        equal("after the move", (now("b/1"), now("a/1")), (Ok(first), Err(Errno::NOENT)))?;
        match flagged("b/1", "b/2", RenameFlags::EXCHANGE) {
            // This file system cannot exchange.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            done => {
                done?;
                equal("after the exchange", (now("b/1"), now("b/2")), (Ok(second), Ok(first)))?;
                fails("replacing nothing", flagged("b/1", "b/2", RenameFlags::NOREPLACE), Errno::EXIST)?;
                flagged("b/1", "b/2", RenameFlags::EXCHANGE)?;
            }
        }
        fails("a directory over a file", rename("a", "b/2"), Errno::NOTDIR)?;
        rename("b/1", "a/1")?;
        equal("after the way back", (now("a/1"), now("b/2")), (Ok(first), Ok(second)))
    })
}

fn removed(worker: &Worker) -> Checked {
    let mut random = worker.random();
    worker.repeat(|| {
        let (open, seed) = (file::create("open")?, random.next_u64());
        file::fill(&open, seed, 0, 8192)?;
        unlink("open")?;
        fails("its name", stat("open"), Errno::NOENT)?;
        equal("links", rustix::fs::fstat(&open)?.st_nlink, 0)?;
        file::verify("what has no name", &open, seed, 0, 8192)
    })
}

fn nodes(worker: &Worker) -> Checked {
    let kinds = [FileType::RegularFile, FileType::Fifo, FileType::Socket, FileType::CharacterDevice];
    let null = rustix::fs::makedev(1, 3);
    worker.repeat(|| {
        for kind in kinds {
            let device = if kind == FileType::CharacterDevice { null } else { 0 };
            let make = || mknodat(CWD, "node", kind, Mode::RUSR | Mode::WUSR, device);
            match make() {
                // Devices are for those who may make them.
                Err(Errno::PERM) if device != 0 => continue,
                done => done?,
            }
            let found = stat("node")?;
            holds("the kind", FileType::from_raw_mode(found.st_mode) == kind)?;
            equal("permissions and device", (found.st_mode & 0o777, found.st_rdev), (0o600, device))?;
            fails("making it again", make(), Errno::EXIST)?;
            unlink("node")?;
        }
        Ok(())
    })
}
