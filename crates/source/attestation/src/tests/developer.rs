//! Signatures of patatt.

use super::*;

/// Signs what is on standard input; `KEY` stands for the secret key.
const SIGN: &str = r"
import sys, patatt
sys.stdout.buffer.write(patatt.sign_message(sys.stdin.buffer.read(), sys.argv[1], sys.argv[2].encode() if sys.argv[1] == 'ed25519' else sys.argv[2], sys.argv[3], sys.argv[4]))
";

/// The secret and the public key of RFC 8032, 7.1, test 1.
const SECRET: &str = "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";
const PUBLIC: &str = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
/// Those of test 2.
const OTHER_SECRET: &str = "TM0Imyj/ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U+4pvs=";
const OTHER: &str = "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";

const RING: &str = "rings/ed25519/example.org/asa/default";

impl Place {
    /// Gives the key of [`SECRET`] to Åsa.
    pub(super) fn ring(&self) {
        self.write(RING, PUBLIC.as_bytes());
    }

    pub(super) fn patatt(&self, kind: &str, key: &str, address: &str, selector: &str) -> Vec<u8> {
        self.run("/usr/bin/python3", &["-c", SIGN, kind, key, address, selector], MAIL.as_bytes())
    }

    pub(super) fn ed25519(&self) -> Vec<u8> {
        self.patatt("ed25519", SECRET, "asa@example.org", "default")
    }
}

#[test]
fn a_key_of_a_keyring_proves_the_sender() {
    let mut place = Place::new();
    let raw = place.ed25519();
    assert!(matches!(place.state(&raw), State::UnknownKey(_)), "the key that a mail brings proves nothing");
    place.write(RING, PUBLIC.as_bytes());
    let signature = place.signature(&raw);
    assert!(signature.proves(), "{signature:?}");
    assert_eq!((signature.signer.as_str(), signature.method), ("asa@example.org", Method::Developer));
    place.write(RING, OTHER.as_bytes());
    assert!(place.fault(&raw).contains("the key is another"));
}

#[test]
fn somebody_else_proves_nothing_of_the_sender() {
    let mut place = Place::new();
    place.write("rings/ed25519/example.com/eve/key", PUBLIC.as_bytes());
    let raw = place.patatt("ed25519", SECRET, "eve@example.com", "key");
    let signature = place.signature(&raw);
    assert_eq!((&signature.state, signature.is_senders, signature.proves()), (&State::Good, false, false));
}

#[test]
fn a_change_of_what_is_signed_is_bad_and_of_encodings_is_not() {
    let mut place = Place::new();
    place.write(RING, PUBLIC.as_bytes());
    let raw = place.ed25519();
    for same in [with_crlf(&raw), quoted(&raw), [&raw, FOOTER.as_bytes()].concat()] {
        assert_eq!(place.state(&same), State::Good, "{}", String::from_utf8_lossy(&same));
    }
    let (body, end) = (position(&raw, "Because"), position(&raw, "-- \n2.39.5"));
    let letters = (body..end).filter(|&at| raw[at].is_ascii_alphanumeric()).step_by(5);
    let subject = position(&raw, "fs: gr");
    let address = position(&raw, "asa@example.org>\nTo");
    for (at, raw) in changed(&raw, letters.chain([subject, address])) {
        let signatures = place.signatures(&raw);
        assert!(!signatures.iter().any(Signature::proves), "byte {at}: {signatures:?}");
        assert!(matches!(signatures[0].state, State::Bad(_)), "byte {at}: {signatures:?}");
    }
    let signature = position(&raw, "X-Developer-Signature");
    let key = position(&raw, "X-Developer-Key");
    // The case of a name does not count.
    let fields = (signature + 1..key).filter(|&at| raw[at].is_ascii_alphanumeric()).step_by(7);
    for (at, raw) in changed(&raw, fields) {
        let signatures = place.signatures(&raw);
        assert!(!signatures.iter().any(Signature::proves), "byte {at}: {signatures:?}");
    }
}

#[test]
fn a_patch_below_what_is_signed_is_bad() {
    let mut place = Place::new();
    place.write(RING, PUBLIC.as_bytes());
    let more = "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-a\n+evil\n";
    let raw = [&place.ed25519(), more.as_bytes()].concat();
    assert!(place.fault(&raw).contains("a patch follows"));
}

#[test]
fn the_first_key_is_trusted_and_a_second_one_makes_both_doubtful() {
    let mut place = Place::new();
    place.keys.trust = Some(Trust::at(place.path("keys")));
    let first = place.ed25519();
    assert!(place.signature(&first).proves());
    let second = place.patatt("ed25519", OTHER_SECRET, "asa@example.org", "default");
    for raw in [&second, &first] {
        let State::UnknownKey(reason) = place.state(raw) else { panic!("it is trusted") };
        assert!(reason.contains(PUBLIC) && reason.contains(OTHER), "{reason}");
    }
}

#[test]
fn a_keyring_decides_before_first_use() {
    let mut place = Place::new();
    place.keys.trust = Some(Trust::at(place.path("keys")));
    let forged = place.patatt("ed25519", OTHER_SECRET, "asa@example.org", "elsewhere");
    for ring in ["ed25519/example.org/asa/default", "openpgp/example.org/asa/work"] {
        let path = place.write(&format!("rings/{ring}"), PUBLIC.as_bytes());
        assert!(matches!(place.state(&forged), State::UnknownKey(_)), "{ring}");
        fs::remove_file(path).unwrap();
    }
    place.openpgp_key("asa@example.org");
    assert!(matches!(place.state(&forged), State::UnknownKey(_)), "gpg knows Åsa");
    assert!(!place.path("keys").exists(), "the key was not remembered");
    let unknown = place.patatt("ed25519", OTHER_SECRET, "ake@example.org", "elsewhere");
    assert_eq!(place.state(&unknown), State::Good, "nobody knows Åke");
}

#[test]
fn a_signature_that_is_much_older_than_its_mail_is_stale() {
    let mut place = Place::new();
    place.write(RING, PUBLIC.as_bytes());
    // It is signed now, and the mail is of 2025.
    let raw = place.ed25519();
    place.keys.staleness = 30;
    let signature = place.signature(&raw);
    assert!(matches!(&signature.state, State::Stale(reason) if reason.contains("days")), "{signature:?}");
    assert!(!signature.proves());
}

#[test]
fn keys_of_openpgp_are_in_keyrings_or_with_gpg() {
    let mut place = Place::new();
    let fingerprint = place.openpgp_key("asa@example.org");
    let raw = place.patatt("openpgp", &fingerprint, "asa@example.org", "default");
    let signature = place.signature(&raw);
    assert!(signature.proves() && signature.key == fingerprint, "{signature:?}");
    let key = place.gpg(&["--armor", "--export", &fingerprint], b"");
    let mut elsewhere = Place::new();
    assert!(matches!(elsewhere.state(&raw), State::UnknownKey(_)));
    elsewhere.write("rings/openpgp/example.org/asa/default", &key);
    assert!(elsewhere.signature(&raw).proves());
    let body = position(&raw, "Because");
    for (at, raw) in changed(&raw, [body, position(&raw, "fs: gr"), position(&raw, "b=") + 40].into_iter()) {
        assert!(matches!(elsewhere.state(&raw), State::Bad(_)), "byte {at}");
    }
    let stranger = place.openpgp_key("eve@example.com");
    let forged = place.patatt("openpgp", &stranger, "asa@example.org", "default");
    let State::UnknownKey(reason) = place.state(&forged) else { panic!("eve is not Åsa") };
    assert!(reason.contains("not that of asa@example.org"), "{reason}");
}

#[test]
fn a_key_of_a_stranger_does_not_dispute_one_of_a_keyring() {
    let mut place = Place::new();
    place.keys.trust = Some(Trust::at(place.path("keys")));
    let stranger = place.patatt("ed25519", OTHER_SECRET, "asa@example.org", "default");
    assert_eq!(place.state(&stranger), State::Good, "it is the first, and nobody knows Åsa");
    let fingerprint = place.openpgp_key("asa@example.org");
    let raw = place.patatt("openpgp", &fingerprint, "asa@example.org", "default");
    assert!(place.signature(&raw).proves());
    let key = place.gpg(&["--armor", "--export", &fingerprint], b"");
    place.keys.gnupg_home = Some(place.path("nobody"));
    place.write("rings/openpgp/example.org/asa/default", &key);
    assert!(place.signature(&raw).proves());
    assert!(matches!(place.state(&stranger), State::UnknownKey(_)));
}

#[test]
fn a_keyring_may_be_in_a_commit() {
    let mut place = Place::new();
    let raw = place.ed25519();
    place.write("tree/.keys/ed25519/example.org/asa/key", PUBLIC.as_bytes());
    let tree = place.path("tree");
    let link = tree.join(".keys/ed25519/example.org/asa/default");
    std::os::unix::fs::symlink("../asa/key", link).unwrap();
    let at = tree.to_str().unwrap().to_owned();
    place.run("git", &["init", "--quiet", "--initial-branch=main", &at], b"");
    place.run("git", &["-C", &at, "add", "--all"], b"");
    let user = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    place.run(
        "git",
        &[&["-C", at.as_str()], &user[..], &["commit", "--quiet", "--message", "keys"]].concat(),
        b"",
    );
    place.keys.rings = vec![Keyring::parse("patatt.keyringsrc", &format!("ref:{at}:main:.keys")).unwrap()];
    assert!(place.signature(&raw).proves());
    place.keys.trust = Some(Trust::at(place.path("keys")));
    let forged = place.patatt("ed25519", OTHER_SECRET, "asa@example.org", "elsewhere");
    assert!(matches!(place.state(&forged), State::UnknownKey(_)));
}

#[test]
fn a_mail_in_another_character_set_is_checked_as_it_was_signed() {
    let mut place = Place::new();
    place.ring();
    let latin: Vec<u8> = MAIL
        .replace("=?utf-8?q?=C3=85sa_=C3=96berg?=", "=?iso-8859-1?q?=C5sa_=D6berg?=")
        .replace("fs: größer", "=?iso-8859-1?q?fs=3A_gr=F6=DFer?=")
        .replace("charset=utf-8", "charset=iso-8859-1")
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    let raw =
        place.run("/usr/bin/python3", &["-c", SIGN, "ed25519", SECRET, "asa@example.org", "default"], &latin);
    let signature = place.signature(&raw);
    assert!(signature.proves(), "{signature:?}");
}

#[test]
fn a_signature_of_openpgp_that_is_much_younger_than_its_mail_is_stale() {
    let mut place = Place::new();
    let key = place.openpgp_key("asa@example.org");
    let raw = place.patatt("openpgp", &key, "asa@example.org", "default");
    assert!(place.signature(&raw).proves());
    place.keys.staleness = 30;
    assert!(matches!(place.state(&raw), State::Stale(_)));
}
