//! Mails with a signature that is genuine, around which somebody has put something else.

use super::*;

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
