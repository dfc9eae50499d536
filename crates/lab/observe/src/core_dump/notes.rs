//! What a core dump says of threads, the program and its files.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;

use object::elf;
use procfs::process::{MMapPath, Process};

use super::PAGE;
use crate::monitor::{Crash, ptrace};

/// Whose notes they are, padded to four bytes.
const CORE: &[u8] = b"CORE\0\0\0\0";
const LINUX: &[u8] = b"LINUX\0\0\0";

/// Bytes of `struct elf_prstatus` and `struct elf_prpsinfo` on x86-64, and of their texts.
const STATUS: usize = 336;
const PROGRAM: usize = 136;
const NAME: usize = 16;
const ARGUMENTS: usize = 80;

/// Bytes of all mapped files at most, as the kernel has it.
const FILES_MAX: usize = 4 << 20;

/// All notes, the thread that crashed first: debuggers take it for the one that matters.
pub(super) fn notes(crash: &Crash) -> io::Result<Vec<u8>> {
    let process = Process::new(crash.process).map_err(io::Error::other)?;
    let mut notes = Vec::new();
    let signal = ptrace::signal_info(crash.thread)?;
    note(&mut notes, CORE, elf::NT_PRSTATUS, &status(&process, crash.thread, crash.signal.number)?);
    note(&mut notes, CORE, elf::NT_PRPSINFO, &program(&process)?);
    note(&mut notes, CORE, elf::NT_SIGINFO, bytes_of(&signal));
    note(&mut notes, CORE, elf::NT_AUXV, &fs::read(format!("/proc/{}/auxv", crash.process))?);
    note(&mut notes, CORE, elf::NT_FILE, &files(&process)?);
    units(&mut notes, crash.thread);
    for &thread in &crash.others {
        // One that is gone meanwhile is in no dump of the kernel either.
        let Ok(status) = status(&process, thread, crash.signal.number) else { continue };
        note(&mut notes, CORE, elf::NT_PRSTATUS, &status);
        units(&mut notes, thread);
    }
    Ok(notes)
}

fn note(notes: &mut Vec<u8>, name: &[u8], kind: elf::NoteType, content: &[u8]) {
    let name_length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len()) + 1;
    for number in [name_length as u32, content.len() as u32, kind.0] {
        notes.extend(number.to_le_bytes());
    }
    notes.extend(name);
    notes.extend(content);
    notes.resize(notes.len().next_multiple_of(4), 0);
}

/// `struct elf_prstatus`. The kernel gives all threads the signal of which the process dies, and debuggers look at the last one.
fn status(process: &Process, thread: i32, signal: i32) -> io::Result<Vec<u8>> {
    let stat = process.task_from_tid(thread).and_then(|task| task.stat()).map_err(io::Error::other)?;
    let registers = ptrace::registers(thread)?;
    let mut status = Fields::new(STATUS);
    status.put(0, &signal.to_le_bytes());
    status.put(12, &(signal as u16).to_le_bytes());
    for (at, number) in [(32, thread), (36, stat.ppid), (40, stat.pgrp), (44, stat.session)] {
        status.put(at, &number.to_le_bytes());
    }
    status.put(112, bytes_of(&registers));
    status.put(328, &1_i32.to_le_bytes());
    Ok(status.0)
}

/// `struct elf_prpsinfo`.
fn program(process: &Process) -> io::Result<Vec<u8>> {
    let stat = process.stat().map_err(io::Error::other)?;
    let status = process.status().map_err(io::Error::other)?;
    let mut program = Fields::new(PROGRAM);
    program.put(1, b"R");
    program.put(3, &(stat.nice as i8).to_le_bytes());
    program.put(8, &u64::from(stat.flags).to_le_bytes());
    for (at, number) in [(16, status.ruid), (20, status.rgid)] {
        program.put(at, &number.to_le_bytes());
    }
    for (at, number) in [(24, stat.pid), (28, stat.ppid), (32, stat.pgrp), (36, stat.session)] {
        program.put(at, &number.to_le_bytes());
    }
    let text = |text: &str, room: usize| text.as_bytes()[..text.len().min(room - 1)].to_vec();
    program.put(40, &text(&stat.comm, NAME));
    program.put(56, &text(&crate::process::command(stat.pid), ARGUMENTS));
    Ok(program.0)
}

/// The files that are mapped: how many, the unit of their offsets, begin, end and offset of each, and then their paths.
fn files(process: &Process) -> io::Result<Vec<u8>> {
    let maps = process.maps().map_err(io::Error::other)?;
    let (mut places, mut paths) = (Vec::new(), Vec::new());
    for map in &maps.0 {
        let MMapPath::Path(path) = &map.pathname else { continue };
        if paths.len() + places.len() * 8 > FILES_MAX {
            break;
        }
        places.extend([map.address.0, map.address.1, map.offset / PAGE]);
        paths.extend(path.as_os_str().as_bytes());
        paths.push(0);
    }
    let numbers = [places.len() as u64 / 3, PAGE].into_iter().chain(places);
    Ok(numbers.flat_map(u64::to_le_bytes).chain(paths).collect())
}

/// The registers of the units for numbers and vectors.
fn units(notes: &mut Vec<u8>, thread: i32) {
    for (name, kind) in [(CORE, elf::NT_PRFPREG), (LINUX, elf::NT_X86_XSTATE)] {
        // Without them everything else is worth as much.
        if let Ok(registers) = ptrace::register_set(thread, kind.0) {
            note(notes, name, kind, &registers);
        }
    }
}

/// A structure of the kernel, of zeros but for what is put in.
struct Fields(Vec<u8>);

impl Fields {
    fn new(length: usize) -> Self {
        Self(vec![0; length])
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

/// The bytes of a structure of the C library.
fn bytes_of<T>(value: &T) -> &[u8] {
    // SAFETY: the kernel has written all of it, and these structures are numbers.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}
