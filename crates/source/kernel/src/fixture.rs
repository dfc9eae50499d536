//! Small files of every kind, built in code for the tests.

use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The wish of a user who never wants to stop.
pub(crate) static NEVER: AtomicBool = AtomicBool::new(false);

/// The content of a `.modinfo` section.
pub(crate) fn modinfo(name: &str, depends: &[&str], softdeps: &[&str], aliases: &[&str]) -> Vec<u8> {
    let mut text = String::new();
    for soft in softdeps {
        text += &format!("softdep=pre: {soft}\0");
    }
    for alias in aliases {
        text += &format!("alias={alias}\0");
    }
    text += &format!("license=GPL\0depends={}\0name={name}\0", depends.join(","));
    text.into_bytes()
}

fn elf_header(purpose: u16) -> Vec<u8> {
    let mut elf = vec![0; 64];
    elf[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
    elf[16..18].copy_from_slice(&purpose.to_le_bytes());
    elf[18..20].copy_from_slice(&62u16.to_le_bytes());
    elf[20] = 1;
    elf
}

/// A relocatable ELF file with just a `.modinfo` section; the section table stands last, as in real modules.
pub(crate) fn elf_module(section: &[u8]) -> Vec<u8> {
    let mut elf = elf_header(1);
    elf.extend(section);
    with_section(elf, 64, ".modinfo")
}

/// The file with a section table at its end, in which what stands from `start` on is the section `name`.
fn with_section(mut elf: Vec<u8>, start: usize, name: &str) -> Vec<u8> {
    let names = format!("\0{name}\0.shstrtab\0");
    let end = elf.len();
    elf.extend(names.as_bytes());
    let table = elf.len() as u64;
    elf[0x28..0x30].copy_from_slice(&table.to_le_bytes());
    elf[0x3a..0x40].copy_from_slice(&[64, 0, 3, 0, 2, 0]);
    let mut header = |name: usize, offset: usize, size: usize| {
        let mut header = [0; 64];
        header[..4].copy_from_slice(&(name as u32).to_le_bytes());
        header[24..32].copy_from_slice(&(offset as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
        elf.extend(header);
    };
    header(0, 0, 0);
    header(1, start, end - start);
    header(2 + name.len(), end, names.len());
    elf
}

/// A program with this banner and a section called `section`; without a `.uml.` there it is no kernel.
pub(crate) fn user_mode_linux(section: &str, version: &str) -> Vec<u8> {
    let elf = vmlinux(0x6000_0000, format!("Linux version {version}\n\0").as_bytes(), b"");
    let end = elf.len();
    with_section(elf, end, section)
}

/// A note as linkers write it.
pub(crate) fn note(name: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
    let mut note = Vec::new();
    note.extend((name.len() as u32).to_le_bytes());
    note.extend((content.len() as u32).to_le_bytes());
    note.extend(kind.to_le_bytes());
    for part in [name, content] {
        note.extend(part);
        note.resize(note.len().next_multiple_of(4), 0);
    }
    note
}

/// An executable ELF file with one code segment at `address` and one of notes.
pub(crate) fn vmlinux(address: u64, code: &[u8], notes: &[u8]) -> Vec<u8> {
    let mut elf = elf_header(2);
    elf[0x20] = 64;
    elf[0x36..0x3a].copy_from_slice(&[56, 0, 2, 0]);
    let start = 64 + 2 * 56;
    for (kind, address, offset, size) in
        [(4, 0, start, notes.len()), (1, address, start + notes.len(), code.len())]
    {
        let mut header = [0; 56];
        header[..4].copy_from_slice(&u32::to_le_bytes(kind));
        header[8..16].copy_from_slice(&(offset as u64).to_le_bytes());
        header[16..24].copy_from_slice(&u64::to_le_bytes(address));
        header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
        elf.extend(header);
    }
    elf.extend(notes);
    elf.extend(code);
    elf
}

/// A bzImage of 2 KiB: one setup sector and a kilobyte of kernel.
pub(crate) fn bz_image(version: &str) -> Vec<u8> {
    let mut image = vec![0; 2048];
    image[0x1f1] = 1;
    image[0x1f4..0x1f8].copy_from_slice(&64u32.to_le_bytes());
    image[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x206..0x208].copy_from_slice(&0x020fu16.to_le_bytes());
    image[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
    image[0x236] = 1;
    image[0x300..0x300 + version.len()].copy_from_slice(version.as_bytes());
    image
}

/// Writes a file and the directories above it.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// A root directory with a kernel and its modules in it, as a package leaves it.
pub(crate) fn package_root(root: &Path, release: &str) {
    write(&root.join(format!("boot/vmlinuz-{release}")), bz_image(&format!("{release} (someone) #1")));
    write(&root.join(format!("boot/config-{release}")), "CONFIG_64BIT=y\nCONFIG_VIRTIO_BLK=m\n");
    let modules = root.join(format!("lib/modules/{release}"));
    let module = |name: &str, depends: &[&str]| elf_module(&modinfo(name, depends, &[], &[]));
    write(&modules.join("kernel/drivers/block/virtio_blk.ko"), module("virtio_blk", &["virtio"]));
    write(&modules.join("kernel/drivers/virtio/virtio.ko"), module("virtio", &[]));
    write(&modules.join("modules.builtin"), "kernel/fs/ext4/ext4.ko\n");
}
