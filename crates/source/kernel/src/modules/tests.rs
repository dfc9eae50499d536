use super::*;
use crate::decompress::tests::{gzip, xz, zstd};
use crate::modules::survey::{Layout, Survey};
use fixture::{elf_module, modinfo, write};
use std::path::Path;

fn load(root: &Path) -> Modules {
    let survey = Survey::make(root, Layout::Installed).unwrap();
    Modules::new(survey.root.clone(), Index::build(&survey).unwrap())
}

fn names(modules: &Modules, wanted: &[&str]) -> Vec<String> {
    modules.closure(wanted).unwrap().into_iter().map(|module| module.name).collect()
}

/// btrfs-like: needs by hard and soft dependencies, aliases, and compressed files.
fn made_up_tree(root: &Path) {
    let module = |name: &str, depends: &[&str], soft: &[&str], aliases: &[&str]| {
        elf_module(&modinfo(name, depends, soft, aliases))
    };
    let kernel = root.join("kernel");
    write(
        &kernel.join("fs/btrfs.ko.zst"),
        zstd(&module("btrfs", &["zstd-compress", "xor"], &["crypto-crc32c", "sha256"], &["fs-btrfs"])),
    );
    write(&kernel.join("lib/zstd_compress.ko.xz"), xz(&module("zstd_compress", &[], &[], &[])));
    write(&kernel.join("lib/xor.ko.gz"), gzip(&module("xor", &[], &["nowhere"], &[])));
    write(
        &kernel.join("crypto/crc32c-intel.ko"),
        module("crc32c_intel", &[], &[], &["crypto-crc32c", "crc32c"]),
    );
    write(
        &kernel.join("crypto/crc32c_generic.ko"),
        module("crc32c_generic", &[], &[], &["crypto-crc32c", "crc32c"]),
    );
    write(&kernel.join("broken.ko"), "not a module");
    write(&root.join("modules.builtin"), "kernel/fs/ext4/ext4.ko\nkernel/crypto/sha256_generic.ko\n");
    write(&root.join("modules.builtin.modinfo"), "sha256_generic.alias=sha256\0ext4.alias=fs-ext4\0");
}

#[test]
fn a_made_up_tree() {
    let directory = tempfile::tempdir().unwrap();
    made_up_tree(directory.path());
    let modules = load(directory.path());
    assert_eq!(names(&modules, &["btrfs"]), ["zstd_compress", "xor", "crc32c_generic", "btrfs"]);
    assert_eq!(names(&modules, &["fs-btrfs", "ext4", "crc32c-intel"]).last().unwrap(), "crc32c_intel");
    for module in modules.closure(&["btrfs"]).unwrap() {
        assert!(module.read().unwrap().starts_with(b"\x7fELF"), "{}", module.path.display());
    }
    for (name, presence) in [
        ("ext4", Presence::BuiltIn),
        ("fs-ext4", Presence::BuiltIn),
        ("sha256", Presence::BuiltIn),
        ("zstd-compress", Presence::Loadable),
        ("crc32c", Presence::Loadable),
        ("xfs", Presence::Absent),
    ] {
        assert_eq!(modules.presence(name), presence, "{name}");
    }
}

#[test]
fn a_damaged_module_harms_only_who_asks_for_it() {
    let directory = tempfile::tempdir().unwrap();
    made_up_tree(directory.path());
    let error = load(directory.path()).closure(&["broken"]).unwrap_err();
    assert!(error.to_string().contains("broken.ko: not a usable module (not an ELF file"), "{error}");
}

#[test]
fn what_depmod_wrote_is_believed() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for name in ["a", "b", "c", "d-e"] {
        write(&root.join(format!("kernel/{name}.ko")), format!("content of {name}"));
    }
    write(&root.join("updates/a.ko"), "a newer a");
    write(
        &root.join("modules.dep"),
        "updates/a.ko: kernel/b.ko kernel/d-e.ko\nkernel/b.ko:\nkernel/d-e.ko:\n\
        kernel/c.ko: kernel/gone.ko\n/etc/passwd.ko:\n../x.ko:\n",
    );
    write(&root.join("modules.softdep"), "softdep b pre: other\n");
    write(&root.join("modules.alias"), "alias other d_e\nalias x gone\n");
    let modules = load(root);
    assert_eq!(names(&modules, &["a"]), ["d_e", "b", "a"]);
    assert!(modules.closure(&["a"]).unwrap()[2].path.ends_with("updates/a.ko"));
    assert!(
        matches!(modules.closure(&["c"]), Err(Error::MissingDependency { needs, .. }) if needs == "gone")
    );
    assert_eq!(modules.presence("passwd"), Presence::Unknown, "no list of what is built in");
}

#[test]
fn of_a_lone_image_nothing_is_known() {
    let modules = Modules::unknown();
    assert_eq!(modules.presence("ext4"), Presence::Unknown);
    assert!(modules.closure(&[]).unwrap().is_empty());
    assert!(matches!(modules.closure(&["ext4"]), Err(Error::ModulesUnknown { .. })));
}

#[test]
fn the_hash_is_that_of_names_and_contents() {
    let hash = |files: &[(&str, &str)]| {
        let directory = tempfile::tempdir().unwrap();
        for (path, content) in files {
            write(&directory.path().join(path), content);
        }
        load(directory.path()).hash().to_owned()
    };
    let one = hash(&[("kernel/a.ko", "a"), ("kernel/b.ko", "b")]);
    assert_eq!(one, hash(&[("kernel/b.ko", "b"), ("kernel/a.ko", "a"), ("modules.order", "x")]));
    assert_ne!(one, hash(&[("kernel/a.ko", "b"), ("kernel/b.ko", "a")]));
    assert_ne!(one, hash(&[("kernel/a.ko", "a")]));
}
