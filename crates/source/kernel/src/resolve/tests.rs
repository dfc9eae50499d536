use super::*;
use crate::arch::Arch;
use crate::modules::Presence;
use crate::store::Store;
use fixture::NEVER;
use fixture::{bz_image, package_root, write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

struct Place {
    directory: tempfile::TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { store: Store::new(directory.path().join("store")), directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn get(&self, name: &str) -> Result<Kernel, Error> {
        let locator: Locator = self.path(name).to_str().unwrap().parse().unwrap();
        let kernel =
            resolve(&locator, &mut Context { store: &self.store, listener: &mut |_| {}, interrupt: &NEVER })?;
        assert_eq!(kernel.locator, locator.to_string());
        Ok(kernel)
    }
}

#[test]
fn an_image_a_directory_and_a_link_are_one_kernel() {
    let place = Place::new();
    package_root(&place.path("root"), "6.1.0-2-amd64");
    symlink("boot/vmlinuz-6.1.0-2-amd64", place.path("root/vmlinuz")).unwrap();
    let names = ["root", "root/boot/vmlinuz-6.1.0-2-amd64", "root/vmlinuz"];
    let kernels = names.map(|name| place.get(name).unwrap());
    for kernel in &kernels {
        assert_eq!(kernel.identity("quiet"), kernels[0].identity("quiet"));
        assert_eq!(kernel.modules.presence("virtio_blk"), Presence::Loadable);
        assert_eq!(kernel.modules.presence("ext4"), Presence::BuiltIn);
        assert_eq!(kernel.release.as_deref(), Some("6.1.0-2-amd64"));
        assert_eq!(kernel.arch.to_string(), "x86_64");
    }
    assert!(kernels[0].provenance.starts_with("directory /"));
    assert!(kernels[1].provenance.starts_with("file /"));
}

#[test]
fn the_exact_locator_of_a_directory_names_the_same_kernel() {
    let place = Place::new();
    package_root(&place.path("root"), "6.1");
    let kernel = place.get("root").unwrap();
    let again = place.get(&kernel.exact_locator()).unwrap();
    assert_eq!(again.identity("quiet"), kernel.identity("quiet"));
    assert_eq!(again.exact_locator(), kernel.exact_locator());
}

#[test]
fn the_exact_locator_of_a_package_and_a_build_does_not_move() {
    let place = Place::new();
    package_root(&place.path("root"), "6.1.0-2-cloud-amd64");
    let kernel = place.get("root").unwrap();
    let named = |locator: &str| Kernel { locator: locator.to_owned(), ..kernel.clone() }.exact_locator();
    assert_eq!(named("deb:latest-cloud"), "deb:6.1.0-2-cloud-amd64");
    assert_eq!(named("built:0123456789ab"), "built:0123456789ab");
    assert_eq!(named("uml:deb"), "uml:deb");
    assert_eq!(named("host"), "host");
}

#[test]
fn identity_is_that_of_each_part() {
    let place = Place::new();
    package_root(&place.path("root"), "6.1");
    let identity = || place.get("root").unwrap().identity("quiet");
    let mut seen = vec![identity()];
    assert_eq!(seen[0].len(), 64);
    assert_eq!(identity(), seen[0]);
    seen.push(place.get("root").unwrap().identity("quiet nokaslr"));
    write(&place.path("root/boot/config-6.1"), "CONFIG_64BIT=y\nCONFIG_KASAN=y\n");
    seen.push(identity());
    write(&place.path("root/lib/modules/6.1/kernel/new.ko"), "x");
    seen.push(identity());
    write(&place.path("root/boot/vmlinuz-6.1"), bz_image("6.1 (someone) #2"));
    seen.push(identity());
    std::fs::remove_file(place.path("root/boot/config-6.1")).unwrap();
    seen.push(identity());
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

#[test]
fn a_build_tree() {
    let place = Place::new();
    write(&place.path("linux/arch/x86/boot/bzImage"), bz_image("6.13.0 (me) #7"));
    write(&place.path("linux/.config"), "CONFIG_XFS_FS=m\n");
    write(&place.path("linux/modules.order"), "fs/xfs/xfs.o\n");
    write(&place.path("linux/fs/xfs/xfs.ko"), fixture::elf_module(b"depends=\0"));
    for name in ["linux", "linux/arch/x86/boot/bzImage"] {
        let kernel = place.get(name).unwrap();
        assert_eq!(kernel.modules.closure(&["xfs"]).unwrap()[0].path, place.path("linux/fs/xfs/xfs.ko"));
        assert!(kernel.config.unwrap().is_enabled("XFS_FS"));
        assert_eq!(kernel.version_text.as_deref(), Some("6.13.0 (me) #7"));
    }
    assert!(place.get("linux").unwrap().provenance.starts_with("build tree /"));
}

#[test]
fn user_mode_linux_of_the_package() {
    let place = Place::new();
    let program = fixture::user_mode_linux(".uml.setup.init", "6.1.7 (me) #7");
    write(&place.path("root/usr/bin/linux.uml"), program);
    write(&place.path("root/usr/lib/uml/modules/6.1.7/modules.builtin"), "kernel/fs/ext4/ext4.ko\n");
    let config = crate::decompress::tests::gzip(b"CONFIG_UML=y\n");
    write(&place.path("root/usr/share/doc/user-mode-linux/config.gz"), config);
    for name in ["root", "root/usr/bin/linux.uml"] {
        let kernel = place.get(name).unwrap();
        assert_eq!((kernel.arch, kernel.release.as_deref()), (Arch::Um, Some("6.1.7")));
        assert_eq!(kernel.modules.presence("ext4"), Presence::BuiltIn);
        assert!(kernel.config.unwrap().is_enabled("UML"));
    }
}

#[test]
fn bad_paths_are_the_users_fault() {
    let place = Place::new();
    write(&place.path("text"), "hello\n");
    write(&place.path("short"), &bz_image("6.1")[..1500]);
    symlink("loop", place.path("loop")).unwrap();
    for (name, wanted) in [
        ("missing", "no such file or directory"),
        ("text/below", "no such file or directory"),
        ("text", "is a text file, not a kernel image"),
        ("short", "is a truncated kernel image, 548 bytes are missing"),
        ("loop", "cannot be read"),
        (".", "neither a built kernel tree nor an unpacked package"),
    ] {
        let error = place.get(name).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(wanted), "{text}");
        assert!(error.is_usage() && !text.contains('\n') && text.starts_with('/'), "{text}");
    }
}

#[test]
fn the_hosts_kernel() {
    let place = Place::new();
    let root = place.path("host");
    let get = || {
        from_host(
            &root,
            "6.1.0-2-amd64",
            &mut Context { store: &place.store, listener: &mut |_| {}, interrupt: &NEVER },
        )
    };
    let error = get().unwrap_err();
    assert!(error.to_string().starts_with("host: the running kernel 6.1.0-2-amd64 has no image at"));
    package_root(&root, "6.1.0-2-amd64");
    // Of several kernels in /boot only the one that runs counts.
    write(&root.join("boot/vmlinuz-6.2"), "x");
    let kernel = get().unwrap();
    assert_eq!((kernel.locator.as_str(), kernel.image), ("host", root.join("boot/vmlinuz-6.1.0-2-amd64")));
    assert_eq!(kernel.modules.presence("virtio"), Presence::Loadable);
    let image = root.join("lib/modules/6.1.0-2-amd64/vmlinuz");
    std::fs::rename(root.join("boot/vmlinuz-6.1.0-2-amd64"), &image).unwrap();
    assert_eq!(get().unwrap().image, image);
}
