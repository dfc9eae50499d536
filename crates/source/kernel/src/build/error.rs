//! Why source did not become a Kernel.

use std::path::PathBuf;

use host::task::Failure;

/// What can go wrong between source and a Kernel. Each message says what, with what, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
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
    /// git knows nothing of it.
    #[error("{path}: not a git repository: name a checkout or a bare repository after git:")]
    NotARepository {
        /// As it was typed.
        path: PathBuf,
    },
    /// A commit that is not there.
    #[error("{path}: has no commit {revision}: look with `git log`, or fetch it first")]
    NoSuchRevision {
        /// The repository.
        path: PathBuf,
        /// What was asked for.
        revision: String,
    },
    /// A directory or a commit of something else.
    #[error("{path}: not a kernel source tree: it lacks Kconfig, Makefile, arch or init at its top")]
    NotAKernelTree {
        /// As it was typed.
        path: PathBuf,
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
    #[error("the tree has no configuration {target}: look with `make help` in it")]
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
    #[error("{program} is not installed, and kernels are built with it: apt-get install {package}")]
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
    #[error("the build could not be done: {cause}\nkiln: the whole log is in {log}")]
    Unable {
        /// The first error.
        cause: String,
        /// Where the log is.
        log: PathBuf,
    },
    /// The disk became full; what was begun is removed to make room.
    #[error("the build could not be done: {cause}")]
    Full {
        /// The first error.
        cause: String,
    },
    /// The source changed while it was compiled.
    #[error("{path}: has changed while it was compiled, so nobody knows what the kernel is: build it again")]
    Changed {
        /// The tree.
        path: PathBuf,
    },
    /// make cannot work in such a path.
    #[error(
        "{path}: the kernel's makefiles take no blanks, colons or quotes in paths: use another path, or XDG_CACHE_HOME"
    )]
    OddPath {
        /// The tree or the store.
        path: PathBuf,
    },
    /// Too little space to begin with.
    #[error(
        "{path}: {free} MiB are free, a build needs {needed} at least: make room with `kiln kernels prune`"
    )]
    NoSpace {
        /// The store.
        path: PathBuf,
        /// MiB that are free.
        free: u64,
        /// MiB that are needed.
        needed: u64,
    },
    /// git refused something that it should not.
    #[error("{action} failed: {reason}")]
    Git {
        /// What was run.
        action: String,
        /// Its reason.
        reason: String,
    },
    /// No build has this identity.
    #[error("built:{identity}: no such build is kept: look with `kiln kernels`, or build it again")]
    NoSuchBuild {
        /// The beginning of it.
        identity: String,
    },
    /// Several builds begin like this.
    #[error("built:{identity}: {count} builds begin like this: give more digits")]
    Ambiguous {
        /// The beginning of them.
        identity: String,
        /// How many there are.
        count: usize,
    },
    /// A program of the host could not be run.
    #[error(transparent)]
    Program(#[from] Failure),
}

impl BuildError {
    /// True where the user named something wrong.
    pub(crate) fn is_usage(&self) -> bool {
        !matches!(
            self,
            Self::MissingTool { .. }
                | Self::Failed { .. }
                | Self::Unable { .. }
                | Self::NoSpace { .. }
                | Self::Full { .. }
                | Self::Changed { .. }
                | Self::Git { .. }
                | Self::Program(_)
        )
    }
}

fn known(versions: &[String]) -> String {
    match versions {
        [] => ": look with `kiln kernels`, or refresh the lists with `apt-get update`".to_owned(),
        versions => format!(": it has {}", versions.join(", ")),
    }
}

fn same(did_differ: bool) -> &'static str {
    if did_differ {
        "differ only in what Kconfig does not take in this tree, and are the same after olddefconfig"
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
