//! Mails that gpg has signed.

use super::*;

const HEAD: &str = "From: A <asa@example.org>\nDate: Wed, 1 Jan 2025 10:00:00 +0000\nSubject: [PATCH] x\n";
const TEXT: &str = "Because.\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n";

impl Place {
    /// RFC 3156, 5.
    pub(super) fn multipart(&self, key: &str, kind: &str) -> Vec<u8> {
        let part = format!("Content-Type: {kind}; charset=utf-8\n\n{TEXT}");
        let canonical = with_crlf(part.as_bytes());
        let signature = self.gpg(&["--local-user", key, "--armor", "--detach-sign"], &canonical);
        let signature = String::from_utf8(signature).unwrap();
        format!(
            "{HEAD}Content-Type: multipart/signed; micalg=pgp-sha512;\n protocol=\"application/pgp-signature\"; boundary=\"part\"\n\n\
             --part\n{part}\n--part\nContent-Type: application/pgp-signature\n\n{signature}\n--part--\n"
        )
        .into_bytes()
    }
}

#[test]
fn a_signed_part_is_that_of_a_key_with_the_senders_address() {
    let mut place = Place::new();
    let key = place.openpgp_key("asa@example.org");
    let raw = place.multipart(&key, "text/plain");
    let signature = place.signature(&raw);
    assert!(signature.proves() && signature.key == key, "{signature:?}");
    assert_eq!(place.state(&with_crlf(&raw)), State::Good);
    let (start, end) = (position(&raw, "Because"), position(&raw, "--part\nContent-Type: application"));
    for (at, raw) in changed(&raw, (start..end - 1).step_by(11)) {
        assert!(matches!(place.state(&raw), State::Bad(_)), "byte {at}");
    }
    let after = [&raw, b"\ndiff --git a/b b/b\n".as_slice()].concat();
    assert!(place.fault(&after).contains("a patch follows"));
    let mut elsewhere = Place::new();
    assert!(matches!(elsewhere.state(&raw), State::UnknownKey(_)));
    let stranger = place.openpgp_key("eve@example.com");
    let forged = place.multipart(&stranger, "text/plain");
    assert!(matches!(place.state(&forged), State::UnknownKey(_)));
}

#[test]
fn a_clear_signed_text_is_checked_as_it_was_written() {
    let mut place = Place::new();
    let key = place.openpgp_key("asa@example.org");
    let text = "Größer: this series\n- does something\n";
    let signed = place.gpg(&["--local-user", &key, "--clear-sign"], text.as_bytes());
    let raw = [
        HEAD.as_bytes(),
        b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n",
        &signed,
    ]
    .concat();
    assert!(place.signature(&raw).proves());
    assert!(place.signature(&quoted(&raw)).proves());
    let at = position(&raw, "this series");
    for (at, raw) in changed(&raw, [at, at + 5].into_iter()) {
        assert!(matches!(place.state(&raw), State::Bad(_)), "byte {at}");
    }
}

impl Place {
    /// What gpg says of a message with the user's keys.
    fn verified(&self, message: &[u8]) -> crate::gpg::Verified {
        let store = Store::new(self.path("store"));
        let mut context = Context { store: &store, listener: &mut |_| {}, interrupt: &NEVER };
        let home = self.path("gnupg");
        let ring = crate::gpg::Ring::Users(Some(&home));
        crate::gpg::verify(&crate::gpg::Signed::Whole(message), &ring, &mut context).unwrap()
    }
}

#[test]
fn a_signature_does_not_unpack_without_end() {
    let place = Place::new();
    let key = place.openpgp_key("asa@example.org");
    let sign = ["--local-user", &key, "--sign"];
    let small = place.gpg(&sign, &[7; 32]);
    assert!(matches!(place.verified(&small), crate::gpg::Verified::Good(good) if good.text == [7; 32]));
    let bomb = place.gpg(&sign, &vec![0; 4 << 20]);
    assert!(bomb.len() < 64 << 10);
    assert!(matches!(place.verified(&bomb), crate::gpg::Verified::Bad(_)));
}

#[test]
fn nothing_is_decrypted() {
    let place = Place::new();
    let name = "asa@example.org";
    place.gpg(&["--quick-generate-key", name, "default", "default", "never"], b"");
    // The agent of this key runs, and could do it.
    let secret = place.gpg(&["--sign", "--encrypt", "--trust-model", "always", "--recipient", name], b"text");
    assert!(place.gpg(&["--decrypt"], &secret) == b"text");
    assert!(matches!(place.verified(&secret), crate::gpg::Verified::Bad(_)));
}
