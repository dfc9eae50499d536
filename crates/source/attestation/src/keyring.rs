//! Keys of developers in files, as patatt keeps them: `ed25519/DOMAIN/LOCAL/SELECTOR` and `openpgp/DOMAIN/LOCAL/SELECTOR`.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;

use history::{Object, Objects};
use kernel::Context;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Error;

/// All but the unreserved characters of RFC 3986, 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Largest key.
const KEY_MAX: u64 = 1 << 20;

/// All kinds of keys that patatt keeps.
const KINDS: [&str; 3] = ["ed25519", "openpgp", "openssh"];

/// A place with keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keyring {
    /// A folder.
    Folder(PathBuf),
    /// A folder of a commit.
    Commit {
        /// The repository.
        repository: PathBuf,
        /// A branch, a tag, or `HEAD`.
        reference: String,
        /// The folder.
        path: String,
    },
}

impl Keyring {
    /// Reads a folder, or `ref:REPOSITORY:REF:PATH`, in which the repository of this directory and `HEAD` may be left out.
    ///
    /// # Errors
    ///
    /// When parts are missing. `key` is the setting that says it.
    pub fn parse(key: &'static str, text: &str) -> Result<Self, Error> {
        let Some(rest) = text.strip_prefix("ref:") else {
            return Ok(Self::Folder(at_home(text)));
        };
        let parts: Vec<&str> = rest.splitn(3, ':').collect();
        let [repository, reference, path] = parts[..] else {
            return Err(Error::Keyring { key, value: text.to_owned() });
        };
        let or = |text: &str, default: &str| if text.is_empty() { default } else { text }.to_owned();
        Ok(Self::Commit {
            repository: at_home(&or(repository, ".")),
            reference: or(reference, "HEAD"),
            path: path.to_owned(),
        })
    }

    /// The key of an address by its selector.
    pub(crate) fn find(
        &self,
        kind: &str,
        address: &str,
        selector: &str,
        context: &Context<'_>,
    ) -> Option<Vec<u8>> {
        let path = folder_of(kind, address)?.join(encoded(selector));
        match self {
            Self::Folder(folder) => host::read_bounded(&folder.join(path), KEY_MAX).ok().flatten(),
            Self::Commit { repository, reference, path: folder } => {
                let path = Path::new(folder).join(path);
                let blob = |path: &Path| object(repository, reference, path, context.interrupt)?.content;
                let found = blob(&path)?;
                // A keyring may have one key under several names.
                match link(&path, &found) {
                    Some(target) => blob(&target),
                    None => Some(found),
                }
            }
        }
    }

    /// Whether it has any key of an address.
    pub(crate) fn knows(&self, address: &str, context: &Context<'_>) -> bool {
        let mut places = KINDS.iter().filter_map(|kind| folder_of(kind, address));
        places.any(|place| match self {
            Self::Folder(folder) => {
                fs::read_dir(folder.join(place)).is_ok_and(|mut keys| keys.next().is_some())
            }
            Self::Commit { repository, reference, path } => {
                object(repository, reference, &Path::new(path).join(place), context.interrupt).is_some()
            }
        })
    }
}

/// Where the keys of an address are in a keyring.
fn folder_of(kind: &str, address: &str) -> Option<PathBuf> {
    let (local, domain) = address.rsplit_once('@')?;
    Some([kind, domain, local].map(encoded).iter().collect())
}

/// A file or a folder of a commit. A repository that is not there has none.
fn object(repository: &Path, reference: &str, path: &Path, interrupt: &AtomicBool) -> Option<Object> {
    let name = format!("{reference}:{}", path.to_str()?);
    let mut objects = Objects::named([name.as_str()], repository, KEY_MAX, interrupt).ok()?;
    objects.read().ok()??
}

/// Where a symbolic link leads, if the content is that of one.
fn link(path: &Path, content: &[u8]) -> Option<PathBuf> {
    let text = std::str::from_utf8(content).ok()?;
    let is_link = text.contains('/') && !text.contains('\n') && !text.starts_with('/') && !text.contains("=");
    let mut target = path.parent().filter(|_| is_link)?.to_owned();
    for component in Path::new(text).components() {
        match component {
            Component::Normal(name) => target.push(name),
            Component::ParentDir => {
                target.pop();
            }
            _ => {}
        }
    }
    Some(target)
}

fn at_home(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => text.into(),
    }
}

/// In lower case, as Python's `quote_plus` does it, so that a name is one part of a path and no more.
fn encoded(text: &str) -> String {
    let name = utf8_percent_encode(&text.to_lowercase(), RESERVED).to_string().replace("%20", "+");
    // The two names that are no file.
    if name.chars().all(|c| c == '.') { name.replace('.', "%2E") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyrings_are_folders_or_in_commits() {
        let commit = |repository: &str, reference: &str, path: &str| Keyring::Commit {
            repository: repository.into(),
            reference: reference.to_owned(),
            path: path.to_owned(),
        };
        let parse = |text: &str| Keyring::parse("patatt.keyringsrc", text);
        assert_eq!(parse("ref:::.keys").unwrap(), commit(".", "HEAD", ".keys"));
        assert_eq!(parse("ref:/r:refs/meta/keyring:").unwrap(), commit("/r", "refs/meta/keyring", ""));
        assert_eq!(parse("/keys").unwrap(), Keyring::Folder("/keys".into()));
        assert!(parse("ref:x").unwrap_err().to_string().starts_with("patatt.keyringsrc: ref:x: "));
    }

    #[test]
    fn no_name_leaves_its_folder() {
        assert_eq!(encoded("a+b c"), "a%2Bb+c");
        assert_eq!((encoded("../x").as_str(), encoded("..").as_str()), ("..%2Fx", "%2E%2E"));
    }

    #[test]
    fn links_lead_to_other_keys() {
        let at = Path::new(".keys/openpgp/example.org/a/default");
        let target = link(at, b"../b/default").unwrap();
        assert_eq!(target, Path::new(".keys/openpgp/example.org/b/default"));
        for key in [b"AAAA/AAA=".as_slice(), b"-----BEGIN\n/x\n", b"/etc/passwd", b"\xff/"] {
            assert_eq!(link(at, key), None);
        }
    }
}
