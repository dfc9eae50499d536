//! A tree that only looks like a kernel, and the builds of it, which take milliseconds.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use fixture::{NEVER, bz_image, write};
use kernel::store::Shelf;
use kernel::{Arch, Context, Kernel, Locator, News, Store};

use crate::{Error, Recipe, build};

const MAKEFILE: &str = "\
tinyconfig defconfig:
\t@echo 'CONFIG_64BIT=y' > $(O)/.config
olddefconfig:
\t@echo asked >> $(O)/asked
\t@sed -i /CONFIG_REFUSED/d $(O)/.config
prepare:
\t@:
all:
\t@echo all >> $(O)/tally
\t@echo '  CC      init/main.o'
\t@if grep -q broken init/main.c; then echo 'init/main.c:1:5: error: expected sense' >&2; exit 1; fi
\t@if grep -q full init/main.c; then echo 'cc1: fatal error: x.s: No space left on device' >&2; exit 1; fi
\t@while grep -q endless init/main.c; do sleep 0.01; done
\t@mkdir -p $(O)/arch/x86/boot
\t@cp init/image $(O)/arch/x86/boot/bzImage
\t@cp init/image $(O)/vmlinux
\t@echo map > $(O)/System.map
kernelrelease:
\t@echo 6.1.0-made-up
";

pub(crate) const KCONFIG: &str = "\
config 64BIT
\tdef_bool y

config WANTED
\tbool \"wanted\"

config REFUSED
\tbool \"refused\"
\tdepends on NOWHERE
";

/// A tree, and a store to build it into.
pub(crate) struct Place {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) store: Store,
}

impl Place {
    /// A checkout with one commit.
    pub(crate) fn new() -> Self {
        let place = Self::without_git();
        place.git(&["init", "--quiet", "--initial-branch=main"]);
        place.commit("first");
        place
    }

    pub(crate) fn without_git() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("store"));
        let place = Self { directory, store };
        write(&place.tree().join("Makefile"), MAKEFILE);
        write(&place.tree().join("Kconfig"), KCONFIG);
        write(&place.tree().join("arch/x86/Makefile"), "");
        write(&place.tree().join("init/main.c"), "int main;\n");
        write(&place.tree().join("init/image"), bz_image("6.1.0-made-up (someone) #1"));
        place
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.directory.path().join("linux")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
        let output =
            Command::new("git").args(identity).args(arguments).current_dir(self.tree()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn commit(&self, subject: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn change(&self, content: &str) {
        write(&self.tree().join("init/main.c"), content);
    }

    /// Directories of a shelf that builds come back to.
    pub(crate) fn directories(shelf: &Shelf) -> Vec<PathBuf> {
        shelf.names().map(|name| shelf.entry(&name)).filter(|path| path.is_dir()).collect()
    }

    /// How often make made everything.
    pub(crate) fn tally(&self) -> usize {
        self.lines("objects/tally")
    }

    /// How often Kconfig was asked for a configuration.
    pub(crate) fn asked(&self) -> usize {
        self.lines("objects/asked")
    }

    /// The lines of a file in all directories of builds.
    fn lines(&self, file: &str) -> usize {
        let works = Self::directories(&self.store.work());
        let texts = works.iter().filter_map(|work| fs::read_to_string(work.join(file)).ok());
        texts.map(|text| text.lines().count()).sum()
    }

    pub(crate) fn build(&self, locator: &str, configurations: &[&str]) -> Result<Kernel, Error> {
        self.build_until(locator, configurations, &NEVER, &mut |_| {})
    }

    /// The notes of a build.
    pub(crate) fn notes(&self, locator: &str, recipe: &Recipe) -> Vec<String> {
        let mut notes = Vec::new();
        let mut listener = |news: News<'_>| {
            if let News::Note(text) = news {
                notes.push(text.to_owned());
            }
        };
        let mut context = Context { store: &self.store, listener: &mut listener, interrupt: &NEVER };
        build(&self.locator(locator), recipe, &mut context).unwrap();
        notes
    }

    /// `TREE` in it is the tree.
    fn locator(&self, text: &str) -> Locator {
        text.replace("TREE", self.tree().to_str().unwrap()).parse().unwrap()
    }

    pub(crate) fn build_until(
        &self,
        locator: &str,
        configurations: &[&str],
        interrupt: &AtomicBool,
        listener: &mut dyn FnMut(News<'_>),
    ) -> Result<Kernel, Error> {
        build(
            &self.locator(locator),
            &recipe(configurations),
            &mut Context { store: &self.store, listener, interrupt },
        )
    }

    /// Entries of a shelf that whoever looks for a Kernel would see.
    pub(crate) fn kept(&self) -> usize {
        self.store.builds().names().count()
    }

    pub(crate) fn fragment(&self, text: &str) -> String {
        let path = self.directory.path().join("my.config");
        write(&path, text);
        path.display().to_string()
    }
}

/// These configurations, all of which must be granted.
pub(crate) fn recipe(configurations: &[&str]) -> Recipe {
    Recipe {
        configurations: configurations.iter().map(|&name| name.to_owned()).collect(),
        arch: Arch::X86_64,
        allow_unmet: false,
        variables: Vec::new(),
    }
}
