//! An experiment as the folder of a session that is complete: `kiln replay` runs it again wherever it is.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ::script::KernelInfo;
use console::printable;
use judge::Run;
use kernel::{Kernel, Locator};
use machine::Folder;
use machine::folder::Entry;

use super::{Error, File, FileKind, LIMIT, read, script};
use crate::event::Session;
use crate::request::{ExperimentRequest, KernelRequest, Request};

const README: &str = include_str!("experiment.txt");

/// The document about a session, in its folder.
pub const SESSION: &str = "session.json";

/// The folder of a session with the folder of its experiment.
pub const EXPERIMENT: &str = "experiment";

/// Where kernels are that nobody can fetch.
const KERNELS: &str = "kernels";

/// What a bundle has of its own: all else is the folder of the session.
const OWN: [&str; 4] = ["README", SESSION, EXPERIMENT, KERNELS];

/// A Run of an experiment, and what makes it happen again.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// As it was.
    pub run: &'a Run,
    /// The session that it is of.
    pub session: &'a Session,
    /// Its folder.
    pub folder: &'a Path,
    /// What was asked.
    pub request: &'a ExperimentRequest,
    /// The name of the experiment.
    pub name: &'a str,
    /// Where its files are, which are as they were.
    pub experiment: &'a Path,
    /// The Kernels, which are as they were.
    pub kernels: &'a [&'a Kernel],
}

/// The files of a bundle but for the document of its session, and that session: all its paths begin in the bundle.
///
/// # Errors
///
/// When something cannot be read, or it is too much.
pub fn files(parts: Parts<'_>) -> Result<(Vec<File>, Session), Error> {
    let (mut kernels, mut sources) = (Vec::new(), Vec::new());
    for (number, kernel) in (1..).zip(parts.kernels) {
        kernels.push(locator(kernel, &format!("{KERNELS}/{number}"), &mut sources)?);
    }
    let (kept, experiment) = (Folder::survey(parts.folder)?, Folder::survey(parts.experiment)?);
    let is_kept = |path: &str| !OWN.contains(&path.split('/').next().unwrap_or(path));
    let kept_bytes = bytes(&kept, is_kept);
    let size = |path: &PathBuf| path.metadata().map(|found| found.len()).unwrap_or_default();
    let all =
        kept_bytes + bytes(&experiment, |_| true) + sources.iter().map(|(_, path)| size(path)).sum::<u64>();
    if all > LIMIT {
        return Err(Error::TooLarge { bytes: all, folder: parts.folder.to_owned() });
    }
    let place = format!("{EXPERIMENT}/{}", parts.name);
    let session = session(parts, PathBuf::from(&place), &kernels);
    let mut files = vec![File::new("README", readme(parts, &session))];
    files.extend(packed(&experiment, &format!("{place}/"), |_| true)?);
    for (name, path) in sources {
        files.push(File { kind: kind(&path), ..File::new(&name, read(&path)?) });
    }
    files.extend(packed(&kept, "", is_kept)?);
    Ok((files, session))
}

/// A locator by which the Kernel is found elsewhere: a package is fetched there, anything else goes along.
fn locator(kernel: &Kernel, place: &str, sources: &mut Vec<(String, PathBuf)>) -> Result<String, Error> {
    let exact = kernel.exact_locator();
    if matches!(exact.parse::<Locator>(), Ok(Locator::Deb(_) | Locator::UmlDeb)) {
        return Ok(exact);
    }
    let belongings = kernel.belongings()?;
    let name = |path: &Path| format!("{place}/{}", path.display());
    sources.extend(belongings.files.iter().map(|(path, file)| (name(path), file.clone())));
    Ok(name(&belongings.image))
}

/// The session with all its paths in the bundle.
fn session(parts: Parts<'_>, folder: PathBuf, locators: &[String]) -> Session {
    let Parts { session, request, .. } = parts;
    let named = |text: &String| text.parse().ok().map(KernelRequest::named);
    let kernels = locators.iter().filter_map(named).collect();
    let request = Request::Experiment(Box::new(ExperimentRequest { folder, kernels, ..request.clone() }));
    let infos = session.kernels.iter().zip(locators);
    Session {
        command: request.words(),
        request: Some(request),
        directory: PathBuf::new(),
        kernel: locators.join(", "),
        kernels: infos.map(|(info, text)| KernelInfo { locator: text.clone(), ..info.clone() }).collect(),
        ..session.clone()
    }
}

/// The bytes of these files.
fn bytes(folder: &Folder, is_wanted: impl Fn(&str) -> bool) -> u64 {
    let size = |(path, entry): (&str, &Entry)| match entry {
        Entry::File { size, .. } if is_wanted(path) => *size,
        _ => 0,
    };
    folder.entries().map(size).sum()
}

/// The files and links of a folder, with this before their paths.
fn packed(folder: &Folder, place: &str, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<File>, Error> {
    let mut files = Vec::new();
    for (path, entry) in folder.entries().filter(|(path, _)| is_wanted(path)) {
        let name = format!("{place}{path}");
        files.extend(match entry {
            Entry::Directory => None,
            Entry::Link(target) => Some(File { kind: FileKind::Link, ..File::new(&name, target.as_bytes()) }),
            Entry::File { .. } => {
                let kind = if entry.is_executable() { FileKind::Program } else { FileKind::Plain };
                Some(File { kind, ..File::new(&name, folder.read(path)?) })
            }
        });
    }
    Ok(files)
}

/// User-Mode Linux is a program.
fn kind(path: &Path) -> FileKind {
    let is_program = path.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
    if is_program { FileKind::Program } else { FileKind::Plain }
}

fn readme(parts: Parts<'_>, session: &Session) -> String {
    let Parts { run, request, .. } = parts;
    let separator = if run.reason.is_empty() { "" } else { ": " };
    let verdict = format!("{}  {}{separator}{}", run.outcome.name(), run.case, run.reason);
    let kernels = session.kernels.iter().map(|kernel| {
        format!("    {}\n        release {}, identity {}\n", kernel.locator, kernel.release, kernel.identity)
    });
    let values = [
        ("VERDICT", verdict),
        ("QUESTION", run.about.clone()),
        ("SEED", request.seed.to_string()),
        ("MACHINE", session.machine.clone()),
        ("VERSION", session.kiln.clone()),
    ]
    .map(|(name, value)| (name, printable(value.as_bytes())));
    let lines =
        kernels.map(|text| text.lines().map(|line| printable(line.as_bytes()) + "\n").collect::<String>());
    let values: Vec<(&str, String)> = values.into_iter().chain([("KERNELS", lines.collect())]).collect();
    script::fill(README, &values)
}
