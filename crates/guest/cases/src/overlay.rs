//! One directory over another: the overlay file system.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use harness::check::{Checked, equal, fails, holds};
use harness::storage::{mount, own_mounts};
use rustix::fs::{Mode, OFlags, XattrFlags, open, setxattr};
use rustix::io::Errno;
use rustix::mount::MountFlags;

use crate::case::{Case, Need};

const OVERLAY: &[Need] = &[Need::Filesystem("overlay")];

pub(super) const CASES: &[Case] = &[
    Case::new(
        "fs/overlay-copy-up",
        "overlay: a change goes to the upper layer; the lower one stays",
        copy_up,
    )
    .needs(OVERLAY)
    .setup(layers),
    Case::new("fs/overlay-whiteout", "overlay: a deletion leaves a whiteout above, nothing below", whiteout)
        .needs(OVERLAY)
        .setup(layers),
    Case::new(
        "fs/overlay-rename",
        "overlay: files can be renamed; directories of the lower layer: EXDEV",
        rename,
    )
    .needs(OVERLAY)
    .setup(layers),
    Case::new("fs/overlay-lower-only", "overlay: without an upper layer writing gives EROFS", lower_only)
        .needs(OVERLAY)
        .setup(layers),
];

/// A lower layer with a file and a directory; an empty upper one.
fn layers() -> Checked {
    own_mounts()?;
    for directory in ["lower/directory", "upper", "work"] {
        fs::create_dir_all(directory)?;
    }
    fs::write("lower/file", "below")?;
    fs::write("lower/directory/inner", "inside")?;
    setxattr("lower/file", "trusted.kiln", b"kept", XattrFlags::empty())?;
    Ok(())
}

fn overlay(options: &str) -> Result<(), Errno> {
    mount("none", "merged", "overlay", MountFlags::empty(), options)
}

/// Both layers, with directories that cannot be moved whatever the kernel's default is.
const BOTH: &str = "lowerdir=lower,upperdir=upper,workdir=work,redirect_dir=off";

fn copy_up() -> Checked {
    overlay(BOTH)?;
    equal("file before", fs::read_to_string("merged/file")?, "below")?;
    fails("upper layer before", fs::metadata("upper/file"), Errno::NOENT)?;
    rustix::io::write(open("merged/file", OFlags::WRONLY | OFlags::APPEND, Mode::empty())?, b" and above")?;
    for path in ["merged/file", "upper/file"] {
        equal(path, fs::read_to_string(path)?, "below and above")?;
    }
    equal("lower layer after", fs::read_to_string("lower/file")?, "below")?;
    let mut value = [0; 8];
    let size = rustix::fs::getxattr("upper/file", "trusted.kiln", &mut value)?;
    equal("extended attribute that was copied up", &value[..size], b"kept")?;
    fs::write("merged/directory/new", "new")?;
    equal("new file in the upper layer", fs::read_to_string("upper/directory/new")?, "new")?;
    equal("names in the lower directory", fs::read_dir("lower/directory")?.count(), 1)?;
    equal("names in the merged directory", fs::read_dir("merged/directory")?.count(), 2)
}

fn whiteout() -> Checked {
    overlay(BOTH)?;
    fs::remove_file("merged/file")?;
    fails("the deleted file", fs::read("merged/file"), Errno::NOENT)?;
    equal("lower layer", fs::read_to_string("lower/file")?, "below")?;
    let mark = fs::symlink_metadata("upper/file")?;
    holds("the whiteout is a character device", mark.file_type().is_char_device())?;
    equal("device of the whiteout", mark.rdev(), 0)?;
    holds("no name is left", names("merged")?.iter().all(|name| name != "file"))?;
    fails("remove a directory with files", fs::remove_dir("merged/directory"), Errno::NOTEMPTY)?;
    fs::remove_dir_all("merged/directory")?;
    fs::create_dir("merged/directory")?;
    equal("files in the new directory", names("merged/directory")?.len(), 0)?;
    equal("file in the old directory", fs::read_to_string("lower/directory/inner")?, "inside")
}

fn names(path: &str) -> Checked<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

fn rename() -> Checked {
    overlay(BOTH)?;
    fs::rename("merged/file", "merged/directory/moved")?;
    equal("file in its new place", fs::read_to_string("merged/directory/moved")?, "below")?;
    fails("file in its old place", fs::read("merged/file"), Errno::NOENT)?;
    equal("lower layer", fs::read_to_string("lower/file")?, "below")?;
    fails("rename a lower directory", fs::rename("merged/directory", "merged/other"), Errno::XDEV)?;
    fs::create_dir("merged/young")?;
    fs::rename("merged/young", "merged/renamed")?;
    holds("an upper directory can be renamed", fs::metadata("merged/renamed")?.is_dir())
}

fn lower_only() -> Checked {
    fs::create_dir("second")?;
    fs::write("second/file", "beside")?;
    overlay("lowerdir=second:lower")?;
    equal("file of the first layer", fs::read_to_string("merged/file")?, "beside")?;
    equal("file of the second layer", fs::read_to_string("merged/directory/inner")?, "inside")?;
    fails("write", fs::write("merged/file", ""), Errno::ROFS)?;
    fails("create", fs::create_dir("merged/new"), Errno::ROFS)?;
    fails("no layer at all", overlay(""), Errno::INVAL)?;
    fails("a layer that is missing", overlay("lowerdir=missing:lower"), Errno::NOENT)
}
