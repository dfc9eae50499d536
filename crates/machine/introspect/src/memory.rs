//! Memory as the machine has it, and as its kernel sees it: "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 3,
//! chapter 4.

use std::collections::{HashMap, HashSet};

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;

/// Entries of a page table.
const ENTRIES: u64 = 512;

/// Bits of an entry: it is valid; it is a large page.
const PRESENT: u64 = 1;
const LARGE: u64 = 1 << 7;

/// The address in an entry.
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// Bytes that are read at most, and what each read counts beside its bytes: a kernel that lies must not keep kiln busy. An image has up to
/// 256 MiB; what else is read of a kernel are some millions of bytes.
const BYTES_MAX: u64 = 768 << 20;
const READ: u64 = 64;

/// What a machine has at physical addresses.
pub trait Physical {
    /// Fills `bytes` with what is there; false if some of it is no memory.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool;
}

/// What a kernel sees at its addresses.
pub(crate) struct Memory<'a> {
    physical: &'a mut dyn Physical,
    /// Where the top of its page tables is.
    root: u64,
    levels: u32,
    /// Where pages are that were read.
    pages: HashMap<u64, u64>,
    /// How much may still be read.
    left: u64,
}

/// What a kernel has at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// So many bytes, at this place of the machine.
    Mapped { place: u64, length: u64 },
    /// Nothing for so many bytes.
    Hole { length: u64 },
}

impl<'a> Memory<'a> {
    /// By the page tables at `root`, of four levels or five.
    pub(crate) fn new(physical: &'a mut dyn Physical, root: u64, levels: u32) -> Self {
        Self { physical, root: root & ADDRESS, levels, pages: HashMap::new(), left: BYTES_MAX }
    }

    /// How many levels its page tables have.
    pub(crate) fn levels(&self) -> u32 {
        self.levels
    }

    /// Where an address is in the machine, and how many bytes there belong together.
    pub(crate) fn translate(&mut self, address: u64) -> Option<(u64, u64)> {
        match self.look(address) {
            Look::Mapped { place, length } => Some((place, length)),
            Look::Hole { .. } => None,
        }
    }

    /// The same for what is read: again and again from a few pages.
    fn found(&mut self, address: u64) -> Option<(u64, u64)> {
        let within = address % PAGE;
        if let Some(place) = self.pages.get(&(address - within)) {
            return Some((place + within, PAGE - within));
        }
        let (place, left) = self.translate(address)?;
        self.pages.insert(address - within, place - within);
        Some((place, left))
    }

    /// What is at an address, and up to where it is the same.
    pub(crate) fn look(&mut self, address: u64) -> Look {
        let mut table = self.root;
        for level in (0..self.levels).rev() {
            let size = 1 << (12 + 9 * level);
            let length = size - address % size;
            let Some(entry) = self.entry(table, address / size % ENTRIES) else {
                return Look::Hole { length };
            };
            if level == 0 || (level < 3 && entry & LARGE != 0) {
                let begin = (entry & ADDRESS) & !(size - 1);
                return Look::Mapped { place: begin + address % size, length };
            }
            table = entry & ADDRESS;
        }
        Look::Hole { length: PAGE }
    }

    /// A valid entry of a page table.
    fn entry(&mut self, table: u64, index: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        let is_there = self.physical.read(table + 8 * index, &mut bytes);
        Some(u64::from_le_bytes(bytes)).filter(|entry| is_there && entry & PRESENT != 0)
    }

    /// Fills `bytes` with what the kernel sees; nothing any more when too much was read.
    pub(crate) fn read(&mut self, mut address: u64, mut bytes: &mut [u8]) -> Option<()> {
        self.left = self.left.checked_sub(READ + bytes.len() as u64)?;
        while !bytes.is_empty() {
            let (place, left) = self.found(address)?;
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            let (part, rest) = bytes.split_at_mut(length);
            self.physical.read(place, part).then_some(())?;
            address = address.checked_add(length as u64)?;
            bytes = rest;
        }
        Some(())
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.read(address, &mut bytes)?;
        Some(bytes)
    }

    /// What is mapped from an address on, at most so many bytes.
    pub(crate) fn up_to(&mut self, address: u64, limit: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut next = address;
        while bytes.len() < limit {
            let left = usize::try_from(PAGE - next % PAGE).unwrap_or(limit);
            let Some(part) = self.bytes(next, left.min(limit - bytes.len())) else { break };
            bytes.extend(&part);
            let Some(end) = next.checked_add(part.len() as u64) else { break };
            next = end;
        }
        bytes
    }

    pub(crate) fn word(&mut self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Some(u64::from_le_bytes(bytes))
    }

    pub(crate) fn half(&mut self, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Some(u32::from_le_bytes(bytes))
    }

    /// A text that ends with a zero, up to so many bytes.
    pub(crate) fn text(&mut self, address: u64, limit: usize) -> Option<String> {
        let left = usize::try_from(PAGE - address % PAGE).ok()?;
        let mut bytes = self.bytes(address, limit.min(left))?;
        if bytes.len() < limit && !bytes.contains(&0) {
            let next = address.checked_add(bytes.len() as u64)?;
            let more = self.bytes(next, limit - bytes.len()).unwrap_or_default();
            bytes.extend(more);
        }
        Some(until_zero(&bytes))
    }
}

/// The entries of a list of the kernel (`struct list_head`) up to its end, or to what cannot be one: at most so many, each once.
pub(crate) fn list(memory: &mut Memory<'_>, head: u64, limit: usize) -> Vec<u64> {
    let mut seen = HashSet::from([head]);
    let mut found = Vec::new();
    let mut next = memory.word(head);
    while let Some(entry) = next.filter(|entry| found.len() < limit && seen.insert(*entry)) {
        found.push(entry);
        next = memory.word(entry);
    }
    found
}

/// A text up to its first zero.
pub(crate) fn until_zero(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Memory from address 0 on.
    pub(crate) struct Bytes(pub(crate) Vec<u8>);

    impl Physical for Bytes {
        fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
            let begin = usize::try_from(address).unwrap_or(usize::MAX);
            let found = begin.checked_add(bytes.len()).and_then(|end| self.0.get(begin..end));
            found.map(|found| bytes.copy_from_slice(found)).is_some()
        }
    }

    impl Bytes {
        pub(crate) fn set(&mut self, at: u64, word: u64) {
            let at = usize::try_from(at).expect("small");
            self.0[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
    }

    /// A page at 0x1000_0000 of the kernel and a large one behind 0x4000_0000, with four levels.
    pub(crate) fn machine() -> Bytes {
        let mut memory = Bytes(vec![0; 4 << 20]);
        for (table, index, entry) in [
            (0x1000, 0, 0x2003),
            (0x2000, 0, 0x3003),
            (0x2000, 1, 0x5003),
            (0x3000, 128, 0x4003),
            (0x4000, 0, 0x8003),
            (0x5000, 0, 0x20_0083),
        ] {
            memory.set(table + 8 * index, entry);
        }
        memory.set(0x8000, 0x6162_6300_7a79_7877);
        memory.set(0x20_0010, 7);
        memory
    }

    #[test]
    fn addresses_are_translated_through_small_and_large_pages() {
        let mut machine = machine();
        let mut memory = Memory::new(&mut machine, 0x1000, 4);
        assert_eq!(memory.translate(0x1000_0008), Some((0x8008, 4088)));
        assert_eq!(memory.translate(0x4000_0010), Some((0x20_0010, (2 << 20) - 0x10)));
        assert_eq!(memory.look(0x1000_1ff0), Look::Hole { length: 0x10 });
        assert_eq!(memory.look(0x20_0000), Look::Hole { length: 1 << 21 });
        assert_eq!((memory.word(0x4000_0010), memory.half(0x1000_0000)), (Some(7), Some(0x7a79_7877)));
        assert_eq!(memory.text(0x1000_0000, 16), Some("wxyz".to_owned()));
        assert_eq!(memory.word(0x1000_0ffc), None, "its second half is nowhere");
    }

    #[test]
    fn a_list_ends_where_it_began_and_where_it_turns_in_a_circle() {
        let mut machine = machine();
        for (at, next) in [(0x20_0000, 0x4000_0100), (0x20_0100, 0x4000_0200), (0x20_0200, 0x4000_0000)] {
            machine.set(at, next);
        }
        let found =
            |machine: &mut Bytes, limit| list(&mut Memory::new(machine, 0x1000, 4), 0x4000_0000, limit);
        assert_eq!(found(&mut machine, 9), [0x4000_0100, 0x4000_0200]);
        assert_eq!(found(&mut machine, 1), [0x4000_0100]);
        machine.set(0x20_0200, 0x4000_0100);
        assert_eq!(found(&mut machine, 9), [0x4000_0100, 0x4000_0200]);
        machine.set(0x20_0200, 0x10);
        assert_eq!(found(&mut machine, 9), [0x4000_0100, 0x4000_0200, 0x10]);
    }

    #[test]
    fn tables_that_lie_outside_of_the_memory_translate_nothing() {
        let mut machine = Bytes(vec![0xff; 0x2000]);
        assert_eq!(Memory::new(&mut machine, 0x1000, 5).translate(u64::MAX), None);
    }
}
