//! What axe-core finds: <https://github.com/dequelabs/axe-core>.

use std::path::Path;

use super::listed;
use crate::{Error, Tab};

/// Where `scripts/setup proof` installs it.
const AXE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target/browser/node_modules/axe-core/axe.min.js");

/// What it finds in the page that is shown.
pub(super) fn faults(tab: &Tab<'_>) -> Result<Vec<String>, Error> {
    let axe = std::fs::read_to_string(Path::new(AXE))
        .map_err(|error| Error::Missing { what: AXE.to_owned(), why: error.to_string() })?;
    // What a test evaluates is not subject to the page's policy for contents.
    tab.evaluate(&format!("{axe}; undefined"))?;
    listed(tab, include_str!("axe.js"))
}
