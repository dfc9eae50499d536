//! The functions of an ELF file: elf(5).

use object::LittleEndian as Little;
use object::elf::{STT_FUNC, STT_NOTYPE, Sym64};
use object::read::elf::Sym;

use crate::bytes::until_nul;
use crate::elf::Elf;

/// Most symbols that are kept; a kernel with everything built in has some hundred thousand.
const SYMBOLS_MAX: usize = 4 << 20;

/// Longest name that a kernel knows: `KSYM_NAME_LEN`.
const NAME_MAX: usize = 512;

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
        let (entries, names) = elf.symbols()?;
        let names = names.to_vec();
        let found = entries.iter().filter_map(Symbol::read).take(SYMBOLS_MAX);
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
    /// A function, if the symbol is one. Some functions in assembler have no type.
    fn read(entry: &Sym64<Little>) -> Option<Self> {
        let is_code = [STT_NOTYPE, STT_FUNC].contains(&entry.st_type());
        let is_somewhere = entry.st_shndx(Little).index().is_some();
        let symbol = Self {
            name: entry.st_name(Little),
            address: entry.st_value(Little),
            size: entry.st_size(Little),
        };
        (is_code && is_somewhere).then_some(symbol)
    }

    fn name<'a>(&self, names: &'a [u8]) -> &'a [u8] {
        until_nul(names, self.name.into(), NAME_MAX).unwrap_or_default()
    }
}
