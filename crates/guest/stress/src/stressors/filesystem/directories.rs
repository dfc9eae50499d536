//! `dir`, `dirdeep`, `dentry`, `getdent`, `filename`, `chdir`: names and directories.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use harness::check::{Checked, equal, fails, holds};
use rustix::fs::{RawDir, rename};
use rustix::io::Errno;
use rustix::process::{chdir, fchdir, getcwd};

use crate::Worker;
use crate::stressor::{Class, Setting, Stressor, choice, number};
use harness::random::Random;

const FEW: Setting = number("entries", "entries of a directory", 4..=4096, 256);
const DEPTH: Setting = number("depth", "directories inside each other", 2..=256, 64);
const ORDER: Setting =
    choice("order", "order in which names are removed", &["random", "forward", "reverse", "stride"]);

const NAMES: Stressor =
    Stressor { classes: &[Class::Filesystem, Class::Os], options: &[FEW], ..Stressor::PLAIN };

pub(super) const DIR: Stressor = Stressor {
    name: "dir",
    about: "mkdir(2) and rmdir(2) of directories with random names",
    operation: "a directory made or removed",
    verifies: "the link count of the parent; one that exists cannot be made, one with entries not removed",
    body: dir,
    ..NAMES
};

pub(super) const DIRDEEP: Stressor = Stressor {
    name: "dirdeep",
    about: "directories inside each other, with a file and a link in each",
    operation: "a level made, or removed",
    verifies: "the working directory is as deep as it should be, and the file at the bottom keeps its content",
    options: &[DEPTH],
    body: dirdeep,
    ..NAMES
};

pub(super) const DENTRY: Stressor = Stressor {
    name: "dentry",
    about: "names made, looked up, and removed in several orders: the cache of directory entries",
    operation: "a name made, looked up and removed",
    verifies: "names are found while they are there, and no longer once removed",
    options: &[FEW, ORDER],
    body: dentry,
    ..NAMES
};

pub(super) const GETDENT: Stressor = Stressor {
    name: "getdent",
    about: "getdents64(2) of a directory with buffers of several sizes",
    operation: "a directory read to its end",
    verifies: "each entry is there once, with its inode number",
    body: getdent,
    ..NAMES
};

pub(super) const FILENAME: Stressor = Stressor {
    name: "filename",
    about: "names of all lengths, of random bytes or of portable characters",
    operation: "a file made, renamed to another name, found and removed",
    verifies: "the name is listed byte by byte; longer names than NAME_MAX give ENAMETOOLONG",
    options: &[],
    body: filename,
    ..NAMES
};

pub(super) const CHDIR: Stressor = Stressor {
    name: "chdir",
    about: "chdir(2) and fchdir(2) among many directories",
    operation: "a change to a random directory and back",
    verifies: "getcwd(2) names the directory",
    body: change,
    ..NAMES
};

fn links(path: &str) -> Checked<u64> {
    Ok(rustix::fs::stat(path)?.st_nlink)
}

fn dir(worker: &Worker) -> Checked {
    let (count, mut random) = (worker.size(&FEW), worker.random());
    fs::create_dir("parent")?;
    let empty = links("parent")?;
    let mut there = BTreeSet::new();
    worker.repeat(|| {
        let name = format!("parent/{:x}", random.below(2 * count));
        if there.remove(&name) {
            fails("making it again", fs::create_dir(&name), Errno::EXIST)?;
            fs::remove_dir(&name)?;
            fails("removing it again", fs::remove_dir(&name), Errno::NOENT)?;
        } else if there.len() < count {
            fs::create_dir(&name)?;
            there.insert(name);
            // Some file systems count no directories: then the number stays as it was.
            let now = links("parent")?;
            holds("links of the parent", now == empty || now == empty + there.len() as u64)?;
            fails("removing the parent", fs::remove_dir("parent"), Errno::NOTEMPTY)?;
        }
        Ok(())
    })
}

fn dirdeep(worker: &Worker) -> Checked {
    let (depth, base) = (worker.size(&DEPTH), std::env::current_dir()?);
    while worker.goes_on() {
        let mut made = 0;
        while made < depth && worker.goes_on() {
            fs::create_dir("d")?;
            chdir("d")?;
            fs::write("file", made.to_string())?;
            rustix::fs::symlink("file", "link")?;
            made += 1;
            worker.count();
        }
        let expected = base.components().count() + made;
        equal("depth", std::env::current_dir()?.components().count(), expected)?;
        while made > 0 {
            made -= 1;
            equal("what the link leads to", fs::read_to_string("link")?, made.to_string())?;
            fs::remove_file("link")?;
            fs::remove_file("file")?;
            chdir("..")?;
            fs::remove_dir("d")?;
            worker.count();
        }
    }
    Ok(())
}

fn dentry(worker: &Worker) -> Checked {
    let (count, mut random) = (worker.size(&FEW), worker.random());
    while worker.goes_on() {
        let mut names: Vec<String> = (0..count).map(|at| format!("{at:x}-{:x}", random.next_u64())).collect();
        names.iter().try_for_each(|name| File::create(name).map(drop))?;
        match worker.choice(&ORDER) {
            0 => random.shuffle(&mut names),
            2 => names.reverse(),
            3 => names.sort_by_key(|name| name.len() % 3),
            _ => {}
        }
        for name in &names {
            holds("a name that is there", Path::new(name).exists())?;
            fs::remove_file(name)?;
            fails("a name that was removed", rustix::fs::stat(name.as_str()), Errno::NOENT)?;
            worker.count();
        }
    }
    Ok(())
}

fn getdent(worker: &Worker) -> Checked {
    let (count, mut random) = (worker.size(&FEW), worker.random());
    fs::create_dir("full")?;
    let mut expected = BTreeSet::new();
    for at in 0..count {
        let name = format!("{at:x}-{:x}", random.next_u64());
        let inode = rustix::fs::fstat(File::create(format!("full/{name}"))?)?.st_ino;
        expected.insert((name, inode));
    }
    worker.repeat(|| {
        let mut buffer = vec![MaybeUninit::uninit(); 512 << random.below(8)];
        let mut directory = RawDir::new(File::open("full")?, &mut buffer);
        let mut found = Vec::new();
        while let Some(entry) = directory.next() {
            let entry = entry?;
            found.push((entry.file_name().to_string_lossy().into_owned(), entry.ino()));
        }
        found.retain(|(name, _)| name != "." && name != "..");
        equal("entries", found.len(), expected.len())?;
        holds("each entry is there", found.into_iter().collect::<BTreeSet<_>>() == expected)
    })
}

/// A name of `length` bytes that is neither `.` nor `..`.
fn name(random: &mut Random, length: usize) -> PathBuf {
    const PORTABLE: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    let is_portable = random.below(2) == 0;
    let letter = |random: &mut Random| match random.below(255) as u8 + 1 {
        _ if is_portable => *random.one_of(PORTABLE),
        b'/' | b'.' => b'_',
        other => other,
    };
    OsString::from_vec((0..length).map(|_| letter(random)).collect()).into()
}

fn filename(worker: &Worker) -> Checked {
    let mut random = worker.random();
    fs::create_dir("names")?;
    let longest = usize::try_from(rustix::fs::statvfs("names")?.f_namemax).unwrap_or(255);
    let base = Path::new("names");
    worker.repeat(|| {
        let [length, other] = [0, 1].map(|_| 1 + random.below(longest));
        let (first, second) = (name(&mut random, length), name(&mut random, other));
        match File::create(base.join(&first)) {
            // Some file systems take only names that are text.
            Err(error) if [Some(libc::EINVAL), Some(libc::EILSEQ)].contains(&error.raw_os_error()) => {
                return Ok(());
            }
            made => drop(made?),
        }
        rename(base.join(&first), base.join(&second))?;
        let listed: Vec<PathBuf> = fs::read_dir(base)?
            .map(|entry| entry.map(|entry| entry.file_name().into()))
            .collect::<Result<_, _>>()?;
        equal("names", listed, vec![second.clone()])?;
        fs::remove_file(base.join(&second))?;
        let long = base.join(name(&mut random, longest + 1));
        fails("a longer name", File::create(long), Errno::NAMETOOLONG)
    })
}

fn change(worker: &Worker) -> Checked {
    let (count, mut random) = (worker.size(&FEW), worker.random());
    let base = std::env::current_dir()?;
    let here = File::open(".")?;
    (0..count).try_for_each(|at| fs::create_dir(at.to_string()))?;
    worker.repeat(|| {
        let name = random.below(count).to_string();
        chdir(name.as_str())?;
        let now = PathBuf::from(OsString::from_vec(getcwd(Vec::new())?.into_bytes()));
        equal("the working directory", now, base.join(&name))?;
        fchdir(&here)?;
        fails("a directory that is not there", chdir("none"), Errno::NOENT)
    })
}
