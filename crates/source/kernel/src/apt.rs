//! Debian's and Ubuntu's packages: `apt-cache`, `apt-get download` and `dpkg-deb -x`.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host::Task;
use host::task::{Failure, Finished};

use crate::error::Error;
use crate::name_cache::Package;
use crate::version;

/// Where packages come from. apt outside of tests.
pub trait Archive {
    /// The candidates of these packages, or of all that a pattern fits, without those that do not exist.
    fn describe(&self, packages: &[String]) -> Result<Vec<Description>, Error>;
    /// All versions of a package, the newest first.
    fn versions(&self, package: &str) -> Result<Vec<Description>, Error>;
    /// Whether there are no kernel packages at all, since the lists were never fetched.
    fn is_empty(&self) -> Result<bool, Error>;
    /// The state of the lists; while it stays the same so do all answers. Nothing if it is unknown.
    fn lists(&self) -> Option<String>;
    /// Fetches a package into an empty directory and says now and then how many bytes are there.
    fn download(&self, part: &Description, into: &Path, emit: &mut dyn FnMut(u64)) -> Result<PathBuf, Error>;
    /// Unpacks a package.
    fn unpack(&self, file: &Path, into: &Path) -> Result<(), Error>;
}

/// What is known of a package before it is fetched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// What it is built for: `amd64`, `all`.
    pub architecture: String,
    /// The first of each group of alternatives, without versions.
    pub depends: Vec<String>,
    /// In bytes.
    pub size: u64,
}

impl From<Description> for Package {
    fn from(found: Description) -> Self {
        Self { name: found.package, version: found.version }
    }
}

/// The programs of this host.
#[derive(Debug)]
pub struct Apt<'a> {
    /// Set when the user wants to stop.
    pub interrupt: &'a AtomicBool,
}

const LOOK: Duration = Duration::from_secs(120);
const FETCH: Duration = Duration::from_secs(20 * 60);

impl Apt<'_> {
    fn ask(&self, program: &str, arguments: &[&str]) -> Result<Finished, Error> {
        let task = Task::new(program, arguments, self.interrupt).within(Path::new("/")).limit(LOOK);
        task.run(&mut || {}).map_err(failed)
    }

    fn show(&self, arguments: &[&str]) -> Result<Vec<Description>, Error> {
        let done = self.ask("apt-cache", arguments)?;
        let found = descriptions(&done.output);
        if found.is_empty() && !done.success && !says_there_is_none(&done.complaint) {
            return Err(failure("apt-cache show", &done));
        }
        Ok(found)
    }
}

impl Archive for Apt<'_> {
    fn describe(&self, packages: &[String]) -> Result<Vec<Description>, Error> {
        // Of several versions this gives the one that apt would install.
        let packages = packages.iter().map(String::as_str);
        self.show(&["--no-all-versions", "show", "--"].into_iter().chain(packages).collect::<Vec<_>>())
    }

    fn versions(&self, package: &str) -> Result<Vec<Description>, Error> {
        let mut found = self.show(&["--all-versions", "show", "--", package])?;
        found.sort_by(|left, right| version::debian::compare(&right.version, &left.version));
        Ok(found)
    }

    fn is_empty(&self) -> Result<bool, Error> {
        let done = self.ask("apt-cache", &["pkgnames", "linux-image-"])?;
        Ok(done.output.trim().is_empty())
    }

    fn lists(&self) -> Option<String> {
        let changed = std::fs::metadata("/var/lib/apt/lists").ok()?.modified().ok()?;
        Some(format!("{:?}", changed.duration_since(std::time::UNIX_EPOCH).ok()?))
    }

    fn download(&self, part: &Description, into: &Path, emit: &mut dyn FnMut(u64)) -> Result<PathBuf, Error> {
        let wanted = format!("{}={}", part.package, part.version);
        let action = format!("apt-get download {wanted}");
        let task = Task::new("apt-get", &["download", "--", &wanted], self.interrupt);
        let done = task.within(into).limit(FETCH).run(&mut || emit(size_of(into))).map_err(failed)?;
        if !done.success {
            return Err(failure(&action, &done));
        }
        let files = std::fs::read_dir(into).map_err(Error::io("list", into))?;
        let mut paths = files.filter_map(|entry| Some(entry.ok()?.path()));
        let found = paths.find(|path| path.extension().is_some_and(|ending| ending == "deb"));
        found.ok_or_else(|| Error::Command { action, reason: "it wrote no file".into() })
    }

    fn unpack(&self, file: &Path, into: &Path) -> Result<(), Error> {
        let [from, to] = [file, into].map(|path| path.to_string_lossy().into_owned());
        let task = Task::new("dpkg-deb", &["-x", &from, &to], self.interrupt).limit(FETCH);
        let done = task.run(&mut || {}).map_err(failed)?;
        if done.success { Ok(()) } else { Err(failure("dpkg-deb -x", &done)) }
    }
}

/// Bytes of all files in a directory.
fn size_of(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

fn failed(failure: Failure) -> Error {
    match failure {
        Failure::Missing(program) => Error::MissingProgram { program },
        Failure::Interrupted { .. } => Error::Interrupted,
        Failure::Endless { ref program, .. } | Failure::Host { ref program, .. } => {
            Error::Command { action: program.clone(), reason: failure.to_string() }
        }
    }
}

fn says_there_is_none(complaint: &str) -> bool {
    ["No packages found", "Unable to locate package"].iter().any(|text| complaint.contains(text))
}

fn failure(action: &str, done: &Finished) -> Error {
    let reason = last_meaningful_line(&done.complaint).unwrap_or("it gave no reason");
    Error::Command { action: action.to_owned(), reason: reason.to_owned() }
}

/// apt prints warnings after errors; the last error is what matters, and a full disk is behind many others.
fn last_meaningful_line(complaint: &str) -> Option<&str> {
    let lines = || complaint.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    if let Some(full) = lines().find(|line| line.contains("No space left on device")) {
        return Some(full.strip_prefix("E: ").unwrap_or(full));
    }
    let error = lines().find_map(|line| line.strip_prefix("E: "));
    error.or_else(|| lines().find(|line| !line.starts_with("W: ")))
}

/// Reads the stanzas that `apt-cache show` prints.
fn descriptions(text: &str) -> Vec<Description> {
    text.split("\n\n").filter_map(description).collect()
}

fn description(stanza: &str) -> Option<Description> {
    let field = |name: &str| {
        let value = |line: &'_ str| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned());
        stanza.lines().find_map(value)
    };
    let names = ["Pre-Depends", "Depends"];
    Some(Description {
        package: field("Package")?,
        version: field("Version")?,
        architecture: field("Architecture").unwrap_or_default(),
        depends: names.into_iter().filter_map(field).flat_map(|value| first_choices(&value)).collect(),
        size: field("Size").and_then(|size| size.parse().ok()).unwrap_or(0),
    })
}

fn first_choices(depends: &str) -> Vec<String> {
    let name = |group: &str| group.trim_start().split([' ', '(', '|', ':']).next().map(str::to_owned);
    depends.split(',').filter_map(name).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_apt_shows() {
        let text = "Package: linux-image-x-unsigned\nSource: linux\nVersion: 6.1.192-2\nArchitecture: amd64\nSize: 26714428\n\
            Pre-Depends: a:any\nDepends: kmod, linux-base (>= 4.3~), initramfs-tools (>= 0.120) | other\n\
            Description: a kernel\n The text, Depends: on nothing.\n\nPackage: broken\n\n";
        let wanted = Description {
            package: "linux-image-x-unsigned".into(),
            version: "6.1.192-2".into(),
            architecture: "amd64".into(),
            depends: ["a", "kmod", "linux-base", "initramfs-tools"].map(str::to_owned).into(),
            size: 26_714_428,
        };
        assert_eq!(descriptions(text), [wanted]);
    }

    #[test]
    fn the_last_error_is_shown() {
        let text =
            "W: first\nE: Failed to fetch http://x  Connection refused\nW: Download is unsandboxed\n\n";
        assert_eq!(last_meaningful_line(text), Some("Failed to fetch http://x  Connection refused"));
        assert_eq!(last_meaningful_line("W: a\nplain\nW: b\n"), Some("plain"));
        let full =
            "tar: ./x: Cannot write: No space left on device\ndpkg-deb: error: tar subprocess failed\n";
        assert_eq!(last_meaningful_line(full), Some("tar: ./x: Cannot write: No space left on device"));
        assert_eq!(last_meaningful_line("\n"), None);
    }

    #[test]
    fn a_failure_says_what_to_do() {
        for (complaint, remedy) in [
            ("E: Could not write: No space left on device", "make room"),
            ("E: Failed to fetch http://x  Could not resolve 'x'", "check the network"),
            ("E: Version '1' for 'x' was not found", "run `apt-get update`"),
            ("dpkg-deb: error: unable to create './x': Permission denied", "use a folder of your own"),
        ] {
            let done = Finished { success: false, output: String::new(), complaint: complaint.to_string() };
            assert!(failure("x", &done).to_string().contains(&format!("; {remedy}")), "{complaint}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: String, stanza in "(Package|Version|Depends|Size):\\PC*\n{0,2}") {
            descriptions(&text);
            descriptions(&format!("{stanza}Package: a\nVersion: 1\n{stanza}"));
            last_meaningful_line(&text);
        }
    }
}
