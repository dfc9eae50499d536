//! The memory that the machine shares with its host: an NVDIMM, which no driver needs to know, at the same address in
//! every clone.

use std::cell::Cell;
use std::fs;
use std::io;

use protocol::measure::{ANSWERS, Answer, ORDER, Order, RECORDING, RECORDING_SIZE, SYMBOLS, decode, encode};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap};
use trace::Ring;

/// Where the kernel shows the table that tells where NVDIMMs are: ACPI specification, "NVDIMM Firmware Interface Table".
const TABLE: &str = "/sys/firmware/acpi/tables/NFIT";

/// The table's own header; type and length of each structure in it; the address in a structure of type 0.
const HEADER: usize = 40;
const ADDRESS: usize = 32;

/// The shared memory.
pub(super) struct Exchange {
    file: OwnedFd,
    /// Where it begins there.
    address: u64,
    /// All of it before the recording.
    memory: *mut u8,
    /// Where the next answer goes.
    end: Cell<usize>,
}

impl Exchange {
    /// Finds and maps it.
    pub(super) fn open() -> io::Result<Self> {
        let table = fs::read(TABLE)?;
        let address = address(&table).ok_or_else(|| io::Error::other(format!("{TABLE} names no memory")))?;
        let file =
            rustix::fs::open("/dev/mem", OFlags::RDWR | OFlags::SYNC | OFlags::CLOEXEC, Mode::empty())?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses; it is never unmapped.
        let memory =
            unsafe { mmap(std::ptr::null_mut(), RECORDING, access, MapFlags::SHARED, &file, address)? };
        // A process that is measured shall not pay for it with each fork.
        // SAFETY: the range was just mapped; children do not touch it.
        unsafe { madvise(memory, RECORDING, Advice::LinuxDontFork)? };
        Ok(Self { file, address, memory: memory.cast(), end: Cell::new(ANSWERS) })
    }

    /// The order, if the host has written one.
    pub(super) fn order(&self) -> Option<Result<Order, String>> {
        let length = u32::from_le_bytes(self.read(ORDER, 4).try_into().unwrap_or_default()) as usize;
        let read = || decode(&self.read(ORDER + 4, length)).map_err(|error| error.to_string());
        (length > 0).then(read)
    }

    /// Adds an answer; one that has no room is lost, which the host sees by the job that stays without.
    pub(super) fn answer(&self, answer: &Answer) {
        let Ok(bytes) = encode(answer) else { return };
        let (start, length) = (self.end.get(), bytes.len());
        if start + length + 8 <= SYMBOLS {
            self.write(start + 4, &bytes);
            self.write(start, &u32::try_from(length).unwrap_or(0).to_le_bytes());
            self.end.set(start + 4 + length);
        }
    }

    /// Room for the table of symbols, after its length.
    pub(super) fn symbols(&mut self) -> &mut [u8] {
        // SAFETY: within the mapping; the host reads it only when the machine has stopped.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(SYMBOLS + 8), RECORDING - SYMBOLS - 8) }
    }

    /// Says how long the table is.
    pub(super) fn set_symbols(&self, length: usize) {
        self.write(SYMBOLS, &(length as u64).to_le_bytes());
    }

    /// Room for a recording.
    pub(super) fn recording(&self) -> Result<Ring, Errno> {
        Ring::map(&self.file, self.address + RECORDING as u64, RECORDING_SIZE)
    }

    fn read(&self, place: usize, length: usize) -> Vec<u8> {
        let length = length.min(RECORDING.saturating_sub(place));
        // SAFETY: within the mapping.
        unsafe { std::slice::from_raw_parts(self.memory.add(place), length) }.to_vec()
    }

    fn write(&self, place: usize, bytes: &[u8]) {
        assert!(place + bytes.len() <= RECORDING);
        // SAFETY: within the mapping, and `bytes` lies elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory.add(place), bytes.len()) }
    }
}

/// The address of the first range of memory in the table.
fn address(table: &[u8]) -> Option<u64> {
    let mut structures = table.get(HEADER..)?;
    loop {
        let word = |at: usize| Some(u16::from_le_bytes(structures.get(at..at + 2)?.try_into().ok()?));
        let (kind, length) = (word(0)?, usize::from(word(2)?));
        if kind == 0 {
            return Some(u64::from_le_bytes(structures.get(ADDRESS..ADDRESS + 8)?.try_into().ok()?));
        }
        structures = structures.get(length.max(1)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_range_of_memory_is_found() {
        let other = [4, 0, 6, 0, 9, 9];
        let mut range = [0; 56];
        range[2] = 56;
        range[ADDRESS..ADDRESS + 8].copy_from_slice(&0x1_0000_0000_u64.to_le_bytes());
        let table = [vec![0; HEADER], other.to_vec(), range.to_vec()].concat();
        assert_eq!(address(&table), Some(0x1_0000_0000));
        assert_eq!(address(&table[..HEADER + 6]), None);
        assert_eq!(address(&[0; 41]), None);
        assert_eq!(address(&[1; 200]), None);
    }
}
