//! What `latest` and other names that move meant when apt was last asked.
//!
//! Asking takes apt up to a second; until its lists change the answer stays the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::store::{Store, persist_json, read_json};

/// Names that are remembered; with more all are forgotten.
const NAMES: usize = 64;

/// The answer to one name.
#[derive(Debug, Serialize, Deserialize)]
struct Meaning {
    /// The state of apt's lists that it was read from.
    lists: String,
    package: String,
    version: String,
}

/// A version of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// The package that `text` means.
pub fn recall(store: &Store, text: &str, lists: &str) -> Option<Package> {
    let mut known: BTreeMap<String, Meaning> = read_json(&store.meanings())?;
    let meaning = known.remove(text).filter(|meaning| meaning.lists == lists)?;
    Some(Package { name: meaning.package, version: meaning.version })
}

/// Keeps what `text` means while apt's lists are as they are.
pub fn remember(store: &Store, text: &str, lists: String, package: Package) {
    let path = store.meanings();
    let mut known: BTreeMap<String, Meaning> = read_json(&path).unwrap_or_default();
    if known.len() >= NAMES {
        known.clear();
    }
    let meaning = Meaning { lists, package: package.name, version: package.version };
    known.insert(text.to_owned(), meaning);
    // Without it apt is asked again, which costs a second and nothing else.
    let _ = persist_json(&path, &known);
}
