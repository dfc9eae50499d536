//! `procfs`, `sysfs`: files that the kernel makes up when they are read.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use harness::check::{Checked, equal, fails, holds};
use rustix::io::{Errno, pread};

use crate::Worker;
use crate::stressor::{Class, Need, Stressor};

const READ: Stressor =
    Stressor { classes: &[Class::Os, Class::Filesystem], operation: "one file read", ..Stressor::PLAIN };

pub(super) const PROCFS: Stressor = Stressor {
    name: "procfs",
    about: "files of /proc about this process and about the machine: proc(5)",
    verifies: "what they say of this process; a second read goes on where the first ended",
    body: proc,
    ..READ
};

pub(super) const SYSFS: Stressor = Stressor {
    name: "sysfs",
    about: "attributes of devices and drivers: sysfs(5)",
    verifies: "no attribute is larger than a page, and what can only be read cannot be opened for writing",
    needs: &[Need::Filesystem("sysfs")],
    body: sys,
    ..READ
};

/// Reading these waits for what comes next or takes it from others, or is memory and not text.
const LEFT_OUT: [&str; 12] = [
    "kmsg",
    "kcore",
    "kpagecount",
    "kpageflags",
    "kpagecgroup",
    "pagemap",
    "mem",
    "acpi",
    "trace_pipe",
    "trace_pipe_raw",
    "debug",
    "tracing",
];

/// Regular files below a directory that can be read, at most so deep and so many.
fn files(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    /// Files that are looked at.
    const MOST: usize = 4096;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_left_out = name.to_str().is_none_or(|name| {
            // Of the processes only this one.
            LEFT_OUT.contains(&name) || (depth == PROC_DEPTH && name.parse::<u32>().is_ok())
        });
        let Ok(kind) = entry.file_type() else { continue };
        if is_left_out || kind.is_symlink() || kind.is_fifo() || found.len() >= MOST {
            continue;
        }
        if kind.is_file() {
            found.push(entry.path());
        } else if depth > 0 {
            files(&entry.path(), depth - 1, found);
        }
    }
}

const PROC_DEPTH: usize = 3;

/// The first bytes of a file, if it can be read.
fn start(path: &Path, buffer: &mut [u8]) -> Option<(File, usize)> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    // Attributes give errors of all kinds: of devices that are off, of drivers that lack something.
    let length = pread(&file, &mut *buffer, 0).ok()?;
    Some((file, length))
}

fn proc(worker: &Worker) -> Checked {
    let mut all = Vec::new();
    files(Path::new("/proc/self"), 1, &mut all);
    files(Path::new("/proc"), PROC_DEPTH, &mut all);
    let mut random = worker.random();
    let mut buffer = vec![0; 4096];
    worker.repeat(|| {
        let path = random.one_of(&all);
        if let Some((file, length)) = start(path, &mut buffer) {
            // It may have grown or shrunk meanwhile, but never gives more than is asked for.
            let more = pread(&file, &mut buffer[..], length as u64).unwrap_or(0);
            holds("bytes of a second read", more <= 4096)?;
        }
        let stat = fs::read_to_string("/proc/self/stat")?;
        let pid = stat.split(' ').next().unwrap_or_default();
        equal("the id of this process", pid, std::process::id().to_string().as_str())?;
        let file = File::open("/proc/self/status")?;
        let (mut whole, mut half) = ([0; 64], [0; 32]);
        pread(&file, &mut whole, 0)?;
        pread(&file, &mut half, 16)?;
        equal("a read that begins later", &half[..16], &whole[16..32])
    })
}

fn sys(worker: &Worker) -> Checked {
    let mut all = Vec::new();
    for part in
        ["/sys/class", "/sys/devices", "/sys/kernel", "/sys/module", "/sys/block", "/sys/bus", "/sys/power"]
    {
        files(Path::new(part), 6, &mut all);
    }
    // Text attributes have the size of a page; others are memory of devices.
    all.retain(|path| path.metadata().is_ok_and(|metadata| metadata.size() == 4096));
    if all.is_empty() {
        return harness::check::skip("/sys is empty");
    }
    let (mut random, mut buffer) = (worker.random(), vec![0; 8192]);
    worker.repeat(|| {
        let path = random.one_of(&all);
        if let Some((_, length)) = start(path, &mut buffer) {
            holds("an attribute is not larger than a page", length <= 4096)?;
        }
        let can_only_be_read = path.metadata().is_ok_and(|metadata| metadata.mode() & 0o222 == 0);
        match File::options().write(true).open(path).map_err(|error| Errno::from_io_error(&error)) {
            // It is mounted so that nobody can write, or the device has gone.
            Err(Some(Errno::ROFS | Errno::NOENT | Errno::NODEV)) => Ok(()),
            opened if can_only_be_read => fails(
                &path.display().to_string(),
                opened.map_err(|error| error.unwrap_or(Errno::IO)),
                Errno::ACCESS,
            ),
            _ => Ok(()),
        }
    })
}
