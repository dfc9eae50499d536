//! From a selection to a suite.

use std::path::{Path, PathBuf};

use crate::backend::{Waiting, store_folder};
use crate::request::Selection;
use crate::suites::kselftest::{self, Place, Tree};
use crate::suites::{Error, Suite};

/// What was chosen, as far as it is known without a kernel and without building anything.
#[derive(Debug)]
pub enum Chosen {
    /// The cases.
    Suite(Suite),
    /// Selftests that are to be built.
    Selftests(Tree),
    /// Selftests of the kernel that is tested.
    Group(String),
}

impl Selection {
    /// Checks what was chosen: a wrong name is found before anything is fetched. A program is no suite.
    ///
    /// # Errors
    ///
    /// When there are no such cases.
    pub fn check(&self) -> Result<Option<Chosen>, Error> {
        Ok(Some(match self {
            Self::Program(_) => return Ok(None),
            Self::Suite { suite, patterns } => Chosen::Suite(Suite::open(suite, patterns)?),
            Self::Selftests { place, patterns } => match kselftest::locate(place)? {
                Place::Installed(folder) => Chosen::Suite(Suite::selftests(&folder, patterns)?),
                Place::Tree(tree) => Chosen::Selftests(tree),
                Place::Group(group) => Chosen::Group(group),
            },
        }))
    }

    /// The suite; selftests are built for it, from the kernel's own `source` if just a group was named.
    ///
    /// # Errors
    ///
    /// When they do not build, or there are no such cases.
    pub fn suite(
        &self,
        chosen: Chosen,
        source: Option<PathBuf>,
        waiting: &mut Waiting<'_>,
    ) -> Result<Suite, Error> {
        let tree = match chosen {
            Chosen::Suite(suite) => return Ok(suite),
            Chosen::Selftests(tree) => tree,
            Chosen::Group(group) => of_group(group, source)?,
        };
        let installed = kselftest::build(&tree, &store_folder(), None, &mut waiting.caller())?;
        Suite::selftests(&installed, self.patterns())
    }

    /// The same cases, with selftests as a suite that stays as it is: those that are to be built are installed in `place`, a group
    /// from `source`.
    ///
    /// # Errors
    ///
    /// When there are no such selftests, and when they do not build.
    pub fn installed(
        &self,
        source: Option<PathBuf>,
        place: &Path,
        waiting: &mut Waiting<'_>,
    ) -> Result<Self, Error> {
        let Self::Selftests { place: wanted, patterns } = self else { return Ok(self.clone()) };
        let mut build = |tree| kselftest::build(&tree, &store_folder(), Some(place), &mut waiting.caller());
        let folder = match kselftest::locate(wanted)? {
            Place::Installed(folder) => folder,
            Place::Tree(tree) => build(tree)?,
            Place::Group(group) => build(of_group(group, source)?)?,
        };
        Ok(Self::Suite { suite: folder.display().to_string(), patterns: patterns.clone() })
    }

    fn patterns(&self) -> &[String] {
        match self {
            Self::Suite { patterns, .. } | Self::Selftests { patterns, .. } => patterns,
            Self::Program(_) => &[],
        }
    }
}

/// A group of a kernel's tree, if the tree is known.
fn of_group(group: String, source: Option<PathBuf>) -> Result<Tree, Error> {
    let Some(root) = source else { return Err(Error::NoTree { group }) };
    Tree { root, group: Some(group) }.checked()
}
