//! Where the selftests are that the user named.

use std::path::{Path, PathBuf};

use kernel::Kernel;

use crate::suites::Error;

/// Where a kernel's source keeps them.
const SELFTESTS: &str = "tools/testing/selftests";

/// Groups that are named to somebody who named none of them.
const HINTS: usize = 3;

/// What a user's word for selftests means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// They are installed there.
    Installed(PathBuf),
    /// They are to be built.
    Tree(Tree),
    /// A group of the tested kernel's own tree.
    Group(String),
}

/// A kernel tree, and what is wanted of its selftests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The top of the tree.
    pub root: PathBuf,
    /// One group, or all.
    pub group: Option<String>,
}

/// What `text` names.
///
/// # Errors
///
/// When it is a folder without selftests, or nothing that could be a group.
pub fn locate(text: &str) -> Result<Place, Error> {
    let path = Path::new(text);
    match path.canonicalize() {
        Ok(folder) if super::is_installed(&folder) => Ok(Place::Installed(folder)),
        Ok(folder) => {
            let tree = in_tree(&folder).ok_or_else(|| Error::NoSelftests { path: path.to_owned() })?;
            Ok(Place::Tree(tree.checked()?))
        }
        Err(source) if text.starts_with(['/', '.', '~']) || text.is_empty() => {
            Err(Error::Path { path: path.to_owned(), source })
        }
        Err(_) => Ok(Place::Group(text.to_string())),
    }
}

/// The tree that a kernel was built from, as far as its image tells.
#[must_use]
pub fn tree_of(kernel: &Kernel) -> Option<PathBuf> {
    let image = kernel.image.canonicalize().ok()?;
    // A build in a directory of its own leaves a link to its source there.
    let places = image.ancestors().flat_map(|above| [above.to_owned(), above.join("source")]);
    places.into_iter().find(|root| has_selftests(root))
}

fn has_selftests(root: &Path) -> bool {
    root.join(SELFTESTS).join("Makefile").is_file()
}

/// The tree that a folder belongs to, and the group if it is one.
fn in_tree(folder: &Path) -> Option<Tree> {
    let root = folder.ancestors().find(|root| has_selftests(root))?;
    let group = match folder.strip_prefix(root.join(SELFTESTS)) {
        Ok(group) => group.to_str()?,
        Err(_) if folder == root => "",
        Err(_) => return None,
    };
    Some(Tree { root: root.to_owned(), group: (!group.is_empty()).then(|| group.to_string()) })
}

impl Tree {
    /// The same, if there is such a group.
    ///
    /// # Errors
    ///
    /// When there is none; close ones are named.
    pub fn checked(self) -> Result<Self, Error> {
        let Some(group) = &self.group else { return Ok(self) };
        let selftests = self.root.join(SELFTESTS);
        // What is given to make as a target must be nothing else to it, nor to a shell.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let is_name = |part: &str| !part.is_empty() && !part.starts_with('-') && part.chars().all(is_plain);
        if group.split('/').all(is_name) && selftests.join(group).join("Makefile").is_file() {
            return Ok(self);
        }
        Err(Error::NoGroup { hint: hint(&selftests, group), group: group.clone(), tree: self.root })
    }

    /// Where its selftests are.
    pub(super) fn selftests(&self) -> PathBuf {
        self.root.join(SELFTESTS)
    }
}

/// Names of groups that begin or go on like `wanted`.
fn hint(selftests: &Path, wanted: &str) -> String {
    let entries = std::fs::read_dir(selftests).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let groups = names.filter(|name| selftests.join(name).join("Makefile").is_file());
    let shared = |name: &str| name.chars().zip(wanted.chars()).take_while(|(a, b)| a == b).count();
    let is_close =
        |name: &String| shared(name) >= 3 || name.contains(wanted) || wanted.contains(name.as_str());
    let mut close: Vec<String> = groups.filter(is_close).collect();
    close.sort_by_key(|name| (std::cmp::Reverse(shared(name)), name.clone()));
    close.truncate(HINTS);
    if close.is_empty() { String::new() } else { format!(" (did you mean {}?)", close.join(", ")) }
}
