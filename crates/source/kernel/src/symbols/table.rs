//! The functions of an ELF file: elf(5).

use crate::bytes::{u16_at, u32_at, u64_at, until_nul};
use crate::elf::Elf;

/// Most symbols that are kept; a kernel with everything built in has some hundred thousand.
const SYMBOLS_MAX: usize = 4 << 20;

/// Longest name that a kernel knows: `KSYM_NAME_LEN`.
const NAME_MAX: usize = 512;

const ENTRY_SIZE: usize = 24;

/// Functions by name, and where each ends.
#[derive(Debug)]
pub(super) struct Table {
    names: Vec<u8>,
    /// By name.
    symbols: Vec<Symbol>,
    /// All addresses in ascending order.
    addresses: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol {
    name: u32,
    pub(super) address: u64,
    size: u64,
}

impl Table {
    pub(super) fn read(elf: &Elf<'_>) -> Option<Self> {
        let entries = elf.section(".symtab").ok()??;
        let names = elf.section(".strtab").ok()??.to_vec();
        let found = entries.chunks_exact(ENTRY_SIZE).filter_map(Symbol::read).take(SYMBOLS_MAX);
        let mut symbols: Vec<Symbol> =
            found.filter(|symbol| !symbol.name(&names).starts_with(b".L")).collect();
        symbols.sort_by_key(|symbol| symbol.name(&names));
        let mut addresses: Vec<u64> = symbols.iter().map(|symbol| symbol.address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        Some(Self { names, symbols, addresses })
    }

    /// Where a function is of which there is no other of that name.
    pub(super) fn named(&self, name: &str) -> Option<u64> {
        match self.all(name) {
            [only] => Some(only.address),
            _ => None,
        }
    }

    /// Where the function of that name and size is; nothing if it could be one of several.
    pub(super) fn address(&self, name: &str, size: u64) -> Option<u64> {
        let mut fitting = self.all(name).iter().filter(|symbol| self.has_size(symbol, size));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(only.address),
            _ => None,
        }
    }

    /// All of that name.
    pub(super) fn all(&self, name: &str) -> &[Symbol] {
        let name = name.as_bytes();
        let start = self.symbols.partition_point(|symbol| symbol.name(&self.names) < name);
        let count = self.symbols[start..].partition_point(|symbol| symbol.name(&self.names) == name);
        &self.symbols[start..start + count]
    }

    /// A kernel takes for a function's size what is up to the next symbol, padding included.
    pub(super) fn has_size(&self, symbol: &Symbol, size: u64) -> bool {
        let next = self.addresses.partition_point(|&address| address <= symbol.address);
        let up_to_next = self.addresses.get(next).map(|next| next - symbol.address);
        symbol.size == size || up_to_next == Some(size)
    }
}

impl Symbol {
    fn read(entry: &[u8]) -> Option<Self> {
        /// `STT_NOTYPE`, which is what some functions in assembler are, and `STT_FUNC`.
        const CODE: [u8; 2] = [0, 2];
        /// `SHN_UNDEF`, and the first of the numbers that are no sections.
        const NO_SECTION: (u16, u16) = (0, 0xff00);
        let section = u16_at(entry, 6)?;
        let is_code = CODE.contains(&(entry.get(4)? & 15));
        let is_somewhere = section != NO_SECTION.0 && section < NO_SECTION.1;
        let symbol = Self { name: u32_at(entry, 0)?, address: u64_at(entry, 8)?, size: u64_at(entry, 16)? };
        (is_code && is_somewhere).then_some(symbol)
    }

    fn name<'a>(&self, names: &'a [u8]) -> &'a [u8] {
        until_nul(names, self.name.into(), NAME_MAX).unwrap_or_default()
    }
}
