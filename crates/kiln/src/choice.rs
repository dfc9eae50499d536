//! From what was said about cases to a suite.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use kernel::Store;
use lab::Suite;
use lab::suites::Error;
use lab::suites::kselftest::{self, Place, Tree};

use crate::cli::Choice;
use crate::terminal;

/// What was chosen, as far as it is known without a kernel and without building anything.
#[derive(Debug)]
pub(crate) enum Chosen {
    /// The cases.
    Suite(Suite),
    /// Selftests that are to be built.
    Selftests(Tree),
    /// Selftests of the kernel that is tested.
    Group(String),
}

impl Choice {
    /// Checks what was chosen: a wrong name is told before anything is fetched.
    pub(crate) fn check(&self) -> Result<Chosen, Error> {
        let Some(text) = &self.kselftest else {
            return Ok(Chosen::Suite(Suite::open(&self.suite, &self.case)?));
        };
        Ok(match kselftest::locate(text)? {
            Place::Installed(folder) => Chosen::Suite(Suite::selftests(&folder, &self.case)?),
            Place::Tree(tree) => Chosen::Selftests(tree),
            Place::Group(group) => Chosen::Group(group),
        })
    }

    /// The suite; selftests are built for it, from the kernel's own `source` if just a group was named.
    pub(crate) fn suite(
        &self,
        chosen: Chosen,
        source: Option<PathBuf>,
        interrupt: &AtomicBool,
    ) -> Result<Suite, Error> {
        let tree = match chosen {
            Chosen::Suite(suite) => return Ok(suite),
            Chosen::Selftests(tree) => tree,
            Chosen::Group(group) => {
                let Some(root) = source else { return Err(Error::NoTree { group }) };
                Tree { root, group: Some(group) }.checked()?
            }
        };
        let mut progress = terminal::Progress::new();
        let installed =
            kselftest::build(&tree, &Store::default_dir(), interrupt, &mut |text| progress.show(text))?;
        Suite::selftests(&installed, &self.case)
    }
}
