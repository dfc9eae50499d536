//! This host's own files as a root: machines read them where they are.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kernel::PartsHash;

use crate::error::Error;
use crate::locator::below_home;
use crate::{Files, Root};

/// This host's own files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFiles {
    /// Directories that programs write to, as they are on this host; nothing else changes.
    pub writable: Vec<PathBuf>,
}

/// The root out of this host's files, of which programs write to these directories.
pub(crate) fn find(locator: &str, writable: &[PathBuf]) -> Result<Root, Error> {
    let directories: Vec<PathBuf> =
        writable.iter().map(|typed| directory(locator, typed)).collect::<Result<_, _>>()?;
    let mut hash = PartsHash::default();
    hash.part("host");
    directories.iter().for_each(|path| hash.part(path.as_os_str().as_encoded_bytes()));
    let provenance = "this host's files".to_owned();
    let files = Files::Host(HostFiles { writable: directories });
    Ok(Root { locator: locator.to_owned(), provenance, identity: hash.finish(), files })
}

fn directory(locator: &str, typed: &Path) -> Result<PathBuf, Error> {
    let refuse = |reason: &str| {
        let (locator, path) = (locator.to_owned(), typed.to_owned());
        Error::NoDirectory { locator, path, reason: reason.to_owned() }
    };
    let found = below_home(typed).canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => refuse("no such directory"),
        _ => refuse(&error.to_string()),
    })?;
    match found {
        _ if !found.is_dir() => Err(refuse("not a directory")),
        _ if found == Path::new("/") => Err(refuse("it holds all files of this host")),
        _ if found.to_str().is_none() => Err(refuse("its path is not UTF-8")),
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_to_write_to_are_there_and_are_not_all_there_is() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("inside");
        std::fs::create_dir(&inside).unwrap();
        let root = find("host:x", &[inside.join("../inside")]).unwrap();
        let Files::Host(HostFiles { writable }) = &root.files else { panic!("{root:?}") };
        assert_eq!(writable, &[inside.canonicalize().unwrap()]);
        std::fs::write(inside.join("file"), "").unwrap();
        for wrong in ["/", "/no/such", &inside.join("file").display().to_string()] {
            let error = find("host:x", &[wrong.into()]).unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(wrong), "{error}");
        }
    }
}
