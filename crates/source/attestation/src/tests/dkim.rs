//! Signatures of dkimpy.

use super::*;

/// Signs what is on standard input.
const SIGN: &str = r"
import sys, dkim
key = open(sys.argv[1], 'rb').read()
kind, form = sys.argv[2].encode(), sys.argv[3].encode().split(b'/')
mail = sys.stdin.buffer.read()
field = dkim.sign(mail, b's', sys.argv[4].encode(), key, canonicalize=tuple(form), signature_algorithm=kind,
    include_headers=sys.argv[6].encode().split(b':'), length=sys.argv[5] == 'length')
sys.stdout.buffer.write(field.replace(b'\r\n', b'\n') + mail)
";

/// What most domains sign.
pub(super) const FIELDS: &str = "from:subject:date:message-id:to";

impl Place {
    /// Makes a key for `s._domainkey.example.org`, which the user has given.
    pub(super) fn domain_key(&mut self, kind: &str) {
        let key = self.path(kind).display().to_string();
        self.run("/usr/bin/dknewkey", &["--ktype", kind, &key], b"");
        let record = fs::read_to_string(format!("{key}.dns")).unwrap();
        let text = record.trim().trim_matches('"');
        let zone = format!(
            "$ORIGIN example.org.\ns._domainkey IN TXT ( \"{}\"\n \"{}\" )\n",
            &text[..40],
            &text[40..]
        );
        let file = self.write("zone", zone.as_bytes());
        self.keys.domains = DomainKeys::new(None);
        self.keys.domains.give(&file).unwrap();
    }

    pub(super) fn dkim(&self, kind: &str, form: &str, domain: &str, length: &str) -> Vec<u8> {
        let key = self.path(&format!("{kind}.key")).display().to_string();
        let algorithm = format!("{kind}-sha256");
        let arguments = ["-c", SIGN, &key, &algorithm, form, domain, length, FIELDS];
        self.run("/usr/bin/python3", &arguments, MAIL.as_bytes())
    }

    /// This mail with a signature of these fields by the key of ed25519.
    pub(super) fn dkim_of(&self, mail: &str, fields: &str) -> Vec<u8> {
        let key = self.path("ed25519.key").display().to_string();
        let arguments =
            ["-c", SIGN, &key, "ed25519-sha256", "relaxed/relaxed", "example.org", "whole", fields];
        self.run("/usr/bin/python3", &arguments, mail.as_bytes())
    }
}

#[test]
fn all_algorithms_and_forms_are_checked() {
    let mut place = Place::new();
    for kind in ["rsa", "ed25519"] {
        place.domain_key(kind);
        for form in ["relaxed/relaxed", "simple/simple", "relaxed/simple", "simple/relaxed"] {
            for length in ["whole", "length"] {
                let raw = place.dkim(kind, form, "example.org", length);
                let signature = place.signature(&raw);
                assert!(signature.proves(), "{kind} {form} {length}: {signature:?}");
                assert_eq!((signature.signer.as_str(), signature.key.as_str()), ("example.org", "s"));
                assert_eq!(place.state(&with_crlf(&raw)), State::Good);
            }
        }
    }
}

#[test]
fn a_change_of_one_byte_is_bad() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let raw = place.dkim("ed25519", "relaxed/relaxed", "example.org", "whole");
    let start = position(&raw, "From:");
    let signed = |at: usize| raw[at].is_ascii_alphanumeric();
    let names = ["From", "Subject", "Date", "Message-ID", "To"];
    let lines = names.iter().flat_map(|name| {
        let at = position(&raw, &format!("\n{name}: ")) + name.len() + 3;
        at..at + raw[at..].iter().position(|&byte| byte == b'\n').unwrap()
    });
    let body = position(&raw, "Because");
    for (at, raw) in changed(&raw, lines.chain(body..raw.len()).filter(|&at| signed(at))) {
        assert!(matches!(place.state(&raw), State::Bad(_)), "byte {at}");
    }
    for (at, raw) in changed(&raw, (0..start).filter(|&at| signed(at))) {
        let signatures = place.signatures(&raw);
        assert!(!signatures.iter().any(Signature::proves), "byte {at}: {signatures:?}");
    }
}

#[test]
fn what_lists_do_to_mails_is_explained() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let raw = place.dkim("ed25519", "relaxed/relaxed", "example.org", "whole");
    assert_eq!(place.fault(&[&raw, FOOTER.as_bytes()].concat()), "the body was changed");
    assert_eq!(place.fault(&quoted(&raw)), "the body was changed");
    let added = [b"From: Eve <eve@example.org>\n".as_slice(), &raw].concat();
    assert_eq!(place.fault(&added), "it has more than one field from");
    let long = place.dkim("ed25519", "relaxed/relaxed", "example.org", "length");
    assert_eq!(place.state(&[&long, FOOTER.as_bytes()].concat()), State::Good);
    let patch = [&long, b"diff --git a/b b/b\n".as_slice()].concat();
    assert_eq!(place.fault(&patch), "a patch follows what is signed");
}

#[test]
fn nothing_is_good_without_a_key() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let raw = place.dkim("ed25519", "relaxed/relaxed", "example.org", "whole");
    place.keys.domains = DomainKeys::new(None);
    assert_eq!(place.state(&raw), State::NotChecked("DNS is not asked".to_owned()));
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    place.keys.domains = DomainKeys::new(Some(Resolver::at(nobody)));
    assert!(matches!(place.state(&raw), State::NotChecked(_)));
    let revoked = place.write("zone", b"s._domainkey.example.org. IN TXT \"v=DKIM1; k=ed25519; p=\"\n");
    place.keys.domains.give(&revoked).unwrap();
    assert!(matches!(place.state(&raw), State::UnknownKey(_)));
}

#[test]
fn another_domain_proves_nothing_of_the_sender() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    let zone = fs::read_to_string(place.path("zone")).unwrap().replace("example.org", "example.net");
    let zone = place.write("zone", zone.as_bytes());
    place.keys.domains.give(&zone).unwrap();
    let raw = place.dkim("ed25519", "relaxed/relaxed", "example.net", "whole");
    let signature = place.signature(&raw);
    assert_eq!((&signature.state, signature.is_senders), (&State::Good, false));
}

#[test]
fn a_signature_of_a_domain_that_is_much_younger_than_its_mail_is_stale() {
    let mut place = Place::new();
    place.domain_key("ed25519");
    // It is signed now, and the mail is of 2025.
    let raw = place.dkim("ed25519", "relaxed/relaxed", "example.org", "whole");
    place.keys.staleness = 30;
    assert!(matches!(place.state(&raw), State::Stale(_)));
}
