//! Roots for several tests.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use machine::program::Program;

use super::Place;

/// A root of packages: it is made once.
pub(crate) const DEBIAN: &str = "debian:iproute2";

/// A root directory with nothing in it but a shell.
pub(crate) fn with_busybox(place: &Place) -> PathBuf {
    let root = place.path().join("root");
    let busybox = Program::find("busybox").expect("scripts/setup installs it");
    fs::create_dir_all(root.join("usr/bin")).expect("writable");
    fs::copy(busybox, root.join("usr/bin/busybox")).expect("writable");
    symlink("busybox", root.join("usr/bin/sh")).expect("writable");
    symlink("usr/bin", root.join("bin")).expect("writable");
    root
}

/// The same with links by which it would lead whoever uses it astray.
pub(crate) fn hostile(place: &Place) -> PathBuf {
    let root = with_busybox(place);
    for (link, target) in [
        ("tmp", "/proc"),
        ("run", "../../../../kiln"),
        ("usr/local", "/loop"),
        ("loop", "loop"),
        ("etc", "/dev"),
    ] {
        symlink(target, root.join(link)).expect("writable");
    }
    root
}
