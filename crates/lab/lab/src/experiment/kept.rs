//! Files that an experiment keeps with its results.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use judge::Blame;
use script::{ErrorName, Trouble};

/// Files that an experiment can keep.
const FILES_MAX: u32 = 1000;

/// Longest name of one.
const NAME_MAX: usize = 80;

/// The folder for them.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) folder: PathBuf,
    count: AtomicU32,
}

impl Kept {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, count: AtomicU32::new(0) }
    }

    /// A place for a file: its name in the folder, and its path.
    pub(super) fn place(&self, name: &str) -> Result<(String, PathBuf), Trouble> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        if number >= FILES_MAX {
            let text = format!("an experiment keeps at most {FILES_MAX} files");
            return Err(Trouble::new(ErrorName::Refused, text));
        }
        let name = format!("{number}-{}", harmless(name));
        let path = self.folder.join(&name);
        Ok((name, path))
    }

    /// Keeps a file; gives its name in the folder.
    pub(super) fn keep(&self, name: &str, content: &[u8]) -> Result<String, Trouble> {
        let (name, path) = self.place(name)?;
        let failed =
            |error: std::io::Error| Trouble::broken(Blame::Host, format!("{}: {error}", path.display()));
        std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(&path, content))
            .map_err(failed)?;
        Ok(name)
    }
}

/// The last part of a path in a guest, without anything that a terminal or a shell obeys.
fn harmless(path: &str) -> String {
    let base = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    base.chars().take(NAME_MAX).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_guests_get_names_of_their_own_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::new(folder.path().join("results"));
        let names: Vec<String> =
            ["/var/log/x", "../../x", "x\u{1b}[2J"].map(|name| kept.keep(name, b"content").unwrap()).to_vec();
        assert!(
            names.iter().enumerate().all(|(number, name)| name.starts_with(&format!("{number}-"))),
            "{names:?}"
        );
        for name in names {
            assert!(!name.contains('/') && !name.contains('\u{1b}'), "{name:?}");
            assert_eq!(std::fs::read(kept.folder.join(name)).unwrap(), b"content");
        }
    }
}
