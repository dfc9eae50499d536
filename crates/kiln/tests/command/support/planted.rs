//! A kernel module of the package whose first instructions are replaced: a known fault in a stock kernel.

use object::LittleEndian as Little;
use object::elf::{FileHeader64, SHT_SYMTAB};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use std::path::PathBuf;

use super::{KERNEL, Place, UML, kernel_of};

/// A small module of a kernel that needs no other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Victim {
    kernel: &'static str,
    module: &'static str,
}

const IN_QEMU: Victim = Victim { kernel: KERNEL, module: "notifier_error_inject" };
pub(crate) const IN_UML: Victim = Victim { kernel: UML, module: "nls_cp437" };

/// Ends a module that is signed.
const SIGNATURE: &[u8] = b"~Module signature appended~\n";

/// The fault.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Returns with interrupts off, which `do_one_initcall` answers with a WARN.
    Warning,
    /// Writes to address zero.
    NullPointer,
    /// Spins with interrupts off.
    Spin,
    /// Spins.
    Loop,
    /// Takes an exception without a table of handlers.
    Reset,
}

impl Fault {
    fn code(self) -> &'static [u8] {
        match self {
            // cli; xor %eax, %eax; ret
            Self::Warning => &[0xfa, 0x31, 0xc0, 0xc3],
            // xor %eax, %eax; mov %rax, (%rax)
            Self::NullPointer => &[0x31, 0xc0, 0x48, 0x89, 0x00],
            // cli; jmp to itself
            Self::Spin => &[0xfa, 0xeb, 0xfe],
            // jmp to itself
            Self::Loop => &[0xeb, 0xfe],
            // push $0; push $0; lidt (%rsp); int3
            Self::Reset => &[0x6a, 0x00, 0x6a, 0x00, 0x0f, 0x01, 0x1c, 0x24, 0xcc],
        }
    }
}

impl Place {
    /// A program that does what `before` says and then loads a module with this fault.
    pub(crate) fn planted(&self, name: &str, fault: Fault, before: &str) -> PathBuf {
        self.planted_in(IN_QEMU, name, fault, before)
    }

    /// The same for another kernel.
    pub(crate) fn planted_in(&self, victim: Victim, name: &str, fault: Fault, before: &str) -> PathBuf {
        let module = self.file(&format!("{name}.ko"), module_with(victim, fault));
        let data = format!(
            "asm(\".section .rodata\\nimage: .incbin \\\"{}\\\"\\nimage_end: .byte 0\\n.text\");\n\
             extern const char image[], image_end[];\n",
            module.display()
        );
        let load = r#"
            puts("loading"); fflush(stdout);
            if (syscall(SYS_init_module, image, image_end - image, "")) { perror("init_module"); return 98; }
            puts("loaded");"#;
        self.compile(name, &format!("{before}{load}"), &data, &["-static"])
    }
}

/// The module with its first instructions replaced.
fn module_with(victim: Victim, fault: Fault) -> Vec<u8> {
    let modules = kernel_of(victim.kernel).modules.closure(&[victim.module]).expect("the package has it");
    let original = modules.last().expect("itself").read().expect("it can be read");
    let mut bytes = original.clone();
    let header = FileHeader64::<Little>::parse(&*original).expect("an ELF file");
    let sections = header.sections(Little, &*original).expect("sections");
    let symbols = sections.symbols(Little, &*original, SHT_SYMTAB).expect("symbols");
    let init = symbols
        .iter()
        .find(|symbol| symbols.symbol_name(Little, symbol).is_ok_and(|name| name == b"init_module"))
        .expect("a module has it");
    let (section, entry) = (usize::from(init.st_shndx(Little).0), init.st_value(Little));
    let text = sections.section(object::SectionIndex(section)).expect("of the symbol");
    let at = usize::try_from(text.sh_offset(Little) + entry).expect("within the file");
    bytes[at..at + fault.code().len()].copy_from_slice(fault.code());
    // What the loader would write into the new instructions.
    let end = entry + fault.code().len() as u64;
    for table in sections.iter().filter(|table| table.info_link(Little).0 == section) {
        let Ok(Some((entries, _))) = table.rela(Little, &*original) else { continue };
        let start = usize::try_from(table.sh_offset(Little)).expect("within the file");
        for (index, _) in entries.iter().enumerate().filter(|(_, rela)| {
            let offset = rela.r_offset.get(Little);
            offset + 4 > entry && offset < end
        }) {
            // The second word of an entry is its kind; zero means none.
            let info = start + index * size_of_val(&entries[0]) + 8;
            bytes[info..info + 8].fill(0);
        }
    }
    // Without its magic the signature is none, which taints a kernel that does not insist on one.
    bytes.truncate(bytes.strip_suffix(SIGNATURE).map_or(bytes.len(), <[u8]>::len));
    bytes
}
