//! Images, built trees and unpacked packages: what belongs to what on a disk.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::files;
use crate::image::{self, Image, ImageError};
use crate::modules::survey::Layout;

/// Where make puts the image of 64-bit x86, the program that is User-Mode Linux, and the unpacked kernel.
pub(crate) const BZ_IMAGE: &str = "arch/x86/boot/bzImage";
const UML: &str = "linux";
const VMLINUX: &str = "vmlinux";

/// Where Debian's package has User-Mode Linux.
const UML_PROGRAM: &str = "usr/bin/linux.uml";
const UML_MODULES: &str = "lib/uml/modules";

/// An image with the files that belong to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) image: PathBuf,
    pub(crate) config: Option<PathBuf>,
    pub(crate) system_map: Option<PathBuf>,
    pub(crate) modules: Option<(PathBuf, Layout)>,
    pub(crate) release: Option<String>,
}

/// An image that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inspected {
    pub(crate) image: Image,
    pub(crate) hash: String,
    pub(crate) size: u64,
}

/// Reads an image and recognises it.
pub(crate) fn inspect(path: &Path) -> Result<Inspected, Error> {
    let refused = |reason| Error::Image { path: path.to_owned(), reason };
    // Opening a pipe would wait for a writer.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(refused(ImageError::NotAFile));
    }
    let content = files::read(path, files::IMAGE)?;
    let image = image::recognise(&content).map_err(refused)?;
    Ok(Inspected { image, hash: files::hash(&content), size: content.len() as u64 })
}

/// What belongs to a directory that the user named.
pub(crate) fn in_directory(directory: &Path) -> Result<Parts, Error> {
    let path = || directory.to_owned();
    fs::read_dir(directory).map_err(|source| Error::Unreadable { path: path(), source })?;
    if let Some(parts) = built_tree(directory) {
        return Ok(parts);
    }
    if let Some(parts) = installed_root(directory)?.or_else(|| unpacked_uml(directory)) {
        return Ok(parts);
    }
    let is_source =
        ["Kconfig", "Makefile", "kernel", "arch"].iter().all(|name| directory.join(name).exists());
    match is_source || directory.join(".config").exists() {
        true => Err(Error::NotBuilt { path: path() }),
        false => Err(Error::NotATree { path: path() }),
    }
}

/// What belongs to an image that the user named; `path` is free of links.
pub(crate) fn around_image(path: &Path, release: Option<&str>) -> Parts {
    let tree = match path.ends_with(BZ_IMAGE) {
        true => path.ancestors().nth(4),
        false if [VMLINUX, UML].iter().any(|name| path.ends_with(name)) => path.parent(),
        false => None,
    };
    if let Some(tree) = tree.filter(|tree| tree.join(".config").is_file()) {
        return of_tree(path.to_owned(), tree);
    }
    let (Some(directory), Some(release)) = (path.parent(), release) else {
        return Parts { image: path.to_owned(), ..Parts::default() };
    };
    let above = directory.parent().unwrap_or(directory);
    match path.ends_with(UML_PROGRAM) {
        true => of_uml_package(path, above, release),
        false => of_release(path, directory, above, release),
    }
}

/// The image of a tree in which make has run; also where the build goes to a directory of its own.
fn built_tree(directory: &Path) -> Option<Parts> {
    let in_tree = |name: &str| Some(directory.join(name)).filter(|path| path.is_file());
    let is_configured = directory.join(".config").is_file();
    let image = in_tree(BZ_IMAGE)
        .or_else(|| [UML, VMLINUX].iter().find_map(|name| in_tree(name)).filter(|_| is_configured))?;
    Some(of_tree(image, directory))
}

/// Whether an image lies where make puts it in a tree.
pub(crate) fn is_made_in(image: &Path, tree: &Path) -> bool {
    [BZ_IMAGE, UML, VMLINUX].iter().any(|name| image == tree.join(name))
}

fn of_tree(image: PathBuf, tree: &Path) -> Parts {
    let limit = files::Limit { what: "a kernel release", bytes: 4096 };
    let release = files::read_text(&tree.join("include/config/kernel.release"), limit).ok().flatten();
    let release = release.map(|text| text.trim().to_owned()).filter(|text| image::is_release(text));
    // The image is made after the map. One that was left from an earlier make has other addresses.
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    let system_map = real_map(tree.join("System.map")).filter(|map| changed(map) <= changed(&image));
    Parts {
        image,
        config: Some(tree.join(".config")).filter(|path| path.is_file()),
        system_map,
        modules: Some((tree.to_owned(), Layout::Built)),
        release,
    }
}

/// The kernel of an unpacked package or an installed system, if there is one.
pub(crate) fn installed_root(root: &Path) -> Result<Option<Parts>, Error> {
    let boot = root.join("boot");
    let mut releases: Vec<String> = match fs::read_dir(&boot) {
        Ok(entries) => entries.flatten().filter_map(|entry| release_of(&entry.path())).collect(),
        Err(_) => return Ok(None),
    };
    releases.sort();
    match releases.as_slice() {
        [] => Ok(None),
        [release] => {
            let image = boot.join(format!("vmlinuz-{release}"));
            Ok(Some(of_release(&image, &boot, root, release)))
        }
        several => {
            let names: Vec<String> = several.iter().map(|release| format!("vmlinuz-{release}")).collect();
            Err(Error::SeveralKernels { path: boot, names: names.join(", ") })
        }
    }
}

/// User-Mode Linux out of Debian's package, which has modules of one release.
pub(crate) fn unpacked_uml(root: &Path) -> Option<Parts> {
    let image = Some(root.join(UML_PROGRAM)).filter(|path| path.is_file())?;
    let names = fs::read_dir(root.join("usr").join(UML_MODULES)).into_iter().flatten().flatten();
    let mut releases = names.filter_map(|entry| entry.file_name().into_string().ok());
    let release = releases.find(|name| image::is_release(name)).unwrap_or_default();
    Some(of_uml_package(&image, &root.join("usr"), &release))
}

/// The folder by which an image is recognised as that of a package, if its own name does not say it.
pub(crate) fn above(image: &Path) -> Option<&Path> {
    let depth = Path::new(UML_PROGRAM).components().count();
    image.ancestors().nth(depth).filter(|_| image.ends_with(UML_PROGRAM))
}

/// What belongs to User-Mode Linux in Debian's package below `usr`.
fn of_uml_package(image: &Path, usr: &Path, release: &str) -> Parts {
    let modules = usr.join(UML_MODULES).join(release);
    Parts {
        image: image.to_owned(),
        config: Some(usr.join("share/doc/user-mode-linux/config.gz")).filter(|path| path.is_file()),
        system_map: None,
        modules: Some(modules).filter(|path| path.is_dir()).map(|path| (path, Layout::Installed)),
        release: Some(release.to_owned()).filter(|release| !release.is_empty()),
    }
}

fn release_of(path: &Path) -> Option<String> {
    let release = path.file_name()?.to_str()?.strip_prefix("vmlinuz-")?;
    (files::is_plain_file(path) && image::is_release(release)).then(|| release.to_owned())
}

/// What stands beside an image under the name of its release.
fn of_release(image: &Path, boot: &Path, root: &Path, release: &str) -> Parts {
    let modules = ["lib/modules", "usr/lib/modules"].map(|place| root.join(place).join(release));
    Parts {
        image: image.to_owned(),
        config: Some(boot.join(format!("config-{release}"))).filter(|path| path.is_file()),
        system_map: real_map(boot.join(format!("System.map-{release}"))),
        modules: modules.into_iter().find(|path| path.is_dir()).map(|path| (path, Layout::Installed)),
        release: Some(release.to_owned()),
    }
}

/// Debian ships a file of one line in place of the map, which says where the real one is.
fn real_map(path: PathBuf) -> Option<PathBuf> {
    const SMALLEST: u64 = 4096;
    path.metadata().is_ok_and(|found| found.is_file() && found.len() >= SMALLEST).then_some(path)
}

#[cfg(test)]
mod tests;
