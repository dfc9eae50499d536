//! The kernel's own selftests: Documentation/dev-tools/kselftest.rst.
//!
//! * [`place`]: what the user named: what is installed, a folder of a tree, or a group
//! * [`mod@build`]: from a tree to what is installed
//! * [`list`]: what is run; [`settings`]: for how long; [`options`]: on which configuration;
//!   [`not_built`]: why not

mod build;
pub mod list;
mod not_built;
pub mod options;
mod place;
pub mod settings;

use std::path::Path;

use machine::Folder;
use machine::folder::Entry;
use machine::program::interpreter;
use protocol::Command;

pub use build::build;
pub use place::{Place, Tree, locate, tree_of};

use super::Error;
use super::external::{Behind, External, ExternalCase, NAME_MAX};
use judge::Dialect;

/// The list of what is run, at the top of what is installed.
const LIST: &str = "kselftest-list.txt";

/// Where it is in the machine.
const PLACE: &str = "/kselftest";

/// By which a group has tests run that are not executable, where it has one.
const RUNNER: &str = "ksft_runner.sh";

impl super::Suite {
    /// The selftests that are installed at `path`, with the cases that match one of `patterns`.
    ///
    /// # Errors
    ///
    /// When they cannot be read, there are none, or a pattern matches nothing.
    pub fn selftests(path: &Path, patterns: &[String]) -> Result<Self, Error> {
        Ok(Self::External(Box::new(open(path)?.select(patterns)?)))
    }
}

/// Whether selftests are installed at `path`.
pub(super) fn is_installed(path: &Path) -> bool {
    path.join(LIST).is_file()
}

/// The installed selftests at `path` as a suite.
pub(super) fn open(path: &Path) -> Result<External, Error> {
    let folder = Folder::survey(path)?;
    let (list, _) = folder.file(LIST).ok_or_else(|| Error::NoSelftests { path: path.to_owned() })?;
    let content = folder.read(list)?;
    let tests = list::parse(&String::from_utf8_lossy(&content)).map_err(|malformed| Error::List {
        path: folder.root().join(LIST),
        line: malformed.line,
        why: malformed.why.to_string(),
    })?;
    let cases = tests.iter().map(|test| case(&folder, test)).collect();
    let (name, dialect, notes) = ("kselftest".to_string(), Dialect::Kselftest, Vec::new());
    External { name, cases, dialect, folder, metadata: Vec::new(), place: PLACE, links: Vec::new(), notes }
        .checked("its kselftest-list.txt names no tests")
}

fn case(folder: &Folder, test: &list::Test) -> ExternalCase {
    let list::Test { group, name } = test;
    let path = format!("{group}/{name}");
    let read = |name: &str| folder.read(&format!("{group}/{name}")).unwrap_or_default();
    let (settings, config) = (read("settings"), read("config"));
    let start = start(folder, group, name).map_err(|why| {
        let errors = folder.read(not_built::FILE).unwrap_or_default();
        not_built::reason(&String::from_utf8_lossy(&errors), name).unwrap_or(why)
    });
    let too_long = (path.len() > NAME_MAX).then(|| "its name is too long".to_string());
    ExternalCase {
        name: protocol::results::cut(&path, NAME_MAX).to_string(),
        about: format!("selftests: {group}: {name}"),
        limit: settings::limit(&String::from_utf8_lossy(&settings)),
        runtime: None,
        skip: too_long.or_else(|| start.as_ref().err().cloned()),
        command: Command {
            argv: [start.unwrap_or_default(), arguments(name)].concat(),
            directory: format!("{PLACE}/{group}"),
            ..Command::default()
        },
        program: Behind::File(path),
        asks: Vec::new(),
        options: asked(&config, &read(name)),
    }
}

/// The options that a group and a program of it ask for, each once.
fn asked(config: &[u8], program: &[u8]) -> Vec<String> {
    let mut options = options::parse(&String::from_utf8_lossy(config));
    let more = options::of_program(program).into_iter().filter(|option| !options.contains(option));
    options.extend(more.collect::<Vec<_>>());
    options
}

/// How a test is started, as the kernel's `kselftest/runner.sh` does it; or why it cannot be.
fn start(folder: &Folder, group: &str, name: &str) -> Result<Vec<String>, String> {
    let test = format!("./{name}");
    let Some((path, entry)) = folder.file(&format!("{group}/{name}")) else {
        return Err("it is listed but was not built or installed".to_string());
    };
    if entry.is_executable() {
        return Ok(vec![test]);
    }
    if folder.file(&format!("{group}/{RUNNER}")).is_some_and(|(_, entry): (_, &Entry)| entry.is_executable())
    {
        return Ok(vec![format!("./{RUNNER}"), test]);
    }
    let content = folder.read(path).map_err(|error| error.to_string())?;
    let words = interpreter(&content).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| "it is neither executable nor a script".to_string())?;
    Ok([words, vec![test]].concat())
}

/// What the user has the test called with, by a variable that bears its name.
fn arguments(name: &str) -> Vec<String> {
    let value = std::env::var(variable(name)).unwrap_or_default();
    value.split_whitespace().map(str::to_string).collect()
}

/// `rtctest` reads `KSELFTEST_RTCTEST_ARGS`.
fn variable(name: &str) -> String {
    let kept = name.chars().filter(|c| !c.is_control() && !matches!(c, ' ' | '\t'));
    let plain = kept.map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    format!("KSELFTEST_{}_ARGS", plain.collect::<String>())
}

#[cfg(test)]
mod tests;
