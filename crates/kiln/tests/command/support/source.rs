//! git repositories of trees that only look like a kernel, so that a build takes a moment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use kbuild::{Recipe, source_tree};

use super::{Call, Place, SOURCE, cache, with_store};

/// A build fails as long as a file below `kernel` or `fs` has the word `broken` in it, and in another way for `ruined`. Each line
/// of `fs/main.c` with the word `odd` is a warning.
const MAKEFILE: &str = "\
defconfig:
\t@echo 'CONFIG_64BIT=y' > $(O)/.config
olddefconfig prepare:
\t@:
%.o:
\t@grep -n odd $*.c | sed 's|^\\([0-9]*\\):.*|$*.c:\\1:1: warning: odd [-Wodd]|' >&2
all: fs/main.o
\t@echo '  CC      fs/main.o'
\t@if grep -rq ruined kernel fs; then echo 'fs/main.c:2:1: error: no such type' >&2; exit 1; fi
\t@if grep -rq broken kernel fs; then echo 'kernel/main.c:1:5: error: expected sense' >&2; exit 1; fi
\t@mkdir -p $(O)/arch/x86/boot
\t@cp image $(O)/arch/x86/boot/bzImage
\t@cp image $(O)/vmlinux
\t@echo map > $(O)/System.map
kernelrelease:
\t@echo 6.1.0-made-up
";

/// Where a cost is planted.
const FUNCTION: &str = "SYSCALL_DEFINE0(getppid)\n{\n\tint pid;\n\n";

/// A load of the counter and 500 turns of two instructions.
const COST: &str =
    "\tasm volatile(\"mov $500, %%ecx\\n1:\\tdec %%ecx\\n\\tjnz 1b\" : : : \"ecx\", \"cc\");\n";

/// What costs nothing but a warning.
const UNUSED: &str = "\tint unused;\n";

/// Instructions of the cost.
pub(crate) const INSTRUCTIONS: f64 = 1001.0;

/// What a pipe without readers gives.
const RIGHT: &str = "SIGPIPE, current, 0);\n\t\tret = -EPIPE;";

/// A repository with one commit, on a branch `main`.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) first: String,
    cache: PathBuf,
    config: &'static str,
}

/// All files with their dates and content. Objects have no date: git touches those that somebody else would have
/// written, too, so that they are not thrown away.
pub(crate) type Listing = BTreeMap<PathBuf, (Option<std::time::SystemTime>, Vec<u8>)>;

impl Place {
    pub(crate) fn source(&self) -> Source {
        let path = self.path().join("linux");
        let cache = self.path().join("cache");
        let mut source = Source { path, first: String::new(), cache, config: "defconfig" };
        let image = std::fs::read(self.silent_image()).expect("just written");
        source.write("image", image);
        source.write("Makefile", MAKEFILE);
        source.write("Kconfig", "config 64BIT\n\tdef_bool y\n");
        for name in ["arch/x86/Makefile", "init/main.c", "kernel/main.c", "fs/main.c"] {
            source.write(name, "int main;\n");
        }
        source.begin();
        source
    }

    /// [`SOURCE`] as a repository, built as small as can be and with what all tests have built.
    pub(crate) fn debian_source(&self) -> Source {
        let mut source = self.debian_tree(SOURCE, kernel::Arch::X86_64);
        source.begin();
        source
    }

    /// A copy of Debian's source, without git.
    pub(crate) fn debian_tree(&self, locator: &str, arch: kernel::Arch) -> Source {
        let config = "tiny";
        let recipe =
            Recipe { configurations: vec![config.into()], arch, allow_unmet: false, variables: Vec::new() };
        let locator = locator.parse().expect("a locator");
        let original =
            with_store(|context| source_tree(&locator, &recipe, context)).expect("apt has the source");
        let path = self.path().join("linux");
        let copied = Command::new("cp").arg("-a").arg(&original.path).arg(&path).status();
        assert!(copied.expect("cp is there").success());
        Source { path, first: String::new(), cache: cache(), config }
    }
}

impl Source {
    /// Makes what is built a kernel that boots: that of a package.
    pub(crate) fn boots(&mut self) {
        let kernel = super::kernel();
        self.write("image", std::fs::read(&kernel.image).expect("it is there"));
        let config = kernel.config.expect("a package has it");
        let lines = config.options().map(|(name, value)| format!("CONFIG_{name}={value}\n"));
        self.write("config", lines.collect::<String>());
        self.changes("Makefile", "@echo 'CONFIG_64BIT=y' > $(O)/.config", "@cp config $(O)/.config");
        self.first = self.commit("boots");
    }

    fn begin(&mut self) {
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        // Some of what the tree needs would be ignored.
        self.git(&["add", "--all", "--force"]);
        self.first = self.commit("first");
    }

    /// Puts one text in the place of another.
    pub(crate) fn changes(&self, name: &str, old: &str, new: &str) {
        let text = std::fs::read_to_string(self.path.join(name)).expect("the tree has it");
        assert!(text.contains(old), "no {old:?} in {name}");
        self.write(name, text.replacen(old, new, 1));
    }

    /// The same as a commit.
    pub(crate) fn replaces(&self, name: &str, old: &str, new: &str) -> String {
        self.changes(name, old, new);
        self.commit(&format!("change {name}"))
    }

    /// Commits a system call of [`SOURCE`] that costs [`INSTRUCTIONS`] more.
    pub(crate) fn makes_getppid_dearer(&self) -> String {
        self.replaces("kernel/sys.c", FUNCTION, &[FUNCTION, COST].concat())
    }

    /// Commits the same without the cost.
    pub(crate) fn makes_getppid_cheap(&self) -> String {
        self.replaces("kernel/sys.c", &[FUNCTION, COST].concat(), FUNCTION)
    }

    /// Commits a variable that nobody uses, about which the compiler warns.
    pub(crate) fn warns(&self) -> String {
        self.replaces("kernel/sys.c", FUNCTION, &[FUNCTION, UNUSED].concat())
    }

    /// Commits the same without it.
    pub(crate) fn warns_no_more(&self) -> String {
        self.replaces("kernel/sys.c", &[FUNCTION, UNUSED].concat(), FUNCTION)
    }

    /// Commits a wrong error, which fails `pipe/broken`.
    pub(crate) fn breaks_pipes(&self) -> String {
        self.replaces("fs/pipe.c", RIGHT, &RIGHT.replace("EPIPE", "EIO"))
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().expect("it is below the tree")).expect("writable");
        std::fs::write(path, content).expect("writable");
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=A. Developer", "-c", "user.email=dev@example.org"])
            .args(arguments)
            .current_dir(&self.path)
            .output()
            .expect("git is there");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_string()
    }

    /// Commits whatever has changed.
    pub(crate) fn commit(&self, subject: &str) -> String {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--message", subject]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits a new file.
    pub(crate) fn adds(&self, name: &str, content: &str) -> String {
        self.write(name, content);
        self.commit(&format!("add {name}"))
    }

    /// Commits `count` files below `directory`, with nothing wrong in them.
    pub(crate) fn grows(&self, directory: &str, count: usize) {
        let start = self.git(&["rev-list", "--count", "--all"]).parse::<usize>().expect("a number");
        for number in start..start + count {
            self.adds(&format!("{directory}/{number}.c"), &format!("int number_{number};\n"));
        }
    }

    /// The work tree and what git keeps of it.
    pub(crate) fn listing(&self) -> Listing {
        let mut all = Listing::new();
        list(&self.path, &mut all);
        all
    }

    /// Fails if a file was added, removed, written or changed since then.
    #[track_caller]
    pub(crate) fn is_still(&self, before: &Listing) {
        let now = self.listing();
        let all = before.keys().chain(now.keys());
        let changed: Vec<_> = all.filter(|path| before.get(*path) != now.get(*path)).collect();
        assert!(changed.is_empty(), "{changed:?}");
    }

    /// `kiln bisect git:TREE@range` with more arguments, and a cache of its own.
    pub(crate) fn bisect(&self, place: &Place, range: &str, more: &[&str]) -> Call {
        let range = format!("git:{}@{range}", self.path.display());
        let call = place.kiln([&["bisect", &range, "--config", self.config], more].concat());
        call.env("XDG_CACHE_HOME", &self.cache)
    }
}

fn list(directory: &Path, all: &mut Listing) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        let facts = entry.metadata().expect("it is there");
        if facts.is_dir() {
            list(&path, all);
        } else {
            let content = std::fs::read(&path).expect("readable");
            let is_object = path.components().any(|part| part.as_os_str() == "objects");
            let date = (!is_object).then(|| facts.modified().expect("Linux knows it"));
            all.insert(path, (date, content));
        }
    }
}
