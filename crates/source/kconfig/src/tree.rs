//! The Kconfig files of a source tree on the disk.

use std::io;
use std::path::{Path, PathBuf};

/// Largest file that is taken for one of Kconfig, in bytes.
const SIZE_MAX: u64 = 4 << 20;

/// A source tree, out of which nothing is read.
#[derive(Debug)]
pub struct Tree {
    /// Without links in it.
    top: PathBuf,
}

impl Tree {
    /// A tree by its top folder.
    ///
    /// # Errors
    ///
    /// If there is nothing, or nothing that may be looked at.
    pub fn new(top: &Path) -> io::Result<Self> {
        Ok(Self { top: top.canonicalize()? })
    }

    /// The text of a file by its path from the top. Links are followed as long as they stay in the tree.
    ///
    /// # Errors
    ///
    /// One line that says why there is no text.
    pub fn text(&self, path: &str) -> Result<String, String> {
        let real = self.top.join(path).canonicalize().map_err(|error| error.to_string())?;
        if !real.starts_with(&self.top) {
            return Err("a link leads out of the tree".to_owned());
        }
        if !real.is_file() {
            return Err("not a regular file".to_owned());
        }
        match host::read_bounded(&real, SIZE_MAX) {
            Ok(Some(content)) => Ok(String::from_utf8_lossy(&content).into_owned()),
            Ok(None) => Err(format!("larger than {SIZE_MAX} bytes, the limit for a Kconfig file")),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_inside_the_tree_only() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().join("linux");
        std::fs::create_dir_all(top.join("init")).unwrap();
        std::fs::write(top.join("init/Kconfig"), "config A\n").unwrap();
        std::fs::write(directory.path().join("secret"), "x\n").unwrap();
        symlink("init/Kconfig", top.join("inside")).unwrap();
        symlink("../secret", top.join("outside")).unwrap();
        symlink("..", top.join("up")).unwrap();
        let tree = Tree::new(&top).unwrap();
        assert_eq!(tree.text("init/Kconfig").unwrap(), "config A\n");
        assert_eq!(tree.text("inside").unwrap(), "config A\n");
        for path in ["outside", "up/secret", "../secret"] {
            assert_eq!(tree.text(path).unwrap_err(), "a link leads out of the tree", "{path}");
        }
        assert_eq!(tree.text("init").unwrap_err(), "not a regular file");
        assert!(tree.text("none").unwrap_err().contains("No such file"));
    }

    #[test]
    fn what_is_no_tree_is_an_error() {
        assert!(Tree::new(Path::new("/nowhere/linux")).is_err());
    }
}
