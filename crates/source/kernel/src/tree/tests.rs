use super::*;
use fixture::{bz_image, package_root, user_mode_linux, write};

/// A tree in which make has run.
fn built(root: &Path) {
    write(&root.join(".config"), "CONFIG_64BIT=y\n");
    write(&root.join("include/config/kernel.release"), "6.13.0-rc1\n");
    write(&root.join("System.map"), vec![b'x'; 5000]);
    write(&root.join("arch/x86/boot/bzImage"), bz_image("6.13.0-rc1 (me) #7"));
    write(&root.join("modules.order"), "");
}

#[test]
fn a_map_that_is_newer_than_the_image_is_of_another_build() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    built(root);
    let image = std::fs::metadata(root.join("arch/x86/boot/bzImage")).unwrap().modified().unwrap();
    let map = std::fs::File::options().write(true).open(root.join("System.map")).unwrap();
    map.set_modified(image + std::time::Duration::from_secs(1)).unwrap();
    assert_eq!(in_directory(root).unwrap().system_map, None);
}

#[test]
fn a_built_tree_and_its_image_have_the_same_parts() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    built(root);
    let parts = in_directory(root).unwrap();
    assert_eq!(parts.image, root.join("arch/x86/boot/bzImage"));
    assert_eq!(parts.config, Some(root.join(".config")));
    assert_eq!(parts.system_map, Some(root.join("System.map")));
    assert_eq!(parts.modules, Some((root.to_owned(), Layout::Built)));
    assert_eq!(parts.release.as_deref(), Some("6.13.0-rc1"));
    assert_eq!(around_image(&parts.image, Some("other")), parts);
}

#[test]
fn a_vmlinux_stands_in_for_the_image() {
    let directory = tempfile::tempdir().unwrap();
    write(&directory.path().join("vmlinux"), "x");
    assert!(matches!(in_directory(directory.path()), Err(Error::NotATree { .. })));
    write(&directory.path().join(".config"), "");
    assert_eq!(in_directory(directory.path()).unwrap().image, directory.path().join("vmlinux"));
}

#[test]
fn an_unpacked_package() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    package_root(root, "6.1.0-2-amd64");
    write(&root.join("boot/System.map-6.1.0-2-amd64"), "ffffffffffffffff B The real System.map is elsewhere");
    let parts = in_directory(root).unwrap();
    assert_eq!(parts.modules, Some((root.join("lib/modules/6.1.0-2-amd64"), Layout::Installed)));
    assert_eq!(parts.config, Some(root.join("boot/config-6.1.0-2-amd64")));
    assert_eq!(parts.system_map, None, "Debian's placeholder is no map");
    assert_eq!(around_image(&parts.image, Some("6.1.0-2-amd64")), parts);
    write(&root.join("boot/vmlinuz-6.2"), "x");
    let error = in_directory(root).unwrap_err();
    assert!(error.to_string().contains("vmlinuz-6.1.0-2-amd64, vmlinuz-6.2"), "{error}");
}

#[test]
fn user_mode_linux_in_its_tree() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(&root.join("linux"), user_mode_linux(".uml.setup.init", "6.1.7"));
    assert!(matches!(in_directory(root), Err(Error::NotATree { .. })));
    write(&root.join(".config"), "CONFIG_UML=y\n");
    write(&root.join("vmlinux"), "x");
    let parts = in_directory(root).unwrap();
    assert_eq!(parts.image, root.join("linux"));
    assert_eq!(parts.config, Some(root.join(".config")));
    assert_eq!(parts.modules, Some((root.to_owned(), Layout::Built)));
    assert_eq!(around_image(&parts.image, Some("6.1.7")), parts);
    assert!(is_made_in(&parts.image, root));
}

#[test]
fn user_mode_linux_as_debian_packs_it() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    write(&root.join("usr/bin/linux.uml"), user_mode_linux(".uml.setup.init", "6.1.7"));
    let modules = root.join("usr/lib/uml/modules/6.1.7");
    write(&modules.join("modules.builtin"), "");
    write(&root.join("usr/share/doc/user-mode-linux/config.gz"), "");
    let parts = in_directory(root).unwrap();
    assert_eq!(parts.image, root.join("usr/bin/linux.uml"));
    assert_eq!(parts.modules, Some((modules, Layout::Installed)));
    assert_eq!(parts.config, Some(root.join("usr/share/doc/user-mode-linux/config.gz")));
    assert_eq!(around_image(&parts.image, Some("6.1.7")), parts);
}

#[test]
fn modules_may_stand_below_usr() {
    let directory = tempfile::tempdir().unwrap();
    write(&directory.path().join("boot/vmlinuz-6.1"), "x");
    let modules = directory.path().join("usr/lib/modules/6.1");
    write(&modules.join("modules.builtin"), "");
    assert_eq!(in_directory(directory.path()).unwrap().modules, Some((modules, Layout::Installed)));
}

#[test]
fn directories_without_a_kernel() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(in_directory(directory.path()), Err(Error::NotATree { .. })));
    for name in ["Kconfig", "Makefile", "kernel/x", "arch/x"] {
        write(&directory.path().join(name), "");
    }
    let error = in_directory(directory.path()).unwrap_err();
    assert!(
        error.to_string().ends_with("is a kernel source tree without a built kernel: run make in it, or let kiln build it with --config boot")
    );
    assert!(error.is_usage());
}

#[test]
fn a_lone_image_has_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bzImage");
    write(&path, bz_image("6.1"));
    let parts = around_image(&path, Some("6.1"));
    assert_eq!((&parts.config, &parts.modules), (&None, &None));
    assert_eq!(around_image(&path, None).image, path);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for path in [pipe.as_path(), Path::new("/dev/zero")] {
        assert!(matches!(inspect(path), Err(Error::Image { reason: ImageError::NotAFile, .. })));
    }
}
