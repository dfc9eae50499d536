//! What is asked of the ledger.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ledger::{FoundRuns, Ledger, LedgerError, Past, Problem, RunsQuery};

/// How old an answer may be: many browsers ask at once.
const AGE: Duration = Duration::from_secs(1);

/// Most characters of the name of a session.
const NAME_MAX: usize = 100;

/// The ledger and the folder with its sessions.
#[derive(Debug)]
pub(crate) struct Store {
    root: PathBuf,
    ledger: Ledger,
    refreshed: Instant,
}

impl Store {
    /// What is known of the sessions below `root`.
    pub(crate) fn open(root: &Path) -> Result<Self, LedgerError> {
        let ledger = Ledger::open(root, &mut |_, _| {})?;
        Ok(Self { root: root.to_owned(), ledger, refreshed: Instant::now() })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The Runs that are asked for.
    pub(crate) fn runs(&mut self, query: &RunsQuery) -> Result<FoundRuns, LedgerError> {
        self.fresh()?.runs(query)
    }

    /// All problems.
    pub(crate) fn problems(&mut self) -> Result<Vec<Problem>, LedgerError> {
        self.fresh()?.problems()
    }

    /// The session of this name, which no request can have be another file.
    pub(crate) fn session(&self, name: &str) -> Option<Past> {
        is_name(name).then(|| Past::open(&self.root.join(name)))?
    }

    fn fresh(&mut self) -> Result<&mut Ledger, LedgerError> {
        if self.refreshed.elapsed() >= AGE {
            self.ledger.refresh()?;
            self.refreshed = Instant::now();
        }
        Ok(&mut self.ledger)
    }
}

/// Whether a session may be called so: `2026-11-20T10-07-31Z-4711`.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        assert!(is_name("2026-11-20T10-07-31Z-4711"));
        for wrong in ["", ".", "..", "a/b", "../../etc", "a\0", "/etc", "a b", &"a".repeat(NAME_MAX + 1)] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}
