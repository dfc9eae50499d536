//! A folder of executables: each is a case.

use std::path::Path;
use std::time::Duration;

use machine::Folder;
use machine::folder::Entry;
use protocol::Command;

use super::Error;
use super::external::{Behind, External, ExternalCase, NAME_MAX, name_of};
use judge::Dialect;

/// Where the folder is in the machine.
const PLACE: &str = "/suite";

/// Time limit of each.
const LIMIT: Duration = Duration::from_secs(60);

/// The folder at `path` as a suite.
pub(super) fn open(path: &Path) -> Result<External, Error> {
    let folder = Folder::survey(path)?;
    let is_empty = folder.entries().next().is_none();
    let why = if is_empty { "is empty" } else { "holds no executable file: chmod +x makes one" };
    let programs = || folder.entries().filter(|(path, entry)| is_case(path, entry)).map(|(path, _)| path);
    let (cases, long): (Vec<_>, Vec<_>) = programs().partition(|path| path.len() <= NAME_MAX);
    let cases = cases.into_iter().map(case).collect();
    let notes = long.iter().map(|path| format!("not run, since its name is too long: {path}")).collect();
    let name = name_of(folder.root());
    let (dialect, metadata, links) = (Dialect::Program, Vec::new(), Vec::new());
    External { name, cases, dialect, folder, metadata, place: PLACE, links, notes }.checked(why)
}

/// Whether a file is run: shared libraries are executable, too, and what is hidden is somebody's own.
fn is_case(path: &str, entry: &Entry) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_library = name.ends_with(".so") || name.contains(".so.");
    entry.is_executable() && !is_library && !path.split('/').any(|part| part.starts_with('.'))
}

fn case(path: &str) -> ExternalCase {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let command = Command {
        argv: vec![format!("./{name}")],
        directory: format!("{PLACE}/{directory}"),
        ..Command::default()
    };
    ExternalCase {
        name: path.to_string(),
        about: format!("exit status 0 of {path}"),
        limit: LIMIT,
        runtime: None,
        command,
        program: Behind::File(path.to_string()),
        asks: Vec::new(),
        options: Vec::new(),
        skip: None,
    }
}
