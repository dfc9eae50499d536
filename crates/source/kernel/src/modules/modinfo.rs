//! The `.modinfo` section of a module: what it needs and by which names it is called.

use crate::elf::Elf;

/// What a module says about itself, as far as loading it is concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModInfo {
    /// Modules without which the kernel refuses this one.
    pub depends: Vec<String>,
    /// Modules that should be there before it (`softdep=pre: …`).
    pub softdeps: Vec<String>,
    /// Other names for it, without patterns for hardware.
    pub aliases: Vec<String>,
}

/// Why a file is not a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAModule {
    /// Something else.
    #[error("not an ELF file for 64-bit x86")]
    NotElf,
    /// The end is missing.
    #[error("truncated")]
    Truncated,
    /// An object file of another kind.
    #[error("no .modinfo section")]
    NoModInfo,
}

/// Reads a decompressed module.
///
/// # Errors
///
/// When the file is no whole module.
pub fn parse(bytes: &[u8]) -> Result<ModInfo, NotAModule> {
    let elf = Elf::parse(bytes).filter(Elf::is_x86_64).ok_or(NotAModule::NotElf)?;
    let section = elf.section(".modinfo").map_err(|_| NotAModule::Truncated)?;
    Ok(entries(section.ok_or(NotAModule::NoModInfo)?))
}

fn entries(section: &[u8]) -> ModInfo {
    let mut info = ModInfo::default();
    for entry in section.split(|byte| *byte == 0) {
        let Some((key, value)) = std::str::from_utf8(entry).ok().and_then(|text| text.split_once('=')) else {
            continue;
        };
        match key {
            "depends" => info.depends.extend(value.split(',').filter(|name| is_name(name)).map(normal)),
            "softdep" => info.softdeps.extend(softdeps_before(value)),
            "alias" if is_name(value) => info.aliases.push(normal(value)),
            _ => {}
        }
    }
    info
}

/// The modules of `pre: a b post: c` that come before.
pub fn softdeps_before(value: &str) -> Vec<String> {
    let mut before = false;
    let mut names = Vec::new();
    for word in value.split_ascii_whitespace() {
        match word {
            "pre:" => before = true,
            "post:" => before = false,
            name if before && is_name(name) => names.push(normal(name)),
            _ => {}
        }
    }
    names
}

/// The form in which names are compared: the kernel takes `-` and `_` for the same.
pub fn normal(name: &str) -> String {
    name.replace('-', "_")
}

/// Whether a text can be a module's name or a plain alias of it; patterns such as `pci:v*` are not.
pub fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+()".contains(&byte);
    !text.is_empty() && text.len() <= 128 && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixture::{elf_module, modinfo};
    use proptest::prelude::*;

    #[test]
    fn reads_what_a_module_says() {
        let section = b"softdep=pre: blake2b-256 sha256 post: late\0softdep=pre: crypto-crc32c\0license=GPL\0\
            alias=fs-btrfs\0alias=pci:v00001AF4d*sv*\0\0depends=zstd-compress,xor,\0name=btrfs\0rubbish\0\xff=\xff";
        let info = parse(&elf_module(section)).unwrap();
        assert_eq!(info.depends, ["zstd_compress", "xor"]);
        assert_eq!(info.softdeps, ["blake2b_256", "sha256", "crypto_crc32c"]);
        assert_eq!(info.aliases, ["fs_btrfs"]);
    }

    #[test]
    fn says_why_a_file_is_no_module() {
        let module = elf_module(&modinfo("a", &["b"], &[], &[]));
        assert_eq!(parse(b"\x7fELF"), Err(NotAModule::NotElf));
        assert_eq!(parse(b""), Err(NotAModule::NotElf));
        assert_eq!(parse(&module[..module.len() - 1]), Err(NotAModule::Truncated));
        let mut other = module.clone();
        other[18] = 183;
        assert_eq!(parse(&other), Err(NotAModule::NotElf));
        let at = module.windows(8).position(|window| window == b".modinfo").unwrap();
        let mut nameless = module;
        nameless[at] = b'x';
        assert_eq!(parse(&nameless), Err(NotAModule::NoModInfo));
    }

    #[test]
    fn a_huge_section_count_in_the_first_header_is_harmless() {
        let mut module = elf_module(b"");
        module[0x3c..0x3e].fill(0);
        let table = usize::try_from(u64::from_le_bytes(module[0x28..0x30].try_into().unwrap())).unwrap();
        module[table + 32..table + 40].fill(0xff);
        assert_eq!(parse(&module), Err(NotAModule::Truncated));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(mut bytes: Vec<u8>) {
            let _ = parse(&bytes);
            bytes.splice(0..0, *b"\x7fELF\x02\x01");
            let _ = parse(&bytes);
        }

        #[test]
        fn mutated_modules_never_panic(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
            cut: prop::sample::Index,
        ) {
            let mut module = elf_module(&modinfo("a", &["b", "c"], &["d"], &["e"]));
            for (at, byte) in changes {
                let at = at.index(module.len());
                module[at] = byte;
            }
            let _ = parse(&module);
            let _ = parse(&module[..cut.index(module.len())]);
        }

        #[test]
        fn header_fields_of_any_value_never_panic(table: u64, count: u16, names: u16, offset: u64, size: u64) {
            let mut module = elf_module(&modinfo("a", &["b"], &[], &[]));
            let at = usize::try_from(u64::from_le_bytes(module[0x28..0x30].try_into().unwrap())).unwrap();
            module[at + 64 + 24..at + 64 + 32].copy_from_slice(&offset.to_le_bytes());
            module[at + 64 + 32..at + 64 + 40].copy_from_slice(&size.to_le_bytes());
            let _ = parse(&module);
            module[0x3c..0x3e].copy_from_slice(&count.to_le_bytes());
            module[0x3e..0x40].copy_from_slice(&names.to_le_bytes());
            let _ = parse(&module);
            module[0x28..0x30].copy_from_slice(&table.to_le_bytes());
            let _ = parse(&module);
        }

        #[test]
        fn dependencies_survive_the_way_through_elf(names in proptest::collection::vec("[a-z_]{1,12}", 0..8)) {
            let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
            let info = parse(&elf_module(&modinfo("a", &wanted, &wanted, &[]))).unwrap();
            prop_assert_eq!(&info.depends, &names);
            prop_assert_eq!(&info.softdeps, &names);
        }
    }
}
