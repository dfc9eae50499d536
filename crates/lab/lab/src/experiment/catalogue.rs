//! Where experiments are, what there is of them, and new ones.

use std::path::{Path, PathBuf};

use script::folder::SCRIPT;
use script::nearest::suggestion;
use script::{Experiment, Metadata, Problem};

/// Where experiments are below the current directory, and below those for data.
const FOLDER: &str = "experiments";

/// The area of all cases that are experiments.
pub(super) const AREA: &str = "exp";

/// Folders of experiments that are looked at, in each place.
const EXPERIMENTS_MAX: usize = 1000;

/// The script of a new experiment, which runs at once.
const TEMPLATE: &str = include_str!("template.star");

/// The page beside it.
const README: &str = "# NAME\n\nWhat is the question, what does the script do, how is the result read, and what was found on \
                      which kernels?\n";

/// An experiment that there is.
#[derive(Debug)]
pub struct Entry {
    /// Its name: that of its folder.
    pub name: String,
    /// Where it is.
    pub folder: PathBuf,
    /// What it says about itself, or what is wrong with it.
    pub metadata: Result<Metadata, Problem>,
}

/// Folders with experiments, the nearest first: the current one, then those of the XDG Base Directory Specification.
fn places() -> Vec<PathBuf> {
    let home = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/share")));
    let shared = std::env::var("XDG_DATA_DIRS").ok().filter(|text| !text.is_empty());
    let shared = shared.unwrap_or_else(|| "/usr/local/share:/usr/share".to_string());
    let data = home.into_iter().chain(std::env::split_paths(&shared).collect::<Vec<_>>());
    std::iter::once(PathBuf::from(FOLDER)).chain(data.map(|path| path.join("kiln").join(FOLDER))).collect()
}

/// All experiments, each by the nearest of its name.
#[must_use]
pub fn all() -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    for place in places() {
        let entries = std::fs::read_dir(&place).into_iter().flatten().flatten().take(EXPERIMENTS_MAX);
        for folder in entries.map(|entry| entry.path()).filter(|path| path.join(SCRIPT).is_file()) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !found.iter().any(|entry| entry.name == name) {
                let metadata = Experiment::open(&folder).map(|experiment| experiment.metadata().clone());
                found.push(Entry { name, folder, metadata });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The folder of an experiment: a path, or the name of one that there is.
///
/// # Errors
///
/// When there is none, with what was probably meant or what there is.
pub fn find(name: &str) -> Result<PathBuf, String> {
    let path = Path::new(name);
    if path.join(SCRIPT).is_file() {
        return Ok(path.to_path_buf());
    }
    if name.contains('/') {
        return Err(format!("{name}: there is no {SCRIPT} in it: `kiln exp new` makes one"));
    }
    let all = all();
    match all.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok(entry.folder.clone()),
        None if all.is_empty() => {
            Err(format!("there is no experiment {name}, and no other: `kiln exp new {name}`"))
        }
        None => {
            let names = all.iter().map(|entry| entry.name.as_str());
            Err(format!("there is no experiment {name:?}: {}", suggestion(name, names)))
        }
    }
}

/// The name of the experiment in a folder: that of the folder, wherever the path to it begins.
#[must_use]
pub fn name_of(folder: &Path) -> String {
    let real = folder.canonicalize();
    let name = real.as_deref().unwrap_or(folder).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The name of the case that an experiment of this name is.
#[must_use]
pub fn case_of(name: &str) -> String {
    format!("{AREA}/{name}")
}

/// Makes an experiment that runs at once.
///
/// # Errors
///
/// When it is there already, or cannot be made.
pub fn new(name: &str) -> Result<PathBuf, String> {
    let folder = if name.contains('/') { PathBuf::from(name) } else { Path::new(FOLDER).join(name) };
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let is_name = |part: &std::ffi::OsStr| !part.is_empty();
    if !folder.file_name().is_some_and(is_name) {
        return Err(format!("{name:?} is not the name of an experiment"));
    }
    if folder.exists() {
        return Err(format!("{} is there already", folder.display()));
    }
    std::fs::create_dir_all(&folder).map_err(failed)?;
    std::fs::write(folder.join(SCRIPT), TEMPLATE).map_err(failed)?;
    let title = folder.file_name().unwrap_or_default().to_string_lossy();
    std::fs::write(folder.join("README.md"), README.replace("NAME", &title)).map_err(failed)?;
    Ok(folder)
}
