//! The modules that a kernel has loaded: their code, symbols and frames.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kernel::bytes::{u16_at, u32_at, u64_at};

use crate::btf::Types;
use crate::kallsyms::Symbols;
use crate::memory::{Memory, list};
use crate::orc::Table;

/// Parts of a module: `enum mod_mem_type` of include/linux/module.h.
const TEXT: u64 = 0;
const INIT_TEXT: u64 = 4;

/// The most modules and symbols of one that are looked at.
const MODULES_MAX: usize = 1024;
const SYMBOLS_MAX: u64 = 1 << 16;

/// Bytes of a symbol (`Elf64_Sym`), and of a name at most.
const SYMBOL: usize = 24;
const NAME_MAX: usize = 256;

/// A module.
pub(crate) struct Module {
    pub(crate) name: String,
    /// Where its code is, and that of its start as long as it has not started.
    code: [Range<u64>; 2],
    /// Where its symbols and frames are.
    at: u64,
    list: Mutex<Option<Arc<List>>>,
    frames: OnceLock<Table>,
}

/// The symbols of a module that are in its code, in the order of addresses: address, size, place of the name behind `texts`.
#[derive(Debug)]
struct List {
    /// Where the kernel has it: one that has started has another.
    at: u64,
    symbols: Vec<(u64, u64, u32)>,
    texts: u64,
}

impl Module {
    /// Whether an address is in its code.
    pub(crate) fn has(&self, address: u64) -> bool {
        self.code.iter().any(|code| code.contains(&address))
    }

    /// The function in which an address is: where it begins and ends, and its name.
    pub(crate) fn function(
        &self,
        types: &Types,
        memory: &mut Memory<'_>,
        address: u64,
    ) -> Option<(Range<u64>, String)> {
        let list = self.list(types, memory)?;
        let behind = list.symbols.partition_point(|(begin, ..)| *begin <= address);
        let (begin, size, name) = list.symbols[..behind].last()?;
        let name = memory.text(list.texts.checked_add((*name).into())?, NAME_MAX)?;
        Some((*begin..begin.checked_add(*size)?, name))
    }

    /// The list as it is now, read once.
    fn list(&self, types: &Types, memory: &mut Memory<'_>) -> Option<Arc<List>> {
        let at = memory.word(self.at.checked_add(types.offset("module", &["kallsyms"])?)?)?;
        let mut known = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|list| list.at != at) {
            *known = Some(Arc::new(self.read_list(types, memory, at)?));
        }
        known.clone()
    }

    fn read_list(&self, types: &Types, memory: &mut Memory<'_>, at: u64) -> Option<List> {
        let mut member = |name: &str| memory.word(at.checked_add(types.offset("mod_kallsyms", &[name])?)?);
        let (symbols, count, texts) =
            (member("symtab")?, member("num_symtab")? & 0xffff_ffff, member("strtab")?);
        let bytes = memory.bytes(symbols, SYMBOL * usize::try_from(count.min(SYMBOLS_MAX)).ok()?)?;
        let symbol = |bytes: &[u8]| {
            let (name, section) = (u32_at(bytes, 0)?, u16_at(bytes, 6)?);
            let (value, size) = (u64_at(bytes, 8)?, u64_at(bytes, 16)?);
            (section != 0 && self.has(value)).then_some((value, size, name))
        };
        let mut symbols: Vec<_> = bytes.chunks_exact(SYMBOL).filter_map(symbol).collect();
        symbols.sort_unstable();
        Some(List { at, symbols, texts })
    }

    /// How callers are found in its code.
    pub(crate) fn frames(&self, types: &Types, memory: &mut Memory<'_>) -> &Table {
        self.frames.get_or_init(|| self.read_frames(types, memory).unwrap_or_default())
    }

    fn read_frames(&self, types: &Types, memory: &mut Memory<'_>) -> Option<Table> {
        let mut member =
            |name: &str| memory.word(self.at.checked_add(types.offset("module", &["arch", name])?)?);
        let (count, addresses, entries) =
            (member("num_orcs")? & 0xffff_ffff, member("orc_unwind_ip")?, member("orc_unwind")?);
        Table::read(memory, addresses, entries, count)
    }
}

/// All of them.
pub(crate) fn modules(symbols: &Symbols, types: &Types, memory: &mut Memory<'_>) -> Vec<Module> {
    let Some((head, member)) = symbols.address("modules").zip(types.offset("module", &["list"])) else {
        return Vec::new();
    };
    let entries = list(memory, head, MODULES_MAX);
    entries.into_iter().filter_map(|entry| module(types, memory, entry.wrapping_sub(member))).collect()
}

fn module(types: &Types, memory: &mut Memory<'_>, at: u64) -> Option<Module> {
    let name = memory.text(at.checked_add(types.offset("module", &["name"])?)?, NAME_MAX)?;
    let mut part = |base: u64, size: u64| {
        let begin = memory.word(at.checked_add(base)?)?;
        Some(begin..begin.saturating_add(memory.half(at.checked_add(size)?)?.into()))
    };
    let code = match types.offset("module", &["mem"]) {
        // Since Linux 6.4 the parts of a module are an array.
        Some(first) => {
            let size = types.size("module_memory")?;
            let member = |name: &str| types.offset("module_memory", &[name]);
            let (base, length) = (member("base")?, member("size")?);
            [TEXT, INIT_TEXT].map(|kind| part(first + size * kind + base, first + size * kind + length))
        }
        None => {
            let member = |layout: &str, name: &str| types.offset("module", &[layout, name]);
            ["core_layout", "init_layout"]
                .map(|layout| part(member(layout, "base")?, member(layout, "size")?))
        }
    };
    let code = code.map(Option::unwrap_or_default);
    Some(Module { name, code, at, list: Mutex::default(), frames: OnceLock::new() })
}
