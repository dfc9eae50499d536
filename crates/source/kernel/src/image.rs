//! What a file is, by its content: an image that can be booted here, in QEMU or as User-Mode Linux, or why not.

use object::LittleEndian as Little;
use object::elf::{NoteType, PT_LOAD, ProgramHeader64};
use object::read::elf::ProgramHeader;

use crate::arch::Arch;
use crate::bytes::{piece, u16_at, u32_at, until_nul};
use crate::elf::{Elf, OutOfFile, Purpose, machine_name};

mod error;

pub use error::ImageError;

/// `XEN_ELFNOTE_PHYS32_ENTRY` of include/xen/interface/elfnote.h: the only way into a vmlinux that QEMU takes.
const PHYS32_ENTRY: NoteType = NoteType(18);

/// What an image says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// `6.1.0-56-cloud-amd64 (debian-kernel@…) #1 SMP …`
    pub version: Option<String>,
    /// What it runs on.
    pub arch: Arch,
}

impl Image {
    /// The kernel release, if it can safely be a part of a path: it was written by whoever made the image.
    pub fn release(&self) -> Option<String> {
        let word = self.version.as_deref()?.split_whitespace().next()?;
        is_release(word).then(|| word.to_owned())
    }
}

/// Whether a text is a kernel release and not a trick on paths.
pub fn is_release(text: &str) -> bool {
    let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b".-+~_".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_digit()) && text.len() <= 128 && text.bytes().all(harmless)
}

/// Recognises a bootable image for 64-bit x86.
///
/// # Errors
///
/// What the bytes are instead.
pub fn recognise(bytes: &[u8]) -> Result<Image, ImageError> {
    if bytes.is_empty() {
        return Err(ImageError::Empty);
    }
    if piece(bytes, 0x202, 4) == Some(b"HdrS") && u16_at(bytes, 0x1fe) == Some(0xaa55) {
        return bz_image(bytes);
    }
    if let Some(elf) = Elf::parse(bytes) {
        return vmlinux(bytes, elf);
    }
    Err(other_architecture(bytes).or_else(|| known_other(bytes)).unwrap_or(ImageError::Unknown))
}

fn bz_image(bytes: &[u8]) -> Result<Image, ImageError> {
    // Zero means four, for the boot loaders of 1995.
    let setup_sectors = match bytes[0x1f1] {
        0 => 4,
        sectors => u64::from(sectors),
    };
    let protected_size = u64::from(u32_at(bytes, 0x1f4).unwrap_or(0)) * 16;
    check_length(bytes, (setup_sectors + 1) * 512 + protected_size)?;
    let protocol = u16_at(bytes, 0x206).unwrap_or(0);
    let [minor, major] = protocol.to_le_bytes();
    if protocol < 0x020c {
        return Err(ImageError::OldProtocol { major, minor });
    }
    const HAS_64_BIT_ENTRY: u16 = 1;
    if u16_at(bytes, 0x236).unwrap_or(0) & HAS_64_BIT_ENTRY == 0 {
        return Err(ImageError::OtherArchitecture("32-bit x86, i386".into()));
    }
    let version = match u16_at(bytes, 0x20e) {
        None | Some(0) => None,
        Some(at) => until_nul(bytes, u64::from(at) + 0x200, 1024).and_then(printable),
    };
    Ok(Image { version, arch: Arch::X86_64 })
}

fn vmlinux(bytes: &[u8], elf: Elf<'_>) -> Result<Image, ImageError> {
    if !elf.is_x86_64() {
        return Err(ImageError::OtherArchitecture(machine_name(elf.machine())));
    }
    match elf.purpose() {
        Purpose::Executable => {}
        Purpose::Relocatable => return Err(ImageError::Other("an object file or a module")),
        Purpose::Shared => return Err(ImageError::Other("a program or a shared library")),
        Purpose::Core => return Err(ImageError::Other("a core dump")),
        Purpose::Other => return Err(ImageError::Other("an ELF file")),
    }
    check_length(bytes, elf.end_of_segment_table().unwrap_or(64))?;
    let segments = elf.segments().ok_or(ImageError::Unknown)?;
    const KERNEL_TEXT: u64 = 0xffff_ffff_8000_0000;
    let is_text = |segment: &ProgramHeader64<Little>| {
        segment.p_type(Little) == PT_LOAD && segment.p_vaddr(Little) >= KERNEL_TEXT
    };
    if !segments.iter().any(is_text) {
        return user_mode_linux(bytes, elf);
    }
    let end =
        |segment: &ProgramHeader64<Little>| segment.p_offset(Little).saturating_add(segment.p_filesz(Little));
    check_length(bytes, segments.iter().map(end).max().unwrap_or(0))?;
    if !elf.has_note(b"Xen", PHYS32_ENTRY) {
        return Err(ImageError::NoPvhEntry);
    }
    Ok(Image { version: banner(bytes), arch: Arch::X86_64 })
}

/// User-Mode Linux is linked like any program. Only sections for its own command line and its own end,
/// named by arch/um/include/shared/init.h, tell it from others.
fn user_mode_linux(bytes: &[u8], elf: Elf<'_>) -> Result<Image, ImageError> {
    let version = banner(bytes);
    match elf.has_section_like(".uml.") {
        Ok(true) => Ok(Image { version, arch: Arch::Um }),
        // The names of sections stand at the end of the file.
        Err(OutOfFile) if version.is_some() => check_length(bytes, elf.end_of_section_table().unwrap_or(0))
            .and(Err(ImageError::Other("a program"))),
        Ok(false) | Err(OutOfFile) => Err(ImageError::Other("a program")),
    }
}

fn check_length(bytes: &[u8], wanted: u64) -> Result<(), ImageError> {
    match wanted.saturating_sub(bytes.len() as u64) {
        0 => Ok(()),
        missing => Err(ImageError::Truncated { missing }),
    }
}

/// The text of `/proc/version` in an image without a header to hold it. Since Linux 6.1 a first one that
/// lacks number and date of the build may come before it.
fn banner(bytes: &[u8]) -> Option<String> {
    const START: &[u8] = b"Linux version ";
    let mut unfinished = None;
    let mut from = 0;
    while let Some(found) = bytes[from..].iter().position(|byte| *byte == START[0]) {
        let at = from + found;
        let rest = &bytes[at..];
        if rest.starts_with(START) && rest.get(START.len()).is_some_and(u8::is_ascii_digit) {
            let text = until_nul(rest, START.len() as u64, 1024)?;
            let text = text.split(|byte| *byte == b'\n').next().and_then(printable)?;
            if !text.ends_with('#') {
                return Some(text);
            }
            unfinished.get_or_insert(text);
        }
        from = at + 1;
    }
    unfinished
}

/// The text, without whatever could disturb a terminal.
fn printable(bytes: &[u8]) -> Option<String> {
    let text: String = bytes.iter().filter(|byte| (b' '..=b'~').contains(byte)).map(|b| *b as char).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn other_architecture(bytes: &[u8]) -> Option<ImageError> {
    let name = if piece(bytes, 0x38, 4) == Some(b"ARM\x64") {
        "arm64 Image"
    } else if piece(bytes, 0x30, 5) == Some(b"RISCV") {
        "RISC-V Image"
    } else if bytes.starts_with(b"MZ") && piece(bytes, 4, 4) == Some(b"zimg") {
        "EFI zboot image of arm64, RISC-V or LoongArch"
    } else if piece(bytes, 0x24, 4) == Some(&[0x18, 0x28, 0x6f, 0x01]) {
        "ARM zImage"
    } else {
        return None;
    };
    Some(ImageError::OtherArchitecture(name.into()))
}

fn known_other(bytes: &[u8]) -> Option<ImageError> {
    const COMPRESSED: [(&[u8], &str); 8] = [
        (b"\x1f\x8b", "gzip"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (b"\x02\x21\x4c\x18", "lz4"),
        (b"BZh", "bzip2"),
        (b"\x5d\0\0", "lzma"),
        (b"\x89LZO", "lzo"),
    ];
    const OTHERS: [(&[u8], &str); 4] = [
        (b"!<arch>\ndebian-binary", "a Debian package (unpack it with dpkg-deb -x)"),
        (b"\xed\xab\xee\xdb", "an RPM package"),
        (b"\x27\x05\x19\x56", "a U-Boot image"),
        (b"070701", "an initramfs"),
    ];
    let compressed = COMPRESSED.iter().find(|(magic, _)| bytes.starts_with(magic));
    let other = || OTHERS.iter().find(|(magic, _)| bytes.starts_with(magic));
    compressed
        .map(|(_, name)| ImageError::Compressed(name))
        .or_else(|| other().map(|(_, name)| ImageError::Other(name)))
        .or_else(|| is_text(bytes).then_some(ImageError::Text))
}

fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // The cut at 4096 may go through a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or("\0")
        }
        Err(_) => return false,
    };
    text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t' | '\x0c' | '\x1b'))
}

#[cfg(test)]
mod tests;
