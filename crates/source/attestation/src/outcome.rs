//! What signatures say of a mail.

use std::collections::HashMap;

use series::Mail;

/// How somebody vouches for a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// DomainKeys Identified Mail: the domain that sent it (RFC 6376).
    Dkim,
    /// `X-Developer-Signature`, as patatt makes it.
    Developer,
    /// A text that is signed with OpenPGP (RFC 4880, RFC 3156).
    OpenPgp,
}

/// What became of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The mail is as it was when it was signed.
    Good,
    /// The same, but it was signed at another time than it was sent, and why that counts.
    Stale(String),
    /// The mail or its signature was changed, or signs too little; and what is wrong.
    Bad(String),
    /// The key is not there, or nobody has vouched for it, and why.
    UnknownKey(String),
    /// Nobody could check it, and why.
    NotChecked(String),
}

impl State {
    /// It is bad if there is a reason against what it would say of the mail.
    pub(crate) fn unless(self, reason: Option<String>) -> Self {
        match (self, reason) {
            (Self::Good | Self::Stale(_), Some(reason)) => Self::Bad(reason),
            (state, _) => state,
        }
    }
}

/// A signature of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Of which kind it is.
    pub method: Method,
    /// Who signed by the signature's own account: a domain, or an address.
    pub signer: String,
    /// Which key: a selector, or a fingerprint; may be empty.
    pub key: String,
    /// What became of it.
    pub state: State,
    /// Whether the signer can vouch for the sender: is the sender, or has the sender's domain.
    pub is_senders: bool,
}

impl Signature {
    /// Whether it proves that the sender has sent the mail as it is.
    pub fn proves(&self) -> bool {
        self.state == State::Good && self.is_senders
    }
}

/// The signatures of mails.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attested(pub(crate) HashMap<String, Vec<Signature>>);

impl Attested {
    /// Those of a mail.
    pub fn of(&self, mail: &Mail) -> &[Signature] {
        self.0.get(&mail.id).map_or(&[], Vec::as_slice)
    }

    /// Whether the sender of a mail is proved, and no signature of a person is bad. That of a domain may be: lists that add a
    /// footer break DKIM.
    pub fn proves(&self, mail: &Mail) -> bool {
        let signatures = self.of(mail);
        let is_broken = |signature: &Signature| {
            signature.method != Method::Dkim && matches!(signature.state, State::Bad(_))
        };
        signatures.iter().any(Signature::proves) && !signatures.iter().any(is_broken)
    }
}

/// The domain of an address, in lower case.
pub(crate) fn domain(address: &str) -> &str {
    address.rsplit_once('@').map_or("", |(_, domain)| domain)
}

/// Whether a domain can speak for another: it is the same, or above it.
pub(crate) fn is_above(domain: &str, of: &str) -> bool {
    let (domain, of) = (domain.to_ascii_lowercase(), of.to_ascii_lowercase());
    let is_below = of.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.'));
    domain.contains('.') && (domain == of || is_below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_signature_of_a_domain_does_not_count_against_a_good_one() {
        let signature = |method, state| Signature {
            method,
            signer: String::new(),
            key: String::new(),
            state,
            is_senders: true,
        };
        let bad = || State::Bad("changed".to_owned());
        let mail = Mail::read(b"Message-ID: <1@x>\n\n", 1).remove(0);
        for (signatures, expected) in [
            (vec![], false),
            (vec![signature(Method::Dkim, State::Good)], true),
            (vec![signature(Method::Developer, State::Good), signature(Method::Dkim, bad())], true),
            (vec![signature(Method::Developer, bad()), signature(Method::Dkim, State::Good)], false),
            (vec![Signature { is_senders: false, ..signature(Method::Dkim, State::Good) }], false),
        ] {
            let attested = Attested(HashMap::from([(mail.id.clone(), signatures)]));
            assert_eq!(attested.proves(&mail), expected, "{attested:?}");
        }
    }

    #[test]
    fn domains_speak_for_those_below_them() {
        for (one, other, expected) in [
            ("example.org", "example.org", true),
            ("Example.org", "lists.example.ORG", true),
            ("lists.example.org", "example.org", false),
            ("ample.org", "example.org", false),
            ("org", "example.org", false),
            ("", "example.org", false),
        ] {
            assert_eq!(is_above(one, other), expected, "{one} {other}");
        }
        assert_eq!(domain("a@b@example.org"), "example.org");
    }
}
