//! All files of a Kernel, so that it can be handed on: elsewhere, in the same arrangement, it is the same Kernel.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::kernel::Kernel;
use crate::modules::survey::{LISTS, Layout, Survey};
use crate::tree::{self, Parts};

/// Where a built tree says its release.
const RELEASE: &str = "include/config/kernel.release";

/// The files of a Kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct Belongings {
    /// The image, which names the Kernel, by its path below the folder that is handed on.
    pub image: PathBuf,
    /// All files, the image too: their paths below that folder, and where they are.
    pub files: Vec<(PathBuf, PathBuf)>,
}

impl Kernel {
    /// What must be handed on with its image: configuration, symbols and modules.
    ///
    /// # Errors
    ///
    /// When its folders cannot be read.
    pub fn belongings(&self) -> Result<Belongings, Error> {
        let image = self.image.canonicalize().map_err(Error::io("find", &self.image))?;
        of_parts(&tree::around_image(&image, self.release.as_deref()))
    }
}

fn of_parts(parts: &Parts) -> Result<Belongings, Error> {
    let Parts { image, config, system_map, modules, .. } = parts;
    let beside = [config, system_map].into_iter().flatten().cloned();
    let mut files: Vec<PathBuf> = std::iter::once(image.clone()).chain(beside).collect();
    let folders = files.iter().filter_map(|file| file.parent());
    let base =
        common(folders.chain(modules.as_ref().map(|(root, _)| root.as_path())).chain(tree::above(image)));
    if let Some((root, layout)) = modules {
        let lists = LISTS.iter().chain((*layout == Layout::Built).then_some(&RELEASE));
        files.extend(lists.map(|name| root.join(name)).filter(|path| path.is_file()));
        files.extend(Survey::make(root, *layout)?.files.iter().map(|file| root.join(&file.relative)));
    }
    let below = |path: &Path| path.strip_prefix(&base).unwrap_or(path).to_owned();
    Ok(Belongings {
        image: below(image),
        files: files.into_iter().map(|path| (below(&path), path)).collect(),
    })
}

/// The folder that all of these are below.
fn common<'a>(mut folders: impl Iterator<Item = &'a Path>) -> PathBuf {
    let first = folders.next().map(Path::to_owned).unwrap_or_default();
    folders.fold(first, |common, folder| {
        let mut above = common.ancestors();
        above.find(|above| folder.starts_with(above)).map(Path::to_owned).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::resolve::resolve;
    use crate::store::Store;
    use fixture::{bz_image, user_mode_linux, write};

    /// The Kernel of this image.
    fn kernel(image: &Path, store: &Store) -> Kernel {
        let never = std::sync::atomic::AtomicBool::new(false);
        let mut context = Context { store, listener: &mut |_| {}, interrupt: &never };
        resolve(&image.display().to_string().parse().unwrap(), &mut context).unwrap()
    }

    /// Hands on the Kernel of an image to another place, where it must be the same; gives the paths of its files.
    fn handed_on(image: &Path) -> Vec<String> {
        let elsewhere = tempfile::tempdir().unwrap();
        let store = Store::new(elsewhere.path().join("store"));
        let kernel_here = kernel(image, &store);
        let Belongings { image, files } = kernel_here.belongings().unwrap();
        let place = elsewhere.path().join("place");
        for (path, file) in &files {
            write(&place.join(path), std::fs::read(file).unwrap());
        }
        let kernel_there = kernel(&place.join(image), &store);
        assert_eq!(kernel_there.identity(""), kernel_here.identity(""));
        assert_eq!(kernel_there.release, kernel_here.release);
        let mut paths: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
        paths.sort();
        paths
    }

    #[test]
    fn an_installed_kernel_keeps_its_modules_and_configuration() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        write(&at("boot/vmlinuz-6.1.0"), bz_image("6.1.0 (me) #7"));
        write(&at("boot/vmlinuz-6.2.0"), "another kernel");
        write(&at("boot/config-6.1.0"), "CONFIG_64BIT=y\n");
        write(&at("lib/modules/6.1.0/kernel/a.ko"), "a");
        write(&at("lib/modules/6.1.0/modules.builtin"), "kernel/b.ko\n");
        write(&at("lib/modules/6.1.0/build/notes"), "no part of it");
        let expected = [
            "boot/config-6.1.0",
            "boot/vmlinuz-6.1.0",
            "lib/modules/6.1.0/kernel/a.ko",
            "lib/modules/6.1.0/modules.builtin",
        ];
        assert_eq!(handed_on(&at("boot/vmlinuz-6.1.0")), expected);
    }

    #[test]
    fn a_tree_keeps_what_make_has_listed() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        write(&at(".config"), "CONFIG_64BIT=y\n");
        write(&at("include/config/kernel.release"), "6.13.0-rc1\n");
        write(&at("arch/x86/boot/bzImage"), bz_image("6.13.0-rc1 (me) #7"));
        write(&at("modules.order"), "fs/a.o\n");
        write(&at("fs/a.ko"), "a");
        write(&at("fs/a.c"), "no part of it");
        let expected =
            [".config", "arch/x86/boot/bzImage", "fs/a.ko", "include/config/kernel.release", "modules.order"];
        assert_eq!(handed_on(&at("arch/x86/boot/bzImage")), expected);
    }

    #[test]
    fn user_mode_linux_is_recognised_by_the_folder_that_it_is_in() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        write(&at("usr/bin/linux.uml"), user_mode_linux(".uml.setup.init", "6.1.176"));
        write(&at("usr/lib/uml/modules/6.1.176/kernel/a.ko"), "a");
        write(&at("usr/share/doc/user-mode-linux/config.gz"), "CONFIG_UML=y\n");
        let expected = [
            "usr/bin/linux.uml",
            "usr/lib/uml/modules/6.1.176/kernel/a.ko",
            "usr/share/doc/user-mode-linux/config.gz",
        ];
        assert_eq!(handed_on(&at("usr/bin/linux.uml")), expected);
    }

    #[test]
    fn an_image_alone_has_no_other_files() {
        let root = tempfile::tempdir().unwrap();
        write(&root.path().join("deep/bzImage"), bz_image("6.1.0 (me) #7"));
        assert_eq!(handed_on(&root.path().join("deep/bzImage")), ["bzImage"]);
    }
}
