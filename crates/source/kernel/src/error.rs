//! What can go wrong between a locator and a Kernel. Each message is one line: what, with what, what to do.

use std::io;
use std::path::PathBuf;

use crate::image::ImageError;

/// Why a locator did not become a Kernel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing was named.
    #[error("the locator is empty: name a kernel, such as deb:latest-cloud, ./bzImage, ~/linux or host")]
    EmptyLocator,
    /// The text after `deb:` or `deb-source:` cannot name a package.
    #[error("{text:?} is not the name of a kernel package: write {form}")]
    PackageName {
        /// The text after the colon.
        text: String,
        /// What it should look like.
        form: &'static str,
    },
    /// The text after `git:` is not a tree and a revision.
    #[error("{locator}: not a commit of a tree: write git:TREE@REVISION, such as git:~/linux@v6.12")]
    GitLocator {
        /// The whole text.
        locator: String,
    },
    /// The text after `uml:` is not `deb`.
    #[error(
        "{locator}: write uml:deb for Debian's User-Mode Linux; name any other by its file, such as ./linux"
    )]
    UmlLocator {
        /// The whole text.
        locator: String,
    },
    /// The text after `built:` cannot be the beginning of an identity.
    #[error(
        "{locator}: not a build: write built: and at least six hexadecimal digits, as `kiln build` prints them"
    )]
    BuiltLocator {
        /// The whole text.
        locator: String,
    },
    /// The user wanted to stop.
    #[error("interrupted")]
    Interrupted,
    /// No build has this identity.
    #[error(
        "built:{identity}: no such build is kept: `kiln kernels` lists those that are, or build it again"
    )]
    NoSuchBuild {
        /// The beginning of it.
        identity: String,
    },
    /// Several builds begin like this.
    #[error("built:{identity}: {count} builds begin like this: give more digits")]
    AmbiguousBuild {
        /// The beginning of them.
        identity: String,
        /// How many there are.
        count: usize,
    },
    /// What has to be built first was not.
    #[error("{locator}: is source and must be built first: run `kiln build`, or add --config")]
    Source {
        /// The locator.
        locator: String,
    },
    /// apt has no such package.
    #[error(
        "{locator}: apt knows no package {package}: {}`kiln kernels` lists what there is, `apt-get update` refreshes apt's lists",
        build_it(series.as_deref())
    )]
    NoSuchPackage {
        /// The locator.
        locator: String,
        /// The name that was looked for last.
        package: String,
        /// Such as 6.12, if apt has the source of that.
        series: Option<String>,
    },
    /// Something else than a package stands where a line of packages begins or ends.
    #[error(
        "{locator}: not a package: packages are searched from deb:VERSION-FLAVOUR to deb:VERSION-FLAVOUR"
    )]
    NotAPackage {
        /// The locator.
        locator: String,
    },
    /// A line of packages begins or ends with one that nobody has.
    #[error("{locator}: neither kept nor offered by apt: {}", choose_of(near))]
    NotInCatalogue {
        /// The locator.
        locator: String,
        /// Locators of the packages around it.
        near: Vec<String>,
    },
    /// A line of packages ends where it begins.
    #[error("{first} and {second} are both {package}: name two packages")]
    SamePackage {
        /// The locator of one end.
        first: String,
        /// The locator of the other.
        second: String,
        /// What both mean.
        package: String,
    },
    /// A line of packages that leads back.
    #[error(
        "{newer} is newer than {older}: write {older}..{newer}, and add --fixed when the newer one is the good one"
    )]
    NewerFirst {
        /// The first locator.
        newer: String,
        /// The last.
        older: String,
    },
    /// A line of packages between different kinds of kernels.
    #[error("{first} is {} and {last} is {}: name two packages of one flavour", flavours[0], flavours[1])]
    OtherFlavour {
        /// The first locator.
        first: String,
        /// The last.
        last: String,
        /// Of the first and of the last.
        flavours: [String; 2],
    },
    /// The package was unpacked and holds no kernel.
    #[error("package {package} has no kernel image in it: name a linux-image package")]
    NoImageInPackage {
        /// The package.
        package: String,
    },
    /// A program of apt or dpkg is missing on this host.
    #[error(
        "{program} is not installed: deb: needs Debian's or Ubuntu's apt; name an image or a built tree instead"
    )]
    MissingProgram {
        /// The program.
        program: String,
    },
    /// apt has never fetched its package lists.
    #[error("apt's package lists are empty, so {locator} cannot be found: run `apt-get update` first")]
    EmptyLists {
        /// The locator.
        locator: String,
    },
    /// apt or dpkg failed.
    #[error("{action} failed: {reason}; {}", remedy(reason))]
    Command {
        /// What was run.
        action: String,
        /// Its last meaningful line.
        reason: String,
    },
    /// Another kiln holds the store and does not let go.
    #[error("another kiln has held {path} for {minutes} minutes: wait for it to end, or end it")]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// How long this one waited.
        minutes: u64,
    },
    /// The path leads nowhere.
    #[error("{path}: no such file or directory: name an image, a built tree, or deb:VERSION-FLAVOUR")]
    NotFound {
        /// The path that was given.
        path: PathBuf,
    },
    /// A file that the user named is not there.
    #[error("{path}: no such file or directory")]
    NoSuchFile {
        /// The path that was given.
        path: PathBuf,
    },
    /// The file is there and cannot be used as a kernel.
    #[error("{path}: {reason}")]
    Image {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: ImageError,
    },
    /// A file that the user named cannot be read.
    #[error("{path}: cannot be read ({source}): make it readable, or give a copy")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is larger than any kernel has a use for.
    #[error("{path}: larger than {limit} bytes, the limit for {what}: give another file")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What it was taken for.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A source tree in which nothing was built.
    #[error(
        "{path}: is a kernel source tree without a built kernel: run make in it, or let kiln build it with --config boot"
    )]
    NotBuilt {
        /// The directory.
        path: PathBuf,
    },
    /// A directory that holds no kernel at all.
    #[error("{path}: neither a built kernel tree nor an unpacked package: name the tree's top directory")]
    NotATree {
        /// The directory.
        path: PathBuf,
    },
    /// A directory with more than one kernel.
    #[error("{path}: holds several kernels ({names}): name one of the files")]
    SeveralKernels {
        /// The directory.
        path: PathBuf,
        /// Their file names.
        names: String,
    },
    /// This host's kernel has no image on its disk.
    #[error(
        "host: the running kernel {release} has no image at {path}: name a package (deb:…), an image or a tree"
    )]
    NoHostImage {
        /// What uname says.
        release: String,
        /// Where the image was looked for.
        path: PathBuf,
    },
    /// A module is asked for that the kernel lacks.
    #[error("module {name} is not in this kernel: choose a kernel that has it, built in or as a module")]
    NoSuchModule {
        /// The module.
        name: String,
    },
    /// A module is asked for and nothing is known about the kernel's modules.
    #[error("module {name}: this kernel's modules are unknown: give its tree or package")]
    ModulesUnknown {
        /// The module.
        name: String,
    },
    /// A module needs one that is not there.
    #[error("module {name} needs {needs}, which is not in this kernel's module tree: complete the tree")]
    MissingDependency {
        /// The module.
        name: String,
        /// What it needs.
        needs: String,
    },
    /// A module's file is damaged.
    #[error("{path}: not a usable module ({reason}): build or unpack it again")]
    DamagedModule {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The host failed at a file that is not the user's business.
    #[error("cannot {action} {path}: {source}; check the disk and the permissions")]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What to name instead of an unknown package.
fn choose_of(near: &[String]) -> String {
    match near {
        [] => "`kiln kernels` lists what there is, `apt-get update` refreshes apt's lists".to_owned(),
        [one] => format!("the nearest is {one}: name that, or refresh apt's lists with `apt-get update`"),
        several => format!(
            "the nearest are {}: name one of them, or refresh apt's lists with `apt-get update`",
            several.join(", ")
        ),
    }
}

/// What to do where there is only source.
fn build_it(series: Option<&str>) -> String {
    series.map_or_else(String::new, |series| {
        format!("it has the source, so build it with `kiln build deb-source:{series}`; ")
    })
}

/// What to do about the failure of a program, by what it said.
fn remedy(reason: &str) -> &'static str {
    const REMEDIES: &[(&[&str], &str)] = &[
        (&["No space left", "enough free space"], "make room, for example with `kiln kernels prune`"),
        (
            &["Permission denied", "Read-only file system"],
            "use a folder of your own: XDG_CACHE_HOME names it",
        ),
        (
            &["Failed to fetch", "resolve", "onnect", "Temporary failure"],
            "check the network, run `apt-get update`, then try again",
        ),
    ];
    let applies = |(words, _): &&(&[&str], &str)| words.iter().any(|word| reason.contains(word));
    REMEDIES.iter().find(applies).map_or("run `apt-get update`, then try again", |(_, remedy)| *remedy)
}

impl Error {
    /// True where the user named something wrong, false where the host, the network or apt is broken.
    pub fn is_usage(&self) -> bool {
        !matches!(
            self,
            Self::MissingProgram { .. }
                | Self::EmptyLists { .. }
                | Self::Command { .. }
                | Self::Locked { .. }
                | Self::Io { .. }
                | Self::Interrupted
        )
    }

    /// True where the user wanted to stop.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Interrupted)
    }

    /// For `map_err` on the store's and the host's own files.
    pub fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
