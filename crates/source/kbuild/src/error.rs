//! Why source did not become a Kernel.

use std::io;
use std::path::{Path, PathBuf};

use host::task::Failure;

/// What can go wrong between source and a Kernel. Each message says what, with what, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file, a package or the store.
    #[error(transparent)]
    Kernel(#[from] kernel::Error),
    /// git, or what it knows.
    #[error(transparent)]
    History(#[from] history::Error),
    /// The path leads nowhere.
    #[error("{path}: no such directory: name a kernel tree, or git:TREE@REVISION")]
    NoTree {
        /// As it was typed.
        path: PathBuf,
    },
    /// Something else than source was to be built.
    #[error(
        "{locator}: is not source: build a tree (~/linux), a commit (git:~/linux@v6.12) or deb-source:6.12"
    )]
    NotSource {
        /// The locator.
        locator: String,
    },
    /// An option about a build of what is not built.
    #[error(
        "{locator}: {option} has no effect, since nothing is built here: leave it out, or name source with --config"
    )]
    NothingToBuild {
        /// The locator.
        locator: String,
        /// The option.
        option: &'static str,
    },
    /// A directory or a commit of something else.
    #[error("{path}: not a kernel source tree: it lacks Kconfig, Makefile, arch or init at its top")]
    NotAKernelTree {
        /// As it was typed.
        path: PathBuf,
    },
    /// A checkout whose source git does not see.
    #[error("{path}: git ignores {names} of this tree: `git add -f` what belongs to it, or remove its .git")]
    Ignored {
        /// As it was typed.
        path: PathBuf,
        /// What of its top git ignores.
        names: String,
    },
    /// A tree that no git knows and in which make has run.
    #[error(
        "{path}: was built in place ({left} is there), and such a tree cannot be built elsewhere: run `make mrproper` in it, or name a git checkout"
    )]
    NotClean {
        /// The tree.
        path: PathBuf,
        /// What shows it.
        left: &'static str,
    },
    /// apt has no such source.
    #[error("deb-source:{text}: apt has no such version of {package}{}", known(versions))]
    NoSourcePackage {
        /// What was asked for.
        text: String,
        /// The package that would hold it.
        package: String,
        /// The versions that it has.
        versions: Vec<String>,
    },
    /// A package without an archive of source.
    #[error("package {package} has no source archive in it: name a linux-source package")]
    NoSourceInPackage {
        /// The package.
        package: String,
    },
    /// A word of `--config` that means nothing.
    #[error(
        "there is no configuration {name:?}: use {known}, a target such as defconfig, or the path of a file"
    )]
    NoSuchConfiguration {
        /// The word.
        name: String,
        /// Those of kiln.
        known: String,
    },
    /// A target of make that the tree does not have.
    #[error("the tree has no configuration {target}: `make help` in it lists them")]
    NoSuchTarget {
        /// The target.
        target: String,
    },
    /// Two whole configurations, of which each would undo the other.
    #[error("{first} and {second} are both whole configurations: give one of them, and fragments")]
    TwoBases {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// A fragment with a typo.
    #[error("{0}")]
    Fragment(String),
    /// The tree's Kconfig files cannot be read.
    #[error("{0}")]
    Kconfig(String),
    /// A file of configuration that cannot be read.
    #[error("{path}: cannot be read as a configuration: {reason}")]
    ConfigurationFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Two configurations were to be compared that are one.
    #[error("{good} and {bad} {}: give two that differ", same(*did_differ))]
    SameConfiguration {
        /// The words for the one.
        good: String,
        /// The words for the other.
        bad: String,
        /// They are different files, of which Kconfig makes the same.
        did_differ: bool,
    },
    /// Options were asked for that Kconfig did not give.
    #[error("{}", unmet(options))]
    Unmet {
        /// A line for each.
        options: Vec<String>,
    },
    /// A program of the build is missing.
    #[error("{program} is not installed and is needed to build kernels: apt-get install {package}")]
    MissingTool {
        /// The program.
        program: String,
        /// The package of Debian that has it.
        package: &'static str,
    },
    /// make failed. The kernel, or what was changed in it, is at fault.
    #[error("the build failed: {cause}\nkiln: the whole log is in {log}")]
    Failed {
        /// The first error.
        cause: String,
        /// What all errors say, without where: each once.
        errors: Vec<String>,
        /// Where the log is.
        log: PathBuf,
    },
    /// make failed for want of space, memory or a program.
    #[error("the build could not be completed: {cause}\nkiln: the whole log is in {log}")]
    Unable {
        /// The first error.
        cause: String,
        /// Where the log is.
        log: PathBuf,
    },
    /// The disk became full; what was begun is removed to make room.
    #[error("the build could not be completed: {cause}")]
    Full {
        /// The first error.
        cause: String,
    },
    /// The source changed while it was compiled.
    #[error("{path}: changed while it was compiled, so the kernel matches no source: build it again")]
    Changed {
        /// The tree.
        path: PathBuf,
    },
    /// make cannot work in such a path.
    #[error(
        "{path}: the kernel's makefiles do not support blanks, colons or quotes in paths: use another path, or XDG_CACHE_HOME"
    )]
    OddPath {
        /// The tree or the store.
        path: PathBuf,
    },
    /// Too little space to begin with.
    #[error(
        "{path}: {free} MiB are free, a build needs at least {needed}: make room with `kiln kernels prune`"
    )]
    NoSpace {
        /// The store.
        path: PathBuf,
        /// MiB that are free.
        free: u64,
        /// MiB that are needed.
        needed: u64,
    },
    /// A program of the host could not be run.
    #[error(transparent)]
    Program(#[from] Failure),
}

impl Error {
    /// True where the user named something wrong, false where the host, the network or apt is broken.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_usage(),
            Self::History(error) => error.is_usage(),
            Self::MissingTool { .. }
            | Self::Failed { .. }
            | Self::Unable { .. }
            | Self::NoSpace { .. }
            | Self::Full { .. }
            | Self::Changed { .. }
            | Self::Program(_) => false,
            _ => true,
        }
    }

    /// True where make failed over the source: the kernel is at fault, or whoever changed it.
    pub fn accuses_kernel(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// What compilers and other programs of the build said, without where, if that is why there is no Kernel: at most
    /// 32 texts, each once.
    pub fn of_build(&self) -> &[String] {
        match self {
            Self::Failed { errors, .. } => errors,
            _ => &[],
        }
    }

    /// True where the user wanted to stop.
    pub fn is_interrupt(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_interrupt(),
            Self::History(error) => error.is_interrupt(),
            Self::Program(failure) => matches!(failure, Failure::Interrupted { .. }),
            _ => false,
        }
    }

    /// A target that the tree's makefiles do not know is a mistake of the user.
    pub(crate) fn or_no_target(self, target: &str) -> Self {
        const UNKNOWN: [&str; 2] = ["No rule to make target", "Can't find default configuration"];
        match &self {
            Self::Failed { cause, .. } | Self::Unable { cause, .. }
                if UNKNOWN.iter().any(|text| cause.contains(text)) =>
            {
                Self::NoSuchTarget { target: target.to_owned() }
            }
            _ => self,
        }
    }

    /// True where every program that was started has ended by itself.
    pub(crate) fn leaves_order(&self) -> bool {
        match self {
            Self::Kernel(error) => error.is_interrupt(),
            Self::History(error) => error.is_clean_interrupt(),
            Self::Failed { .. }
            | Self::Unable { .. }
            | Self::Unmet { .. }
            | Self::SameConfiguration { .. }
            | Self::Kconfig(_)
            | Self::Program(Failure::Interrupted { by_itself: true }) => true,
            _ => false,
        }
    }

    /// For `map_err` on the store's and the host's own files.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let error = kernel::Error::io(action, path);
        move |source| Self::Kernel(error(source))
    }
}

fn known(versions: &[String]) -> String {
    match versions {
        [] => ": `kiln kernels` lists all versions, `apt-get update` refreshes apt's lists".to_owned(),
        versions => format!(": it has {}", versions.join(", ")),
    }
}

fn same(did_differ: bool) -> &'static str {
    if did_differ {
        "differ only in options that Kconfig ignores in this tree, and are the same after olddefconfig"
    } else {
        "are the same configuration"
    }
}

fn unmet(options: &[String]) -> String {
    let head = match options {
        [_] => "an option was not granted".to_owned(),
        several => format!("{} options were not granted", several.len()),
    };
    format!("{head}; --allow-unmet builds without them:\n  {}", options.join("\n  "))
}
