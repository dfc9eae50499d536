//! Trust on first use: the first key of an address is its own; a second one makes both doubtful until the user decides.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::outcome::State;

/// Most keys that are remembered: a mailbox of forgeries makes no room for another one.
const KEYS_MAX: usize = 100_000;

/// The keys that were met, in a file: an address and a key in each line. Two lines with one address are a dispute, which
/// the user settles by removing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    path: PathBuf,
    /// How many keys it may hold.
    most: usize,
}

/// What is known of the key of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It is the only one.
    Trusted,
    /// There are others, too: all of them.
    Disputed(Vec<String>),
    /// It cannot be remembered, so that another one would not be noticed.
    Unremembered,
}

impl Ruling {
    /// What a good signature is by what is known of its key.
    pub(crate) fn state(self) -> State {
        match self {
            Self::Trusted => State::Good,
            Self::Unremembered => State::UnknownKey("it cannot be remembered".to_owned()),
            Self::Disputed(keys) => State::UnknownKey(format!("there are two: {}", keys.join(" and "))),
        }
    }
}

impl Trust {
    /// Keys in this file, which need not be there.
    pub fn at(path: PathBuf) -> Self {
        Self { path, most: KEYS_MAX }
    }

    /// Where the user decides.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Remembers that an address has used a key.
    pub(crate) fn meet(&self, address: &str, key: &str) -> Result<Ruling, Error> {
        let io = |action, error| Error::Kernel(kernel::Error::io(action, &self.path)(error));
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| io("make the folder of", error))?;
        let lock = File::create(self.path.with_extension("lock")).map_err(|error| io("lock", error))?;
        lock.lock().map_err(|error| io("lock", error))?;
        let text = match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| io("read", error))?,
        };
        let address = address.to_lowercase();
        let mut keys: Vec<String> = text
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter(|(other, _)| *other == address)
            .map(|(_, key)| key.to_owned())
            .collect();
        let is_word =
            |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_control() || c.is_whitespace());
        if !keys.iter().any(|known| known == key) {
            if !is_word(&address) || !is_word(key) || text.lines().count() >= self.most {
                return Ok(Ruling::Unremembered);
            }
            keys.push(key.to_owned());
            let text = format!("{text}{address}\t{key}\n");
            host::write_atomically(&self.path, text.as_bytes()).map_err(|error| io("write", error))?;
        }
        Ok(if keys.len() == 1 { Ruling::Trusted } else { Ruling::Disputed(keys) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_key_makes_both_doubtful_until_the_user_decides() {
        let place = tempfile::tempdir().unwrap();
        let trust = Trust::at(place.path().join("kiln/keys"));
        assert_eq!(trust.meet("A@x.org", "one").unwrap(), Ruling::Trusted);
        assert_eq!(trust.meet("a@x.org", "one").unwrap(), Ruling::Trusted);
        let both = Ruling::Disputed(vec!["one".to_owned(), "two".to_owned()]);
        assert_eq!(trust.meet("a@x.org", "two").unwrap(), both);
        assert_eq!(trust.meet("a@x.org", "one").unwrap(), both);
        assert_eq!(trust.meet("b@x.org", "two").unwrap(), Ruling::Trusted);
        let text = fs::read_to_string(trust.path()).unwrap();
        fs::write(trust.path(), text.replace("a@x.org\tone\n", "")).unwrap();
        assert_eq!(trust.meet("a@x.org", "two").unwrap(), Ruling::Trusted);
    }

    #[test]
    fn no_address_writes_lines_of_others() {
        let place = tempfile::tempdir().unwrap();
        let trust = Trust::at(place.path().join("keys"));
        let ruling = trust.meet("a@x.org\nb@x.org\tkey", "one").unwrap();
        assert_eq!(ruling, Ruling::Unremembered);
        assert!(!trust.path().exists());
    }

    #[test]
    fn what_cannot_be_remembered_is_not_trusted() {
        let place = tempfile::tempdir().unwrap();
        let trust = Trust { path: place.path().join("keys"), most: 2 };
        assert_eq!(trust.meet("a@x.org", "one").unwrap(), Ruling::Trusted);
        assert_eq!(trust.meet("b@x.org", "one").unwrap(), Ruling::Trusted);
        for key in ["one", "two"] {
            assert_eq!(trust.meet("c@x.org", key).unwrap(), Ruling::Unremembered);
        }
        assert_eq!(trust.meet("a@x.org", "two").unwrap(), Ruling::Unremembered);
        assert_eq!(trust.meet("a@x.org", "one").unwrap(), Ruling::Trusted);
    }
}
