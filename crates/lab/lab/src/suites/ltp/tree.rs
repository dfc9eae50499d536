//! Where the programs of an LTP tree are.

use std::collections::BTreeMap;

use machine::Folder;
use machine::folder::Entry;

/// The directory that holds all of them.
pub(super) const TOP: &str = "testcases/";

/// Where they are installed.
pub(super) const BIN: &str = "testcases/bin/";

/// Directories of a built tree whose files tests read.
const DATA: &[&str] = &["datafiles", "data"];

/// The programs of a tree, by name.
#[derive(Debug, Default)]
pub(super) struct Programs {
    paths: BTreeMap<String, String>,
    /// They are scattered over the tree.
    in_place: bool,
}

/// Finds the programs, and leaves in the folder only what running them takes.
pub(super) fn programs(folder: &mut Folder) -> Programs {
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
    let installed =
        folder.entries().filter(|(path, entry)| path.starts_with(BIN) && **entry != Entry::Directory);
    let paths: BTreeMap<String, String> = installed
        .filter_map(|(path, _)| Some((path.strip_prefix(BIN)?.to_string(), path.to_string())))
        .collect();
    if !paths.is_empty() {
        folder.keep(|path, _| path.starts_with(TOP) || path.starts_with("testscripts/") || is_list(path));
        return Programs { paths, in_place: false };
    }
    folder.keep(|path, entry| is_list(path) || (path.starts_with(TOP) && is_wanted(path, entry)));
    let programs = folder.entries().filter(|(path, entry)| path.starts_with(TOP) && is_program(path, entry));
    let paths = programs.map(|(path, _)| (name(path), path.to_string())).collect();
    Programs { paths, in_place: true }
}

fn is_list(path: &str) -> bool {
    path.starts_with("runtest/")
}

/// Scripts that others read in need not be executable.
fn is_program(path: &str, entry: &Entry) -> bool {
    (entry.is_executable() || path.ends_with(".sh")) && *entry != Entry::Directory
}

/// What a built tree holds besides its sources.
fn is_wanted(path: &str, entry: &Entry) -> bool {
    is_program(path, entry) || path.split('/').any(|part| DATA.contains(&part))
}

impl Programs {
    /// The path of a program in the folder.
    pub(super) fn find(&self, name: &str) -> Option<&str> {
        self.paths.get(name).map(String::as_str)
    }

    /// Links by which programs that are scattered are found in one directory.
    pub(super) fn links(&self, place: &str) -> Vec<(String, String)> {
        if !self.in_place {
            return Vec::new();
        }
        let link =
            |(name, path): (&String, &String)| (format!("{place}/{BIN}{name}"), format!("{place}/{path}"));
        self.paths.iter().map(link).collect()
    }
}
