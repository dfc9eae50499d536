use super::*;
use fixture::{bz_image, note, user_mode_linux, vmlinux};
use proptest::prelude::*;

const TEXT: u64 = 0xffff_ffff_8100_0000;

fn pvh() -> Vec<u8> {
    [note(b"GNU\0", 3, b"id"), note(b"Xen\0", 18, &[0; 8])].concat()
}

#[test]
fn bz_image_with_its_version() {
    let image = recognise(&bz_image("6.1.0-56 (me@here) #1 SMP\x1b[31m")).unwrap();
    assert_eq!(image.version.as_deref(), Some("6.1.0-56 (me@here) #1 SMP[31m"));
    assert_eq!(image.release().as_deref(), Some("6.1.0-56"));
}

#[test]
fn a_release_is_never_a_trick_on_paths() {
    for trick in ["../../etc x", "6.1/../../x", "/6.1", "x6", "6.1\u{e9}"] {
        assert_eq!(Image { version: Some(trick.into()), arch: Arch::X86_64 }.release(), None, "{trick}");
    }
}

#[test]
fn truncated_bz_image_says_how_much_is_missing() {
    let image = bz_image("6.1");
    assert_eq!(recognise(&image[..2000]), Err(ImageError::Truncated { missing: 48 }));
    assert_eq!(recognise(&image[..0x206]), Err(ImageError::Truncated { missing: 2048 - 0x206 }));
    let mut four_sectors = image;
    four_sectors[0x1f1] = 0;
    assert_eq!(recognise(&four_sectors), Err(ImageError::Truncated { missing: 5 * 512 + 1024 - 2048 }));
}

#[test]
fn old_and_32_bit_bz_images_are_refused() {
    let mut image = bz_image("6.1");
    image[0x236] = 2;
    assert!(matches!(recognise(&image), Err(ImageError::OtherArchitecture(name)) if name.contains("i386")));
    image[0x206] = 0x0b;
    assert_eq!(recognise(&image), Err(ImageError::OldProtocol { major: 2, minor: 11 }));
}

#[test]
fn a_version_beyond_the_end_is_no_version() {
    let mut image = bz_image("6.1");
    image[0x20e..0x210].fill(0xff);
    assert_eq!(recognise(&image).unwrap().version, None);
}

#[test]
fn vmlinux_with_pvh_and_its_banner() {
    let code = b"Linux version %s\0Linux version 6.12.1 (me) #2\n\0";
    let image = recognise(&vmlinux(TEXT, code, &pvh())).unwrap();
    assert_eq!(image.version.as_deref(), Some("6.12.1 (me) #2"));
    assert_eq!(recognise(&vmlinux(TEXT, b"", &note(b"Xen\0", 6, b""))), Err(ImageError::NoPvhEntry));
    assert_eq!(recognise(&vmlinux(TEXT, b"", &note(b"GNU\0", 18, b""))), Err(ImageError::NoPvhEntry));
}

#[test]
fn a_banner_without_the_number_of_the_build_is_a_last_resort() {
    let banner = |code: &[u8]| recognise(&vmlinux(TEXT, code, &pvh())).unwrap().version;
    let both = b"Linux version 6.1.7 (me) # \n\0Linux version 6.1.7 (me) #3\n\0";
    assert_eq!(banner(both).as_deref(), Some("6.1.7 (me) #3"));
    assert_eq!(banner(b"Linux version 6.1.7 (me) # \n\0").as_deref(), Some("6.1.7 (me) #"));
}

#[test]
fn user_mode_linux_is_told_from_other_programs_by_its_sections() {
    let whole = user_mode_linux(".uml.setup.init", "6.1.7 (me) #3");
    let image = recognise(&whole).unwrap();
    assert_eq!((image.arch, image.version.as_deref()), (Arch::Um, Some("6.1.7 (me) #3")));
    assert_eq!(recognise(&vmlinux(TEXT, b"", &pvh())).unwrap().arch, Arch::X86_64);
    assert_eq!(recognise(&user_mode_linux(".text", "6.1.7")), Err(ImageError::Other("a program")));
    assert_eq!(recognise(&whole[..whole.len() - 9]), Err(ImageError::Truncated { missing: 9 }));
}

#[test]
fn truncated_vmlinux() {
    let whole = vmlinux(TEXT, &[7; 1000], &pvh());
    assert_eq!(recognise(&whole[..whole.len() - 10]), Err(ImageError::Truncated { missing: 10 }));
    assert_eq!(recognise(&whole[..100]), Err(ImageError::Truncated { missing: 76 }));
    assert!(matches!(recognise(&whole[..30]), Err(ImageError::Truncated { .. })));
}

#[test]
fn other_elf_files_are_not_kernels() {
    let whole = vmlinux(TEXT, b"", &pvh());
    let with = |at: usize, byte: u8| {
        let mut elf = whole.clone();
        elf[at] = byte;
        recognise(&elf).unwrap_err().to_string()
    };
    assert!(with(16, 1).contains("object file or a module"));
    assert!(with(16, 3).contains("program or a shared library"));
    assert!(with(16, 4).contains("core dump"));
    assert!(with(18, 183).contains("another architecture (arm64)"));
    assert!(with(18, 3).contains("(i386)"));
    assert!(with(18, 99).contains("ELF machine 99"));
    assert_eq!(recognise(&vmlinux(0x40_0000, b"", &pvh())), Err(ImageError::Other("a program")));
}

#[test]
fn images_of_other_architectures() {
    let with = |at: usize, magic: &[u8]| {
        let mut bytes = vec![0; 256];
        bytes[..2].copy_from_slice(b"MZ");
        bytes[at..at + magic.len()].copy_from_slice(magic);
        recognise(&bytes).unwrap_err()
    };
    for (at, magic, name) in
        [(0x38, &b"ARM\x64"[..], "arm64"), (0x30, b"RISCV", "RISC-V"), (4, b"zimg", "zboot")]
    {
        assert!(
            matches!(with(at, magic), ImageError::OtherArchitecture(text) if text.contains(name)),
            "{name}"
        );
    }
    assert_eq!(with(100, b"nothing"), ImageError::Unknown);
}

#[test]
fn files_that_people_take_for_kernels() {
    for (bytes, name) in [
        (&b"\x1f\x8b\x08\0"[..], "gzip"),
        (b"\xfd7zXZ\0\0", "xz"),
        (b"\x28\xb5\x2f\xfd\0", "zstd"),
        (b"\x04\x22\x4d\x18\0", "lz4"),
    ] {
        assert_eq!(recognise(bytes), Err(ImageError::Compressed(name)));
    }
    assert_eq!(recognise(b""), Err(ImageError::Empty));
    assert_eq!(recognise("Größe\n".as_bytes()), Err(ImageError::Text));
    let long = "ä".repeat(3000);
    assert_eq!(recognise(&long.as_bytes()[..4097]), Err(ImageError::Text));
    assert_eq!(recognise(&[0; 4096]), Err(ImageError::Unknown));
    assert!(recognise(b"!<arch>\ndebian-binary  ").unwrap_err().to_string().contains("dpkg-deb -x"));
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes: Vec<u8>) {
        let _ = recognise(&bytes);
    }

    #[test]
    fn mutated_images_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut: prop::sample::Index,
    ) {
        let uml = user_mode_linux(".uml.setup.init", "6.1 x");
        for mut image in [bz_image("6.1 x"), vmlinux(TEXT, b"Linux version 6", &pvh()), uml] {
            for (at, byte) in &changes {
                let at = at.index(image.len());
                image[at] = *byte;
            }
            let _ = recognise(&image);
            let _ = recognise(&image[..cut.index(image.len())]);
        }
    }

    #[test]
    fn notes_of_any_content_end(bytes: Vec<u8>) {
        let _ = recognise(&vmlinux(TEXT, b"Linux version 6", &bytes));
    }

    #[test]
    fn every_cut_of_an_image_is_seen(length in 0x206usize..2048) {
        let missing = 2048 - length as u64;
        prop_assert_eq!(recognise(&bz_image("6.1")[..length]), Err(ImageError::Truncated { missing }));
    }
}
