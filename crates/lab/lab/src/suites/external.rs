//! What the suites of others have in common.

use std::path::Path;
use std::time::Duration;

use kernel::PartsHash;
use machine::{Folder, folder};
use protocol::{Command, Need};

use super::Error;
use super::select::matching;
use judge::Dialect;

/// Most cases of one suite.
const CASES_MAX: usize = 20_000;

/// Longest name of a case in bytes: it becomes the name of a file.
pub(super) const NAME_MAX: usize = 200;

/// Things that were left out of which each is named.
const NAMED: usize = 5;

/// A suite of others: a folder of the host, and the commands that run in it.
#[derive(Debug)]
pub struct External {
    /// Its name.
    pub name: String,
    /// In the order in which they run.
    pub cases: Vec<ExternalCase>,
    /// What its cases mean by their exit status and output.
    pub(super) dialect: Dialect,
    /// What is shipped.
    pub(super) folder: Folder,
    /// What the suite says about its cases, which is read and not shipped.
    pub(super) metadata: Vec<u8>,
    /// Where it is in the machine.
    pub(super) place: &'static str,
    /// Links besides those in the folder, each with its target.
    pub(super) links: Vec<(String, String)>,
    /// What is worth knowing and belongs to no case.
    pub(super) notes: Vec<String>,
}

/// A case of such a suite.
#[derive(Debug, Clone)]
pub struct ExternalCase {
    /// Its name.
    pub name: String,
    /// What is run.
    pub about: String,
    /// Its time limit on an unloaded machine.
    pub limit: Duration,
    /// How long it says that it takes at most.
    pub(super) runtime: Option<Duration>,
    /// How it is started in the machine.
    pub(super) command: Command,
    /// The program behind the command.
    pub(super) program: Behind,
    /// What it says that it needs. Where kernel or host lack some of it, the case itself judges that.
    pub(super) asks: Vec<Need<String>>,
    /// Options of the kernel's configuration that its suite asks for; some of its cases can do without.
    pub(super) options: Vec<String>,
    /// Why it cannot be run, where that is known without looking at any program.
    pub(super) skip: Option<String>,
}

/// What a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Behind {
    /// A file of the folder.
    File(String),
    /// A program that the machine should have, by its name.
    Name(String),
    /// Only a shell can tell.
    Unknown,
}

impl External {
    /// The same suite with only the cases that match one of `patterns`.
    pub(super) fn select(self, patterns: &[String]) -> Result<Self, Error> {
        let cases = matching(&self.name, self.cases, |case| &case.name, patterns)?;
        Ok(Self { cases, ..self })
    }

    /// Changes with the content of anything that is shipped.
    ///
    /// # Errors
    ///
    /// When something of it cannot be read.
    pub fn identity(&self) -> Result<String, Error> {
        let mut hash = PartsHash::default();
        hash.part(self.folder.identity()?);
        hash.part(&self.metadata);
        // How long tests go on, for one.
        self.cases.iter().flat_map(|case| &case.command.environment).for_each(|(name, value)| {
            hash.part(name);
            hash.part(value);
        });
        Ok(hash.finish())
    }

    /// The same suite, if it can be run at all.
    pub(super) fn checked(mut self, why: &'static str) -> Result<Self, Error> {
        let path = self.folder.root().to_owned();
        if self.cases.is_empty() {
            return Err(Error::NoCases { path, why });
        }
        let (mib, most) = (self.folder.size() >> 20, folder::SIZE_MAX >> 20);
        if mib >= most {
            return Err(Error::TooLarge { path, mib, most });
        }
        if self.cases.len() > CASES_MAX {
            self.notes.push(format!("only the first {CASES_MAX} of {} cases are run", self.cases.len()));
            self.cases.truncate(CASES_MAX);
        }
        let left_out = self.folder.left_out();
        self.notes.extend(left_out.iter().take(NAMED).map(|text| format!("not shipped: {text}")));
        if left_out.len() > NAMED {
            self.notes.push(format!("not shipped: {} more", left_out.len() - NAMED));
        }
        Ok(self)
    }
}

/// The last part of a path, or all of it.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
