//! Made-up trees for tests.

use std::collections::BTreeMap;

use super::error::Error;
use super::macros::Variables;
use super::symbols::Symbols;

/// Reads a tree for x86 from paths and texts.
pub(super) fn read(files: &[(&str, &str)]) -> Result<Symbols, Error> {
    let variables = Variables::from([("SRCARCH".to_owned(), "x86".to_owned())]);
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    let mut text = |path: &str| files.get(path).map(ToString::to_string).ok_or("no such file".to_owned());
    Symbols::read(&variables, &mut text)
}

/// Reads a tree of one file.
pub(super) fn symbols(text: &str) -> Symbols {
    read(&[("Kconfig", text)]).unwrap()
}
