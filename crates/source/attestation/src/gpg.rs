//! GnuPG, which knows OpenPGP: gpg(1). It only reads, and starts nothing that stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::Task;
use host::task::Failure;
use kernel::Context;
use tempfile::TempDir;

use crate::Error;
use crate::outcome::State;

const LIMIT: Duration = Duration::from_secs(60);

/// What is signed, and by what.
pub(crate) enum Signed<'a> {
    /// In one piece, be it binary or clear-signed.
    Whole(&'a [u8]),
    /// The text, and a signature beside it.
    Detached { text: &'a [u8], signature: &'a [u8] },
}

/// Where the keys are.
pub(crate) enum Ring<'a> {
    /// The user's own: gpg's default, or this folder.
    Users(Option<&'a Path>),
    /// These keys and no other.
    These(&'a [u8]),
}

/// What gpg says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verified {
    Good(Good),
    Bad(String),
    /// The key is not there.
    NoKey,
    /// gpg is not there.
    NoProgram,
}

/// A good signature.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Good {
    /// Of the primary key.
    pub(crate) fingerprint: String,
    /// When it was signed, in seconds since 1970.
    pub(crate) signed: i64,
    /// The addresses of the key, in lower case.
    pub(crate) addresses: Vec<String>,
    /// What is signed, if it is in one piece with its signature.
    pub(crate) text: Vec<u8>,
}

impl Verified {
    /// What it says of a signature for an address: a key that a keyring of developers has for the address needs no other proof,
    /// one of the user's own must have the address.
    pub(crate) fn state(&self, address: &str, is_ringed: bool) -> State {
        match self {
            Self::Good(good) if is_ringed || good.is_of(address) => State::Good,
            Self::Good(_) => State::UnknownKey(format!("it is not that of {address}")),
            Self::Bad(reason) => State::Bad(reason.clone()),
            Self::NoKey => State::UnknownKey("no keyring has it".to_owned()),
            Self::NoProgram => State::NotChecked("install gnupg".to_owned()),
        }
    }
}

impl Good {
    fn is_of(&self, address: &str) -> bool {
        self.addresses.iter().any(|other| other.eq_ignore_ascii_case(address))
    }
}

/// Checks a signature.
pub(crate) fn verify(
    signed: &Signed<'_>,
    ring: &Ring<'_>,
    context: &mut Context<'_>,
) -> Result<Verified, Error> {
    let desk = Desk::new(ring)?;
    match desk.verify(signed, ring, context) {
        Err(Error::Program(Failure::Missing(_))) => Ok(Verified::NoProgram),
        done => done,
    }
}

/// Whether the user has any key with an address, also one that no longer counts.
pub(crate) fn knows(address: &str, home: Option<&Path>, context: &mut Context<'_>) -> Result<bool, Error> {
    // No program takes a zero byte, and no key has one.
    if address.contains('\0') {
        return Ok(false);
    }
    let desk = Desk::new(&Ring::Users(home))?;
    match desk.gpg(&["--with-colons", "--list-keys", &format!("<{address}>")], context) {
        Err(Error::Program(Failure::Missing(_))) => Ok(false),
        listed => Ok(listed?.lines().any(|line| line.starts_with("pub:"))),
    }
}

/// A folder for files that gpg reads and writes.
struct Desk {
    folder: TempDir,
    /// Nothing for gpg's default.
    home: Option<PathBuf>,
}

impl Desk {
    fn new(ring: &Ring<'_>) -> Result<Self, Error> {
        let folder =
            tempfile::tempdir().map_err(kernel::Error::io("make a folder in", &std::env::temp_dir()))?;
        let home = match ring {
            Ring::Users(home) => home.map(Path::to_owned),
            Ring::These(_) => Some(folder.path().to_owned()),
        };
        Ok(Self { folder, home })
    }

    fn verify(
        &self,
        signed: &Signed<'_>,
        ring: &Ring<'_>,
        context: &mut Context<'_>,
    ) -> Result<Verified, Error> {
        if let Ring::These(keys) = ring {
            let keys = self.file("keys", keys)?;
            self.gpg(&["--import", &keys], context)?;
        }
        let text = self.folder.path().join("text").display().to_string();
        let status = match signed {
            Signed::Whole(whole) => {
                // A text is no longer than what holds it, unless it unpacks without end.
                let most = whole.len().to_string();
                let whole = self.file("whole", whole)?;
                // This decrypts nothing: a stranger's mail has no business with secret keys.
                self.gpg(&["--max-output", &most, "--output", &text, "--verify", &whole], context)?
            }
            Signed::Detached { text, signature } => {
                let (text, signature) = (self.file("detached", text)?, self.file("signature", signature)?);
                self.gpg(&["--verify", &signature, &text], context)?
            }
        };
        let mut good = match verdict(&status) {
            Verified::Good(good) => good,
            other => return Ok(other),
        };
        let listed = self.gpg(&["--with-colons", "--list-keys", &good.fingerprint], context)?;
        good.addresses = addresses(&listed);
        // There is none beside a detached signature.
        good.text = fs::read(&text).unwrap_or_default();
        Ok(Verified::Good(good))
    }

    /// Runs gpg, whatever its exit status: what it has to say is on its status lines.
    fn gpg(&self, arguments: &[&str], context: &mut Context<'_>) -> Result<String, Error> {
        const FIXED: [&str; 8] = [
            "--batch",
            "--no-tty",
            "--yes",
            "--no-autostart",
            "--no-auto-key-retrieve",
            "--no-auto-check-trustdb",
            "--trust-model=always",
            "--status-fd=1",
        ];
        let home = self.home.as_ref().map(|home| home.display().to_string());
        let home = home.as_deref().map(|home| ["--homedir", home]);
        let home = home.as_ref().map_or(&[][..], |home| &home[..]);
        let all = [&FIXED, home, arguments].concat();
        Ok(Task::new("gpg", &all, context.interrupt).limit(LIMIT).run(&mut || {})?.output)
    }

    fn file(&self, name: &str, content: &[u8]) -> Result<String, Error> {
        let path = self.folder.path().join(name);
        fs::write(&path, content).map_err(kernel::Error::io("write", &path))?;
        Ok(path.display().to_string())
    }
}

/// What the status lines say: doc/DETAILS of GnuPG.
fn verdict(status: &str) -> Verified {
    let line = |word: &str| {
        status
            .lines()
            .filter_map(|line| line.strip_prefix("[GNUPG:] "))
            .find_map(|line| line.strip_prefix(word))
    };
    for (word, reason) in [
        ("BADSIG ", "the text was changed"),
        ("EXPSIG ", "the signature has expired"),
        ("EXPKEYSIG ", "the key has expired"),
        ("REVKEYSIG ", "the key was revoked"),
    ] {
        if line(word).is_some() {
            return Verified::Bad(reason.to_owned());
        }
    }
    if line("NO_PUBKEY ").is_some() {
        return Verified::NoKey;
    }
    // Two signatures by one key and another are more than is asked for.
    let is_single = status.matches("[GNUPG:] GOODSIG ").count() == 1;
    match line("VALIDSIG ").map(|line| line.split(' ').collect::<Vec<_>>()) {
        Some(fields) if is_single => Verified::Good(Good {
            fingerprint: fields.last().copied().unwrap_or_default().to_owned(),
            signed: fields.get(2).and_then(|seconds| seconds.parse().ok()).unwrap_or_default(),
            ..Good::default()
        }),
        _ => Verified::Bad("it is no signature".to_owned()),
    }
}

/// The addresses of a key that are neither revoked nor expired, from its colon listing.
fn addresses(listing: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in listing.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let is_used = fields.first() == Some(&"uid") && !matches!(fields.get(1), Some(&"r" | &"e"));
        let Some(uid) = fields.get(9).filter(|_| is_used) else { continue };
        let address = uid.rsplit_once('<').and_then(|(_, rest)| rest.strip_suffix('>')).unwrap_or(uid);
        found.push(address.to_lowercase());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lines_are_read() {
        let good = "[GNUPG:] NEWSIG\n[GNUPG:] GOODSIG 0123 A <a@x.org>\n\
                    [GNUPG:] VALIDSIG AAAA 2025-01-01 1735720200 0 4 0 22 8 00 BBBB\n";
        let expected = Good { fingerprint: "BBBB".to_owned(), signed: 1_735_720_200, ..Good::default() };
        assert_eq!(verdict(good), Verified::Good(expected));
        assert_eq!(verdict("[GNUPG:] ERRSIG 0123\n[GNUPG:] NO_PUBKEY 0123\n"), Verified::NoKey);
        for (status, words) in [
            ("[GNUPG:] BADSIG 0123 A\n", "changed"),
            (
                "[GNUPG:] EXPKEYSIG 0123 A\n[GNUPG:] VALIDSIG AAAA 2025-01-01 1 0 4 0 22 8 00 BBBB\n",
                "expired",
            ),
            ("[GNUPG:] REVKEYSIG 0123 A\n", "revoked"),
            ("[GNUPG:] NODATA 4\n", "no signature"),
            ("", "no signature"),
            (&good.repeat(2), "no signature"),
        ] {
            assert!(matches!(verdict(status), Verified::Bad(reason) if reason.contains(words)), "{status}");
        }
    }

    #[test]
    fn addresses_of_a_key_are_those_in_use() {
        let listing = "pub:u:255:22:0123:1:::u:::scESC:::::ed25519:::0:\nuid:u::::1::H::A (x) <A@X.org>::::::::::0:\n\
                       uid:r::::1::H::A <old@x.org>::::::::::0:\nuid:-::::1::H::b@x.org::::::::::0:\n";
        assert_eq!(addresses(listing), ["a@x.org", "b@x.org"]);
    }
}
