//! Mails that gpg has signed.

use super::*;

const HEAD: &str = "From: A <asa@example.org>\nDate: Wed, 1 Jan 2025 10:00:00 +0000\nSubject: [PATCH] x\n";
const TEXT: &str = "Because.\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n";

impl Place {
    /// RFC 3156, 5.
    fn multipart(&self, key: &str) -> Vec<u8> {
        let part = format!("Content-Type: text/plain; charset=utf-8\n\n{TEXT}");
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
    let raw = place.multipart(&key);
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
    let forged = place.multipart(&stranger);
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
