//! The configuration of the last build in a directory: Kconfig takes seconds to give the same again.

use std::path::Path;

use kernel::Context;
use kernel::store::{persist_json, read_json};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::source::Source;

/// Endings of files that Kconfig does not read.
const OF_CODE: [&str; 8] = ["c", "h", "S", "dts", "dtsi", "rst", "txt", "yaml"];

/// The folder of the programs that Kconfig runs, and what they compile to learn what a compiler can do.
const SCRIPTS: &str = "scripts";

/// What Kconfig gave.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Earlier {
    /// The source, as a tree of git.
    tree: String,
    /// What was asked for, and with which tools.
    asked: String,
    /// The `.config`.
    text: String,
}

impl Earlier {
    /// The `.config` that Kconfig would give again for what is `asked`, and the paths that have changed in the source since.
    pub(crate) fn of(
        path: &Path,
        asked: &str,
        source: &Source,
        context: &mut Context<'_>,
    ) -> Result<Option<(String, Vec<String>)>, Error> {
        let Some(earlier) = read_json::<Self>(path).filter(|earlier| earlier.asked == asked) else {
            return Ok(None);
        };
        let changed = source.changed_since(&earlier.tree, context)?;
        let changed = changed.filter(|paths| paths.iter().all(|path| is_code(path)));
        Ok(changed.map(|changed| (earlier.text, changed)))
    }

    /// Has Kconfig asked the next time.
    pub(crate) fn forget(path: &Path) -> Result<(), Error> {
        std::fs::remove_file(path).map_err(Error::io("remove", path))
    }

    /// Keeps what Kconfig gave for this tree.
    pub(crate) fn keep(path: &Path, tree: &str, asked: &str, text: &str) -> Result<(), Error> {
        let [tree, asked, text] = [tree, asked, text].map(str::to_owned);
        persist_json(path, &Self { tree, asked, text }).map_err(Error::io("write", path))
    }
}

fn is_code(path: &str) -> bool {
    let path = Path::new(path);
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| OF_CODE.contains(&ending)) && !path.starts_with(SCRIPTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_may_speak_to_kconfig_is_not_code() {
        for path in ["kernel/sys.c", "include/linux/fs.h", "Documentation/x/Kconfig.rst", "arch/x86/entry.S"]
        {
            assert!(is_code(path), "{path}");
        }
        for path in
            ["Makefile", "fs/Kconfig", "fs/Kconfig.c.debug", "scripts/kconfig/conf.c", "rust/x.rs", "c"]
        {
            assert!(!is_code(path), "{path}");
        }
    }
}
