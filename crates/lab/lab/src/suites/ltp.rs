//! The Linux Test Project: installed, such as `/opt/ltp`, or built in its own tree.
//!
//! * [`runtest`]: the lists of what is run
//! * [`metadata`]: what tests ask for; [`script`]: those in shell
//! * [`runtime`]: how long they go on
//! * [`tree`]: where the programs are

mod metadata;
pub mod runtest;
mod runtime;
mod script;
mod tree;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use machine::Folder;
use protocol::{Command, Need};

use super::Error;
use super::external::{Behind, External, ExternalCase, NAME_MAX};
use judge::Dialect;
use metadata::Metadata;
use runtime::RuntimeFactor;
use tree::Programs;

/// Where it is in the machine: what it was installed as, for most.
const PLACE: &str = "/opt/ltp";

/// Time limit of each: longer than the 5 minutes that LTP's own library gives at most by default, so that
/// a test which takes too long can say so itself.
const LIMIT: Duration = Duration::from_secs(600);

/// A kernel loads the driver when a program opens one of its devices, for which there is no modprobe in a machine.
const USUAL: &str = "loop";

/// What a user wants of LTP.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    root: PathBuf,
    /// One list of `runtest/`, or all.
    list: Option<String>,
}

/// Whether `path` is an LTP tree, or a list in one.
pub(super) fn recognise(path: &Path) -> Option<Wanted> {
    let is_tree = |root: &Path| root.join("runtest").is_dir() && root.join(tree::TOP).is_dir();
    if is_tree(path) {
        return Some(Wanted { root: path.to_owned(), list: None });
    }
    let path = path.canonicalize().ok()?;
    let (lists, name) = (path.parent()?, path.file_name()?.to_str()?);
    let root = lists.parent().filter(|root| lists.ends_with("runtest") && is_tree(root))?;
    Some(Wanted { root: root.to_owned(), list: Some(name.to_owned()) })
}

/// The suite.
pub(super) fn open(wanted: &Wanted) -> Result<External, Error> {
    open_with(wanted, RuntimeFactor::of_environment()?)
}

fn open_with(wanted: &Wanted, factor: RuntimeFactor) -> Result<External, Error> {
    let mut folder = Folder::survey(&wanted.root)?;
    let content = folder.read(metadata::FILE).unwrap_or_default();
    let metadata = Metadata::parse(&content);
    let programs = tree::programs(&mut folder);
    let mut cases = Vec::new();
    let scripts = RefCell::default();
    let tree = Tree { folder: &folder, programs: &programs, metadata: &metadata, factor, scripts };
    for list in lists(&folder, wanted) {
        let content = folder.read(&format!("runtest/{list}"))?;
        let entries =
            runtest::parse(&String::from_utf8_lossy(&content)).map_err(|malformed| Error::List {
                path: folder.root().join("runtest").join(&list),
                line: malformed.line,
                why: malformed.why.to_string(),
            })?;
        cases.extend(cases_of(&list, &entries, &tree));
    }
    let name = wanted.list.as_ref().map_or("ltp".to_string(), |list| format!("ltp/{list}"));
    let (links, dialect, notes) = (programs.links(PLACE), Dialect::Ltp, Vec::new());
    External { name, cases, dialect, folder, metadata: content, place: PLACE, links, notes }
        .checked("has no lists of tests in runtest/, or nothing in them")
}

/// The lists that are wanted, by name.
fn lists(folder: &Folder, wanted: &Wanted) -> Vec<String> {
    let all = folder.entries().filter_map(|(path, _)| path.strip_prefix("runtest/"));
    // The tree has a Makefile beside them.
    let is_list = |name: &&str| !name.contains('/') && !name.starts_with('.') && *name != "Makefile";
    let is_wanted = |name: &&str| wanted.list.as_deref().is_none_or(|list| list == *name);
    let is_file =
        |name: &&str| folder.file(&format!("runtest/{name}")).is_some_and(|(path, _)| path.ends_with(name));
    all.filter(is_list).filter(is_wanted).filter(is_file).map(str::to_string).collect()
}

/// Most of a script that is looked at, in bytes.
const SCRIPT_MAX: usize = 1 << 20;

/// What is known of all tests.
struct Tree<'a> {
    folder: &'a Folder,
    programs: &'a Programs,
    metadata: &'a Metadata,
    factor: RuntimeFactor,
    /// What scripts ask for: one may be called in many ways.
    scripts: RefCell<HashMap<String, Vec<Need<String>>>>,
}

impl Tree<'_> {
    /// What the test with this program asks for.
    fn asks(&self, program: &str) -> Vec<Need<String>> {
        let mut asks = self.metadata.asks(program);
        let usual = Need::Module(USUAL.to_string());
        if !asks.contains(&usual) {
            asks.push(usual);
        }
        if program.ends_with(".sh") {
            let mut scripts = self.scripts.borrow_mut();
            let read = |name: &str| {
                let mut content = self.folder.read(self.programs.find(name)?).ok()?;
                content.truncate(SCRIPT_MAX);
                Some(String::from_utf8_lossy(&content).into_owned())
            };
            let asked = scripts.entry(program.to_string()).or_insert_with(|| script::asks(program, &read));
            let more: Vec<_> = asked.iter().filter(|need| !asks.contains(need)).cloned().collect();
            asks.extend(more);
        }
        asks
    }
}

fn cases_of(list: &str, entries: &[runtest::Entry], tree: &Tree<'_>) -> Vec<ExternalCase> {
    let mut given = HashSet::new();
    let mut unique = |tag: &str| {
        let copies = (2_u32..).map(|copy| format!("{list}/{tag}.{copy}"));
        let mut names = std::iter::once(format!("{list}/{tag}")).chain(copies);
        names.find(|name| given.insert(name.clone())).unwrap_or_default()
    };
    entries.iter().map(|entry| case(unique(&entry.tag), &entry.command, tree)).collect()
}

fn case(name: String, command: &str, tree: &Tree<'_>) -> ExternalCase {
    let program = runtest::program(command);
    let asks = program.map_or_else(Vec::new, |name| tree.asks(name));
    let runtime = program.and_then(|name| tree.metadata.runtime(name, tree.factor));
    let program = program.map_or(Behind::Unknown, |name| {
        tree.programs
            .find(name)
            .map_or_else(|| Behind::Name(name.to_string()), |path| Behind::File(path.to_string()))
    });
    let skip = (name.len() > NAME_MAX).then(|| "its name is too long".to_string());
    let name = if skip.is_some() { protocol::results::cut(&name, NAME_MAX).to_string() } else { name };
    let (about, mut command) = (command.to_string(), shell(command));
    command.environment.extend(tree.factor.variable());
    let options = Vec::new();
    ExternalCase { name, about, limit: LIMIT, runtime, command, program, asks, options, skip }
}

/// How LTP's own runner starts a test.
fn shell(command: &str) -> Command {
    let bin = format!("{PLACE}/{}", tree::BIN);
    let path = format!("{bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    let environment = [("LTPROOT", PLACE), ("PATH", &path), ("TMPDIR", "/tmp"), ("LTP_COLORIZE_OUTPUT", "0")];
    Command {
        argv: ["/bin/sh", "-c", command].map(str::to_string).to_vec(),
        directory: bin,
        environment: environment.map(|(name, value)| (name.to_string(), value.to_string())).to_vec(),
        ..Command::default()
    }
}

#[cfg(test)]
mod tests;
