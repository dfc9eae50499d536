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

/// The package that `text` means, and its version.
pub fn recall(store: &Store, text: &str, lists: &str) -> Option<(String, String)> {
    let mut known: BTreeMap<String, Meaning> = read_json(&store.meanings())?;
    let meaning = known.remove(text).filter(|meaning| meaning.lists == lists)?;
    Some((meaning.package, meaning.version))
}

/// Keeps what `text` means while apt's lists are as they are.
pub fn remember(store: &Store, text: &str, lists: String, (package, version): (&str, &str)) {
    let path = store.meanings();
    let mut known: BTreeMap<String, Meaning> = read_json(&path).unwrap_or_default();
    if known.len() >= NAMES {
        known.clear();
    }
    let meaning = Meaning { lists, package: package.to_owned(), version: version.to_owned() };
    known.insert(text.to_owned(), meaning);
    // Without it apt is asked again, which costs a second and nothing else.
    let _ = persist_json(&path, &known);
}
