//! Mails that are signed by the tools that people use: patatt, dkimpy, and gpg.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fixture::NEVER;
use kernel::{Context, Store};
use series::Mail;

use crate::*;

mod developer;
mod dkim;
mod forged;
mod openpgp;

/// A patch whose mail has something that is encoded on its way.
const MAIL: &str = "From: =?utf-8?q?=C3=85sa_=C3=96berg?= <asa@example.org>\nTo: list@example.com\nMessage-ID: <1@example.org>\n\
    Date: Wed, 1 Jan 2025 10:00:00 +0000\nSubject: [PATCH v2 1/2] fs: größer\nMIME-Version: 1.0\n\
    Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nBecause it is größer = better.\n\n\
    Signed-off-by: Åsa Öberg <asa@example.org>\n---\n a | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n\
    diff --git a/a b/a\nindex 7898192..6178079 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b = c\n-- \n2.39.5\n";

/// What lists write below mails.
const FOOTER: &str = "_______________________________________________\nlist mailing list\nlist@example.com\n";

/// A host with a store, and a home for tools.
struct Place {
    directory: tempfile::TempDir,
    keys: Keys,
}

impl Drop for Place {
    /// The agent with the secret keys of tests.
    fn drop(&mut self) {
        let _ = self.command("gpgconf").args(["--kill", "all"]).output();
    }
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let gnupg = directory.path().join("gnupg");
        fs::create_dir(&gnupg).unwrap();
        fs::set_permissions(&gnupg, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let rings = vec![Keyring::Folder(directory.path().join("rings"))];
        let keys = Keys { gnupg_home: Some(gnupg), rings, staleness: 0, ..Keys::default() };
        Self { directory, keys }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        fixture::write(&self.path(name), std::str::from_utf8(content).unwrap());
        self.path(name)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("GNUPGHOME", self.path("gnupg"))
            .env("HOME", self.directory.path())
            .env("LC_ALL", "C.UTF-8");
        command.current_dir(self.directory.path());
        command
    }

    /// What a tool writes about this input.
    fn run(&self, program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = self
            .command(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        child.stdin.take().unwrap().write_all(input).unwrap();
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
        done.stdout
    }

    fn gpg(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let fixed = ["--batch", "--quiet", "--yes", "--passphrase", "", "--pinentry-mode", "loopback"];
        self.run("gpg", &[&fixed, arguments].concat(), input)
    }

    /// Makes a key of OpenPGP for an address: its fingerprint.
    fn openpgp_key(&self, address: &str) -> String {
        let name = format!("A. Developer <{address}>");
        self.gpg(&["--quick-generate-key", &name, "ed25519", "sign", "never"], b"");
        let listed = String::from_utf8(self.gpg(&["--with-colons", "--list-keys", address], b"")).unwrap();
        let line = listed.lines().find(|line| line.starts_with("fpr:")).unwrap();
        line.split(':').nth(9).unwrap().to_owned()
    }

    fn signatures(&mut self, raw: &[u8]) -> Vec<Signature> {
        let store = Store::new(self.path("store"));
        let mut context = Context { store: &store, listener: &mut |_| {}, interrupt: &NEVER };
        let mail = Mail::read(raw, 1).remove(0);
        self.keys.signatures(&mail, &mut context).unwrap()
    }

    /// The only signature.
    fn signature(&mut self, raw: &[u8]) -> Signature {
        let mut found = self.signatures(raw);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    fn state(&mut self, raw: &[u8]) -> State {
        self.signature(raw).state
    }

    /// The reason for which a signature is bad.
    fn fault(&mut self, raw: &[u8]) -> String {
        match self.state(raw) {
            State::Bad(reason) => reason,
            other => panic!("{other:?}"),
        }
    }
}

/// The mail with one byte changed, at each of these places.
fn changed(raw: &[u8], places: impl Iterator<Item = usize>) -> impl Iterator<Item = (usize, Vec<u8>)> {
    places.map(|place| {
        let mut raw = raw.to_vec();
        // Letters stay letters, so that the mail stays one.
        raw[place] = if raw[place] == b'x' { b'y' } else { b'x' };
        (place, raw)
    })
}

fn position(raw: &[u8], text: &str) -> usize {
    raw.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
}

/// The mail in quoted-printable, as servers that are not clean for 8 bits send it.
fn quoted(raw: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(raw).unwrap().replace("Encoding: 8bit", "Encoding: quoted-printable");
    let (head, body) = text.split_once("\n\n").unwrap();
    let mut quoted = format!("{head}\n\n").into_bytes();
    for (at, byte) in body.bytes().enumerate() {
        // A space at the end of a line would be lost: RFC 2045, 6.7.
        let is_last = body.as_bytes().get(at + 1) == Some(&b'\n');
        match byte {
            b' ' if is_last => quoted.extend(b"=20"),
            b'\n' | b' '..=b'<' | b'>'..=b'~' => quoted.push(byte),
            _ => quoted.extend(format!("={byte:02X}").bytes()),
        }
    }
    quoted
}

fn with_crlf(raw: &[u8]) -> Vec<u8> {
    String::from_utf8(raw.to_vec()).unwrap().replace('\n', "\r\n").into_bytes()
}

#[test]
fn a_mail_without_a_signature_has_none() {
    let mut place = Place::new();
    assert_eq!(place.signatures(MAIL.as_bytes()), []);
    assert!(!Path::new(&place.path("gnupg/pubring.kbx")).exists(), "nobody was asked");
}

/// What the fuzz target takes for signed is so.
#[test]
fn the_examples_for_fuzzing_are_signed() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz");
    let mut place = Place::new();
    place.keys.domains = DomainKeys::new(None);
    place.keys.domains.give(&fuzz.join("keys/zone")).unwrap();
    place.keys.rings = vec![Keyring::Folder(fuzz.join("keys"))];
    place.gpg(&["--import", fuzz.join("keys/openpgp.asc").to_str().unwrap()], b"");
    for name in ["dkim", "developer", "clear", "multipart"] {
        let raw = fs::read(fuzz.join("examples/signatures").join(name)).unwrap();
        let signature = place.signature(&raw);
        assert!(signature.proves(), "{name}: {signature:?}");
    }
}
