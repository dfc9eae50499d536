//! The part of a machine's window through which a recording comes, as its program has it in memory: a clone's window is its own, and no
//! file of this host.

use std::fs::File;
use std::io::{BufRead, BufReader};

use protocol::trace::ring::MACHINE_SIZE;
use protocol::window::RECORDING;

use crate::window::NAME;

/// Memory in a file.
#[derive(Debug)]
pub struct RecordingMemory {
    /// Has it as long as the machine's program lives.
    pub file: File,
    /// Where it begins there.
    pub place: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// That of the program with this number, which this process started: proc_pid_maps(5), proc_pid_mem(5).
pub(super) fn memory(process: u32) -> Option<RecordingMemory> {
    let maps = BufReader::new(File::open(format!("/proc/{process}/maps")).ok()?);
    let place = maps.lines().map_while(Result::ok).find_map(|line| window(&line))? + RECORDING as u64;
    let file = File::options().read(true).write(true).open(format!("/proc/{process}/mem")).ok()?;
    Some(RecordingMemory { file, place, size: MACHINE_SIZE as u64 })
}

/// Where a line says that the window is.
fn window(line: &str) -> Option<u64> {
    let (range, rest) = line.split_once(' ')?;
    let is_window = rest.contains(" 00000000 ") && rest.ends_with(&format!("/memfd:{NAME} (deleted)"));
    let begin = range.split_once('-')?.0;
    is_window.then(|| u64::from_str_radix(begin, 16).ok())?
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

    use super::*;
    use crate::window::Window;

    #[test]
    fn a_window_is_found_in_the_memory_of_its_program() {
        assert_eq!(window("7f00-7f10 rw-p 00000000 00:01 9    /memfd:window (deleted)"), Some(0x7f00));
        assert_eq!(window("7f00-7f10 rw-p 00001000 00:01 9    /memfd:window (deleted)"), None);
        assert_eq!(window("7f00-7f10 rw-p 00000000 00:01 9    /memfd:memory (deleted)"), None);
        let file = Window::empty().and_then(|window| window.descriptor()).expect("a window");
        let (access, size) = (ProtFlags::READ | ProtFlags::WRITE, protocol::window::WINDOW_SIZE);
        // SAFETY: a new mapping at an address that the kernel chooses, unmapped below.
        let mapped =
            unsafe { mmap(std::ptr::null_mut(), size, access, MapFlags::PRIVATE, &file, 0) }.expect("memory");
        let found = memory(std::process::id()).expect("it is mapped");
        found.file.write_all_at(b"here", found.place).expect("writable");
        // SAFETY: within the mapping.
        let seen = unsafe { std::slice::from_raw_parts(mapped.cast::<u8>().add(RECORDING), 4) };
        assert_eq!(seen, b"here");
        // SAFETY: the mapping is ours, and nobody uses it any more.
        unsafe { munmap(mapped, size) }.expect("unmapped");
    }
}
