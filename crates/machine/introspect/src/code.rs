//! The code of a kernel with its modules: what functions are called, and who called them.

use std::ops::Range;

use crate::btf::Types;
use crate::image::Image;
use crate::kallsyms::Symbols;
use crate::memory::Memory;
use crate::modules::{Module, modules};
use crate::orc::{Caller, Layout, Place, Table};

/// The most bytes of types that are read.
const TYPES_MAX: u64 = 64 << 20;

/// What a machine does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// No kernel is mapped where kernels are.
    #[error("no kernel is mapped")]
    Image,
    /// Its image has no list of symbols.
    #[error("the kernel has no list of all its symbols (CONFIG_KALLSYMS_ALL)")]
    Symbols,
    /// It does not say where its structures have their members.
    #[error("the kernel has no types (CONFIG_DEBUG_INFO_BTF)")]
    Types,
    /// Its types are not those of a kernel.
    #[error("the kernel's types lack {0}")]
    Member(&'static str),
}

/// The code.
pub(crate) struct Code {
    pub(crate) symbols: Symbols,
    pub(crate) types: Types,
    modules: Vec<Module>,
    frames: Option<(Layout, Table)>,
    /// Where the kernel's own code is.
    text: Range<u64>,
}

impl Code {
    /// That of the kernel which is mapped.
    pub(crate) fn read(memory: &mut Memory<'_>) -> Result<Self, Missing> {
        let image = Image::read(memory).ok_or(Missing::Image)?;
        let symbols = Symbols::find(&image).ok_or(Missing::Symbols)?;
        let types = types(&symbols, &image).ok_or(Missing::Types)?;
        let frames = Layout::of(&types).zip(frames(&symbols, memory));
        let modules = modules(&symbols, &types, memory);
        let address = |name: &str| symbols.address(name).unwrap_or(0);
        let text = address("_stext")..address("_etext");
        Ok(Self { symbols, types, modules, frames, text })
    }

    /// One with nothing but these types.
    #[cfg(test)]
    pub(crate) fn of_types(types: Types) -> Self {
        Self { symbols: Symbols::default(), types, modules: Vec::new(), frames: None, text: 0..0 }
    }

    /// Whether an address is in code.
    pub(crate) fn has(&self, address: u64) -> bool {
        self.text.contains(&address) || self.modules.iter().any(|module| module.has(address))
    }

    /// What is at an address of the code, as the kernel prints it: `schedule+0x5e/0xd0`, `ext4_readdir+0x17/0x1a0 [ext4]`.
    pub(crate) fn name(&self, memory: &mut Memory<'_>, address: u64) -> Option<String> {
        let place = |function: &Range<u64>, name: &str| {
            format!(
                "{name}+{:#x}/{:#x}",
                address - function.start,
                function.end.saturating_sub(function.start)
            )
        };
        if self.text.contains(&address) {
            return self.symbols.function(address).map(|(function, name)| place(&function, name));
        }
        let module = self.modules.iter().find(|module| module.has(address))?;
        let found = module.function(&self.types, memory, address);
        let place = found.map_or(format!("{address:#x}"), |(function, name)| place(&function, &name));
        Some(format!("{place} [{}]", module.name))
    }

    /// Who called from a place.
    pub(crate) fn caller(&self, memory: &mut Memory<'_>, place: Place) -> Caller {
        let Some((layout, kernel)) = self.frames.as_ref().filter(|_| self.has(place.ip)) else {
            return Caller::Unknown;
        };
        let module = self.modules.iter().find(|module| module.has(place.ip));
        let frames = module.map_or(kernel, |module| module.frames(&self.types, memory));
        match frames.caller(layout, memory, place) {
            Caller::Found(caller) if !self.has(caller.ip) => Caller::Unknown,
            caller => caller,
        }
    }
}

/// The types, which are in the image.
fn types(symbols: &Symbols, image: &Image) -> Option<Types> {
    let (begin, end) = (symbols.address("__start_BTF")?, symbols.address("__stop_BTF")?);
    let length = end.checked_sub(begin).filter(|length| *length <= TYPES_MAX)?;
    Types::read(image.at(begin, usize::try_from(length).ok()?)?.to_vec())
}

/// How callers are found in the kernel's own code.
fn frames(symbols: &Symbols, memory: &mut Memory<'_>) -> Option<Table> {
    let (begin, end) = (symbols.address("__start_orc_unwind_ip")?, symbols.address("__stop_orc_unwind_ip")?);
    Table::read(memory, begin, symbols.address("__start_orc_unwind")?, end.checked_sub(begin)? / 4)
}
