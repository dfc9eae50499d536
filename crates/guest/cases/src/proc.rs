//! What the kernel tells about processes and itself: proc(5).

use std::fs;
use std::os::fd::AsRawFd;

use harness::check::{Checked, equal, fail, fails, holds};
use harness::child::{child, pause_forever, unprivileged};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use rustix::process::{getpid, getppid};

use crate::case::Case;

pub(super) const CASES: &[Case] = &[
    Case::new("proc/status", "/proc/self/status shows name, ids, threads and signal masks", status),
    Case::new("proc/maps", "/proc/self/maps follows mmap(2), mprotect(2) and munmap(2)", maps),
    Case::new("proc/fd", "/proc/self/fd shows paths, reopens files and marks deleted ones", descriptors),
    Case::new("proc/sysctl", "/proc/sys: a value is read back, nonsense gives EINVAL", sysctl)
        .cleanup(restore_swappiness),
    Case::new("proc/read-only-sysctl", "/proc/sys/kernel/ostype is Linux and cannot be written", read_only),
    Case::new("proc/oom-score-adj", "/proc/self/oom_score_adj has bounds (EINVAL) and guards (EACCES)", oom),
    Case::new("proc/gone", "files of an ended process give ENOENT and ESRCH", gone),
    Case::new("proc/others", "files of another user's process are closed to the unprivileged", others),
];

/// The value of a line `Key:   value` of a file.
fn value_of(path: &str, key: &str) -> Checked<String> {
    let text = fs::read_to_string(path)?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    value.map_or_else(|| fail(&format!("{path} has no {key}")), |value| Ok(value.trim().to_string()))
}

fn status() -> Checked {
    rustix::thread::set_name(c"kiln case")?;
    harness::sys::block(&[libc::SIGUSR1])?;
    rustix::process::kill_process(getpid(), rustix::process::Signal::USR1)?;
    let pid = getpid().as_raw_pid().to_string();
    let parent = rustix::process::Pid::as_raw(getppid()).to_string();
    let signal = format!("{:016x}", 1 << (libc::SIGUSR1 - 1));
    let expected = [
        ("Name", "kiln case"),
        ("State", "R (running)"),
        ("Pid", &pid),
        ("Tgid", &pid),
        ("PPid", &parent),
        ("Uid", "0\t0\t0\t0"),
        ("Threads", "1"),
        ("SigBlk", &signal),
        ("ShdPnd", &signal),
        ("TracerPid", "0"),
    ];
    for (key, value) in expected {
        equal(key, value_of("/proc/self/status", key)?, value)?;
    }
    Ok(())
}

/// Access rights of the mapping at `address`.
fn rights_at(address: usize) -> Checked<Option<String>> {
    let start = format!("{address:x}-");
    let maps = fs::read_to_string("/proc/self/maps")?;
    let line = maps.lines().find(|line| line.trim_start_matches('0').starts_with(&start));
    Ok(line.and_then(|line| line.split(' ').nth(1)).map(str::to_string))
}

fn maps() -> Checked {
    let size = rustix::param::page_size();
    // SAFETY: a new mapping at an address that the kernel chooses.
    let shared =
        unsafe { mmap_anonymous(std::ptr::null_mut(), 3 * size, ProtFlags::READ, MapFlags::SHARED)? };
    equal("rights of a shared mapping", rights_at(shared.addr())?.as_deref(), Some("r--s"))?;
    let middle = shared.wrapping_byte_add(size);
    // SAFETY: the middle page of the mapping above, which nobody uses.
    unsafe { mprotect(middle, size, MprotectFlags::READ | MprotectFlags::WRITE)? };
    equal("rights after mprotect", rights_at(middle.addr())?.as_deref(), Some("rw-s"))?;
    let last = shared.wrapping_byte_add(2 * size);
    equal("rights of the page behind it", rights_at(last.addr())?.as_deref(), Some("r--s"))?;
    // SAFETY: as above.
    unsafe { munmap(middle, size)? };
    equal("rights after munmap", rights_at(middle.addr())?, None::<String>)
}

fn descriptors() -> Checked {
    fs::write("file", "contents")?;
    let file = open("file", OFlags::RDONLY, Mode::empty())?;
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    equal("path", fs::read_link(&name)?.to_string_lossy().as_ref(), "/tmp/file")?;
    fs::remove_file("file")?;
    equal("path of a deleted file", fs::read_link(&name)?.to_string_lossy().as_ref(), "/tmp/file (deleted)")?;
    equal("contents of a deleted file", fs::read_to_string(&name)?, "contents")?;
    let position = format!("/proc/self/fdinfo/{}", file.as_raw_fd());
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(5))?;
    equal("position", value_of(&position, "pos")?, "5")?;
    drop(file);
    fails("a closed descriptor", fs::read_link(&name), Errno::NOENT)
}

const SWAPPINESS: &str = "/proc/sys/vm/swappiness";

fn sysctl() -> Checked {
    for value in ["33", "60"] {
        fs::write(SWAPPINESS, value)?;
        equal("value", fs::read_to_string(SWAPPINESS)?.trim_end(), value)?;
    }
    for wrong in ["-1", "100000", "text"] {
        fails(wrong, fs::write(SWAPPINESS, wrong), Errno::INVAL)?;
    }
    equal("value after refused writes", fs::read_to_string(SWAPPINESS)?.trim_end(), "60")?;
    unprivileged(|| fails("write by another user", fs::write(SWAPPINESS, "33"), Errno::ACCESS))?.succeeds()
}

fn restore_swappiness() -> Checked {
    Ok(fs::write(SWAPPINESS, "60")?)
}

fn read_only() -> Checked {
    let path = "/proc/sys/kernel/ostype";
    equal("system", fs::read_to_string(path)?, "Linux\n")?;
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let uname = rustix::system::uname();
    equal("release", release.trim_end(), uname.release().to_string_lossy().as_ref())?;
    fails("open to write", open(path, OFlags::WRONLY, Mode::empty()), Errno::ACCESS)
}

fn oom() -> Checked {
    let path = "/proc/self/oom_score_adj";
    for value in ["-1000", "1000", "7"] {
        fs::write(path, value)?;
        equal("value", fs::read_to_string(path)?.trim_end(), value)?;
    }
    for wrong in ["1001", "-1001", "text"] {
        fails(wrong, fs::write(path, wrong), Errno::INVAL)?;
    }
    child(|| equal("value of a child", fs::read_to_string(path)?.trim_end(), "7"))?.succeeds()?;
    // An open file keeps its owner's right to write; the right to lower the value is the writer's.
    let file = open(path, OFlags::WRONLY, Mode::empty())?;
    unprivileged(|| fails("a lower value", rustix::io::write(&file, b"-1"), Errno::ACCESS))?.succeeds()
}

fn gone() -> Checked {
    let process = child(|| pause_forever())?;
    let directory = format!("/proc/{}", process.pid().as_raw_pid());
    let file = open(format!("{directory}/stat"), OFlags::RDONLY, Mode::empty())?;
    process.kill(rustix::process::Signal::KILL)?;
    process.wait()?;
    fails("read of the open file", rustix::io::read(&file, &mut [0; 64]), Errno::SRCH)?;
    fails("its directory", fs::metadata(&directory), Errno::NOENT)?;
    fails("its file", fs::read(format!("{directory}/status")), Errno::NOENT)
}

fn others() -> Checked {
    let owner = format!("/proc/{}", getpid().as_raw_pid());
    unprivileged(|| {
        holds("its status is open to all", fs::read(format!("{owner}/status")).is_ok())?;
        fails("its descriptors", fs::read_dir(format!("{owner}/fd")), Errno::ACCESS)?;
        fails("its memory", open(format!("{owner}/mem"), OFlags::RDONLY, Mode::empty()), Errno::ACCESS)?;
        fails("its environment", fs::read(format!("{owner}/environ")), Errno::ACCESS)
    })?
    .succeeds()
}
