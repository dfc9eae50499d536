//! Mails with signatures: whatever is done to them, what they prove is what was signed.
//!
//! The examples were signed by dkimpy and patatt with the key of RFC 8032, 7.1, test 1, and by gpg with a key that nobody has.

#![no_main]

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use attestation::{DomainKeys, Keyring, Keys, Method, Signature};
use kernel::{Context, Store};
use libfuzzer_sys::fuzz_target;
use series::{Composed, Mail};
use tempfile::TempDir;

const KEYS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/keys");
const PATCH: &[u8] = include_bytes!("../examples/signatures/dkim");
const TALK: &str = "Lunch at noon?";

/// Each may run git and gpg, and an input has a limit of time.
const MAILS_MAX: usize = 3;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A folder of gpg with the key.
static GNUPG: LazyLock<TempDir> = LazyLock::new(|| {
    let Ok(home) = tempfile::tempdir() else { panic!("no temporary folder") };
    let mut gpg = Command::new("gpg");
    gpg.args(["--quiet", "--batch", "--no-autostart", "--homedir"]).arg(home.path());
    let done = gpg.arg("--import").arg(Path::new(KEYS).join("openpgp.asc")).status();
    assert!(done.is_ok_and(|status| status.success()), "gpg, which scripts/setup installs, takes the key");
    home
});

static SIGNED: LazyLock<String> = LazyLock::new(|| applied(&Mail::read(PATCH, 1)[0]));

fuzz_target!(|input: &[u8]| {
    for mail in Mail::read(input, 1).into_iter().take(MAILS_MAX) {
        let proofs = signatures(&mail).into_iter().filter(Signature::proves);
        for signature in proofs {
            assert!(is_signed(&mail, signature.method), "{signature:?} of {mail:?}");
        }
    }
});

fn signatures(mail: &Mail) -> Vec<Signature> {
    let mut domains = DomainKeys::new(None);
    assert!(domains.give(&Path::new(KEYS).join("zone")).is_ok());
    let rings = vec![Keyring::Folder(KEYS.into())];
    let gnupg_home = Some(GNUPG.path().to_owned());
    let mut keys = Keys { domains, rings, gnupg_home, ..Keys::default() };
    let store = Store::new(GNUPG.path().join("store"));
    let mut context = Context { store: &store, listener: &mut |_| {}, interrupt: &NEVER };
    match keys.signatures(mail, &mut context) {
        Ok(signatures) => signatures,
        Err(error) => panic!("{error}: {mail:?}"),
    }
}

/// Whether a mail is one of the examples. OpenPGP signs no header, and lists write something below what developers sign.
fn is_signed(mail: &Mail, method: Method) -> bool {
    match method {
        Method::OpenPgp => !mail.has_patch() && dense(&mail.text).contains(&dense(TALK)),
        Method::Dkim => applied(mail) == *SIGNED,
        Method::Developer => applied(mail).starts_with(SIGNED.as_str()),
    }
}

/// What would be applied of a mail.
fn applied(mail: &Mail) -> String {
    let read = Composed::of(mail);
    let patch = String::from_utf8_lossy(&read.patch);
    dense(&format!("{}\n{}\n{}\n{patch}", read.author.address, read.subject, read.message))
}

/// Without white space, which is not all signed.
fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}
