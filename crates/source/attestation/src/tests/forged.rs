//! Mails with a signature that is genuine, around which somebody has put something else.

use super::*;

const EVIL: &str = "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-a\n+evil\n";

/// What kiln would apply.
fn applied(raw: &[u8]) -> (String, String) {
    let mail = Mail::read(raw, 1).remove(0);
    (mail.subject.text, String::from_utf8_lossy(&mail.patch).into_owned())
}

/// The mail with a field added at the end of its header.
fn with_field(raw: &[u8], field: &str) -> Vec<u8> {
    let end = position(raw, "\n\n") + 1;
    [&raw[..end], field.as_bytes(), &raw[end..]].concat()
}

fn without_type(raw: &[u8]) -> Vec<u8> {
    String::from_utf8(raw.to_vec())
        .unwrap()
        .replace("Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n", "")
        .into_bytes()
}

fn in_quoted_printable(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { "\n".to_owned() } else { format!("={byte:02X}") }).collect()
}

impl Place {
    fn refuses(&mut self, what: &str, raw: &[u8]) {
        let signatures = self.signatures(raw);
        assert!(!signatures.iter().any(Signature::proves), "{what}: {signatures:?} of {:?}", applied(raw));
    }
}

#[test]
fn a_second_subject_is_not_that_of_the_developer() {
    let mut place = Place::new();
    place.ring();
    let raw = with_field(&place.ed25519(), "Subject: [PATCH] evil\n");
    assert_eq!(applied(&raw).0, "evil");
    place.refuses("second subject", &raw);
}

#[test]
fn lines_that_are_no_fields_do_not_hide_fields() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let raw = place.dkim("ed25519", "relaxed/relaxed", "example.org", "whole");
    let raw = with_field(&raw, "X-List: a\nno field\n Subject: evil\n");
    assert_eq!(applied(&raw).0, "evil");
    place.refuses("hidden field", &raw);
    let flood = "X: a\n".repeat(1001);
    let raw = place.dkim("ed25519", "relaxed/relaxed", "example.org", "whole");
    place.refuses("flood", &with_field(&raw, &format!("{flood}Subject: evil\n")));
}

#[test]
fn a_part_behind_the_length_of_dkim_is_not_signed() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let signed = place.dkim("ed25519", "relaxed/relaxed", "example.org", "length");
    let kind = "Content-Type: multipart/mixed; boundary=part\n";
    let part = format!(
        "--part\nContent-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n{}\n--part--\n",
        in_quoted_printable(EVIL)
    );
    let raw = [with_field(&without_type(&signed), kind), part.into_bytes()].concat();
    assert_eq!(applied(&raw).1.trim_end(), EVIL.trim_end());
    place.refuses("part", &raw);
}

/// A patch whose text many fields change.
fn ambiguous() -> String {
    let plain = String::from_utf8(without_type(MAIL.as_bytes())).unwrap();
    let lines = "+a =3D b; \n+ -- +AGE-\n--part\n\n--part--\n";
    plain.replace("+b = c\n-- \n2.39.5\n", lines)
}

#[test]
fn fields_that_change_the_text_are_signed() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let plain = place.dkim_of(&ambiguous(), dkim::FIELDS);
    assert!(place.signature(&plain).proves(), "as it was sent");
    for field in [
        "Content-Transfer-Encoding: quoted-printable\n",
        "Content-Type: text/plain; format=flowed\n",
        "Content-Type: text/plain; charset=utf-7\n",
        "Content-Type: text/html\n",
        "Content-Type: multipart/mixed; boundary=part\n",
    ] {
        let raw = with_field(&plain, field);
        let state = place.state(&raw);
        assert!(
            matches!(&state, State::Bad(reason) if reason.contains("does not sign")),
            "{field}: {state:?} of {:?}",
            applied(&raw)
        );
    }
    // A type that says what is so without it.
    let type_of_all = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n";
    assert!(place.signature(&with_field(&plain, type_of_all)).proves());
}

#[test]
fn fields_that_change_the_text_may_be_signed() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let encoding = "Content-Transfer-Encoding: quoted-printable\n";
    let mail = String::from_utf8(with_field(ambiguous().as_bytes(), encoding)).unwrap();
    let fields = format!("{}:content-transfer-encoding", dkim::FIELDS);
    let signed = place.dkim_of(&mail, &fields);
    assert!(place.signature(&signed).proves());
    place.refuses("second encoding", &with_field(&signed, "Content-Transfer-Encoding: 8bit\n"));
    let bare = String::from_utf8(signed).unwrap().replace(encoding, "");
    place.refuses("encoding that was taken away", bare.as_bytes());
}

#[test]
fn a_name_does_not_make_a_patch_of_what_is_none() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let image = String::from_utf8(with_field(ambiguous().as_bytes(), "Content-Type: image/png\n")).unwrap();
    let signed = place.dkim_of(&image, &format!("{}:content-type", dkim::FIELDS));
    let named = with_field(&signed, "Content-Disposition: attachment; filename=x.patch\n");
    assert!(applied(&named).1.contains("diff --git"));
    place.refuses("name", &named);
}

#[test]
fn a_part_that_git_does_not_read_is_not_the_developers() {
    let mut place = Place::new();
    place.ring();
    // git looks for a boundary in every type.
    let signed = String::from_utf8(place.ed25519()).unwrap();
    let (head, body) = signed.split_once("\n\n").unwrap();
    let head = head.replace("charset=utf-8", "charset=utf-8; boundary=part");
    let inner = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n";
    let raw = format!("{head}\n\n{EVIL}\n--part\n{inner}\n{body}\n--part--\n").into_bytes();
    assert!(applied(&raw).1.contains("evil"));
    place.refuses("boundary", &raw);
}

#[test]
fn a_part_beside_a_signed_one_is_not_signed() {
    let mut place = Place::new();
    let key = place.openpgp_key("asa@example.org");
    let talk = "Content-Type: text/plain; charset=utf-8\n\nLunch at noon?\n";
    let signature =
        place.gpg(&["--local-user", &key, "--armor", "--detach-sign"], &with_crlf(talk.as_bytes()));
    let signature = String::from_utf8(signature).unwrap();
    let head = "From: A <asa@example.org>\nDate: Wed, 1 Jan 2025 10:00:00 +0000\nSubject: [PATCH] x\n\
        Content-Type: multipart/signed; micalg=pgp-sha512;\n protocol=\"application/pgp-signature\"; boundary=\"part\"\n";
    let signed =
        format!("--part\n{talk}\n--part\nContent-Type: application/pgp-signature\n\n{signature}\n--part");
    let genuine = format!("{head}\n{signed}--\n");
    assert!(place.signature(genuine.as_bytes()).proves());
    let evil = in_quoted_printable(EVIL);
    let kind = "Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable";
    let third = format!("{head}\n{signed}\n{kind}\n\n{evil}\n--part--\n");
    assert!(applied(third.as_bytes()).1.contains("evil"));
    place.refuses("third part", third.as_bytes());
    let other = format!(
        "{head}Content-Type: multipart/mixed; boundary=other\n\n{signed}--\n--other\n{kind}\n\n{evil}\n--other--\n"
    );
    assert!(applied(other.as_bytes()).1.contains("evil"));
    place.refuses("second type", other.as_bytes());
}

#[test]
fn what_stands_above_a_clear_signed_text_is_not_signed() {
    let mut place = Place::new();
    let key = place.openpgp_key("asa@example.org");
    let signed = place.gpg(&["--local-user", &key, "--clear-sign"], b"Lunch at noon?\n");
    let head = "From: A <asa@example.org>\nSubject: [PATCH 0/2] x\n\n";
    assert!(place.signature(&[head.as_bytes(), &signed].concat()).proves());
    let above = "Everything below is mine.\n\nbase-commit: 0123456789abcdef\n\n";
    place.refuses("above", &[head.as_bytes(), above.as_bytes(), &signed].concat());
    let below = "\nbase-commit: 0123456789abcdef\n";
    place.refuses("below", &[head.as_bytes(), &signed, below.as_bytes()].concat());
}

#[test]
fn a_clear_signed_patch_is_the_one_that_was_signed() {
    let mut place = Place::new();
    let key = place.openpgp_key("asa@example.org");
    let signed = |place: &Place, patch: &str| {
        let signed = place.gpg(&["--local-user", &key, "--clear-sign"], patch.as_bytes());
        let head = "From: A <asa@example.org>\nSubject: [PATCH] x\n\n";
        head.to_owned() + std::str::from_utf8(&signed).unwrap()
    };
    let raw = signed(&place, "Why.\n\ndiff --git a/a b/a\n@@ -1 +1,2 @@\n a\n+b\n");
    assert!(applied(raw.as_bytes()).1.contains("\n+b\n"));
    assert!(place.signature(raw.as_bytes()).proves());
    // The mark of a line that begins with a dash may stand before any line.
    let marked = raw.replace("\n+b\n", "\n- +b\n");
    place.refuses("mark", marked.as_bytes());
    // gpg itself has marked the line that goes.
    let raw = signed(&place, "Why.\n\ndiff --git a/a b/a\n@@ -1 +1 @@\n-a\n+b\n");
    assert!(place.fault(raw.as_bytes()).contains("read in another way"));
}

#[test]
fn a_text_that_is_not_read_is_not_signed() {
    let mut place = Place::new();
    place.ring();
    place.domain_key("ed25519");
    let html = MAIL.replace("text/plain", "text/html");
    let fields = format!("{}:content-type:content-transfer-encoding", dkim::FIELDS);
    assert_eq!(place.fault(&place.dkim_of(&html, &fields)), "no text in it is read");
    let developer = String::from_utf8(place.ed25519()).unwrap().replace("text/plain", "text/html");
    place.refuses("developer", developer.as_bytes());
    let key = place.openpgp_key("asa@example.org");
    let raw = place.multipart(&key, "text/html");
    assert_eq!(place.fault(&raw), "no text in it is read");
}

#[test]
fn all_that_the_developer_has_signed_is_read() {
    let mut place = Place::new();
    place.ring();
    let signed = String::from_utf8(place.ed25519()).unwrap();
    let (head, body) = signed.split_once("\n\n").unwrap();
    let head = head.replace("text/plain; charset=utf-8", "multipart/mixed; boundary=part");
    let part = |kind: &str| {
        format!("--part\nContent-Type: text/{kind}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n")
    };
    let (first, rest) = body.split_once("\n\n").unwrap();
    let split =
        |kind: &str| format!("{head}\n\n{}{first}\n\n{}{rest}\n--part--\n", part(kind), part("plain"));
    let whole = place.signature(split("plain").as_bytes());
    assert!(whole.proves(), "{whole:?}");
    place.refuses("first part", split("html").as_bytes());
}

#[test]
fn a_base_below_what_is_signed_is_not_signed() {
    let mut place = Place::new();
    place.ring();
    place.refuses("base", &[&place.ed25519(), b"\nbase-commit: 0123456789abcdef\n".as_slice()].concat());
}

#[test]
fn a_patch_that_adds_marks_of_openpgp_is_not_signed_with_it() {
    let mut place = Place::new();
    let raw = MAIL.replace(
        "+b = c\n",
        "+-----BEGIN PGP SIGNED MESSAGE-----\n+-----BEGIN PGP SIGNATURE-----\n+-----END PGP SIGNATURE-----\n",
    );
    assert_eq!(place.signatures(raw.as_bytes()), []);
}

#[test]
fn fields_of_the_text_are_not_read_in_two_ways() {
    let mut place = Place::new();
    place.ring();
    let signed = String::from_utf8(place.ed25519()).unwrap();
    let (head, body) = signed.split_once("\n\n").unwrap();
    // git needs no empty line below them.
    let evil = head.replace("Subject: [PATCH v2 1/2] fs: größer", "Subject: [PATCH v2 1/2] evil");
    let close = format!("{evil}\n\nSubject: fs: größer\n{body}");
    assert_eq!(applied(close.as_bytes()).0, "evil");
    place.refuses("close", close.as_bytes());
    // A text that names the author and the subject is read in one way.
    let named = format!("{head}\n\nFrom: Åsa Öberg <asa@example.org>\nSubject: fs: größer\n\n{body}");
    let signature = place.signature(named.as_bytes());
    assert!(signature.proves() && applied(named.as_bytes()).1.contains("+b = c"), "{signature:?}");
}

#[test]
fn a_mail_that_git_refuses_stops_no_others() {
    let mut place = Place::new();
    place.ring();
    let signed = String::from_utf8(place.ed25519()).unwrap();
    let (head, body) = signed.split_once("\n\n").unwrap();
    let nested = |depth: usize| format!("Content-Type: multipart/mixed; boundary={}\n", "b".repeat(depth));
    let head = head.replace("Content-Type: text/plain; charset=utf-8\n", &nested(1));
    let parts: String =
        (1..9).map(|depth| format!("--{}\n{}\n", "b".repeat(depth), nested(depth + 1))).collect();
    let raw = format!("{head}\n\n{parts}{body}");
    assert!(place.fault(raw.as_bytes()).contains("git cannot read it"));
}

#[test]
fn a_mail_without_a_date_is_not_fresh() {
    let mut place = Place::new();
    place.ring();
    place.domain_key("ed25519");
    let key = place.openpgp_key("asa@example.org");
    let developer = place.ed25519();
    let signed = place.gpg(&["--local-user", &key, "--clear-sign"], b"Lunch at noon?\n");
    let openpgp = [b"From: A <asa@example.org>\nDate: x\nSubject: x\n\n".as_slice(), &signed].concat();
    let date = "Date: Wed, 1 Jan 2025 10:00:00 +0000\n";
    for (what, raw) in [("developer", developer), ("OpenPGP", openpgp)] {
        for other in ["", "Date: some day\n"] {
            let raw = String::from_utf8(raw.clone()).unwrap().replace(date, other);
            place.keys.staleness = 0;
            assert_eq!(place.state(raw.as_bytes()), State::Good, "{what}");
            place.keys.staleness = 30;
            let state = place.state(raw.as_bytes());
            assert_eq!(state, State::Stale("the mail has no date".to_owned()), "{what}");
        }
    }
}

#[test]
fn methods_that_are_not_known_are_not_checked() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let raw = String::from_utf8(place.dkim("ed25519", "relaxed/relaxed", "example.org", "whole")).unwrap();
    let other = raw.replace("a=ed25519-sha256", "a=other-sha256");
    assert!(matches!(place.state(other.as_bytes()), State::NotChecked(_)));
    let raw = String::from_utf8(place.ed25519()).unwrap().replace("a=ed25519-sha256", "a=other-sha256");
    assert!(matches!(place.state(raw.as_bytes()), State::NotChecked(_)));
}
