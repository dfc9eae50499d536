//! Images that are no kernels: a boot sector's worth of real-mode code behind a kernel's header.

use std::path::{Path, PathBuf};

use super::Place;

const SECTOR: usize = 512;

/// Where the code stands, after the header of the boot protocol.
const CODE: usize = 0x280;

/// jmp to itself.
const STOP: &[u8] = &[0xeb, 0xfe];

/// lidt of a table without entries; int3.
const TRIPLE_FAULT: &[u8] = &[0x2e, 0x0f, 0x01, 0x1e, 0xf0, 0x01, 0xcc];

impl Place {
    /// An image that does nothing for ever.
    pub(crate) fn silent_image(&self) -> PathBuf {
        self.file("silent", image(STOP))
    }

    /// An image that says `hi` on the console and then nothing more.
    pub(crate) fn image_that_stops(&self) -> PathBuf {
        // mov $0x3f8, %dx; then for each letter: mov $letter, %al; out %al, %dx
        let letters = b"hi\n".iter().flat_map(|&letter| [0xb0, letter, 0xee]);
        let code: Vec<u8> =
            [0xba, 0xf8, 0x03].into_iter().chain(letters).chain(STOP.iter().copied()).collect();
        self.file("stops", image(&code))
    }

    /// An image that does nothing for ever, or resets the machine, beside the log of a kernel that panicked before it had
    /// a console.
    pub(crate) fn image_that_panicked(&self, does_reset: bool) -> PathBuf {
        let mut bytes = image(if does_reset { TRIPLE_FAULT } else { STOP });
        let mut at = 2 * SECTOR;
        for (number, text) in
            (7_u64..).zip(["Linux version 6.1.0-made-up", "Kernel panic - not syncing: made up"])
        {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            bytes[at + 8..at + 8 + text.len()].copy_from_slice(text.as_bytes());
            at = (at + 8 + text.len()).next_multiple_of(8);
        }
        self.file("panicked", bytes)
    }

    /// A folder with this image, as an installed kernel with these options beside those that each needs.
    pub(crate) fn installed(&self, image: &Path, options: &[&str]) -> PathBuf {
        let root = self.path().join("installed");
        std::fs::create_dir_all(root.join("boot")).expect("the folder is writable");
        std::fs::copy(image, root.join("boot/vmlinuz-6.1.0-made-up")).expect("there is an image");
        let needed = ["BLK_DEV_INITRD", "BINFMT_ELF", "DEVTMPFS", "SERIAL_8250"];
        let all = needed.iter().chain(options).map(|option| format!("CONFIG_{option}=y\n"));
        let config = root.join("boot/config-6.1.0-made-up");
        std::fs::write(config, all.collect::<String>()).expect("the folder is writable");
        root
    }

    /// An image that resets the machine.
    pub(crate) fn image_that_resets(&self) -> PathBuf {
        self.file("resets", image(TRIPLE_FAULT))
    }
}

/// The header of Documentation/arch/x86/boot.rst, as far as QEMU and kiln read it.
fn image(code: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 3 * SECTOR];
    let mut put = |at: usize, content: &[u8]| bytes[at..at + content.len()].copy_from_slice(content);
    put(0x1f1, &[1]); // sectors of set-up code
    put(0x1f4, &32u32.to_le_bytes()); // the rest, in units of 16 bytes
    put(0x1fe, &[0x55, 0xaa]);
    put(0x200, &[0xeb, (CODE - 0x202) as u8]); // jmp to the code
    put(0x202, b"HdrS");
    put(0x206, &0x020f_u16.to_le_bytes()); // version of the protocol
    put(0x211, &[1]); // loaded high
    put(0x22c, &0x7fff_ffff_u32.to_le_bytes()); // highest address of the initramfs
    put(0x236, &1u16.to_le_bytes()); // has a 64-bit entry
    put(0x238, &2047u32.to_le_bytes()); // longest command line
    put(CODE, code);
    bytes
}
