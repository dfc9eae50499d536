//! The keys of domains for DKIM: RFC 6376, 3.6.

use std::collections::HashMap;
use std::path::Path;

use kernel::files::{self, Limit};

use crate::dns::{Answer, Resolver};
use crate::tags::Tags;

const FILE: Limit = Limit { what: "a file with keys", bytes: 1 << 20 };

/// Shortest modulus of RSA that counts, in bytes: RFC 8301 has 1024 bits.
const MODULUS_MIN: usize = 1024 / 8;

/// How often resolvers may be silent before they are not asked again: mails name domains whose servers never answer.
const SILENCES_MAX: usize = 5;

/// What verifies a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DomainKey {
    /// `RSAPublicKey` of RFC 8017, in DER.
    Rsa(Vec<u8>),
    /// The 32 bytes of RFC 8463.
    Ed25519(Vec<u8>),
}

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Key(DomainKey),
    /// Its domain does not have it, or has taken it back.
    Unknown,
    /// Nobody could be asked, and why.
    NotChecked(String),
}

/// Where keys of domains are found: first among those that the user gave, then in DNS if it may be asked.
#[derive(Debug, Default)]
pub struct DomainKeys {
    given: Vec<(String, String)>,
    resolver: Option<Resolver>,
    known: HashMap<String, Found>,
    silences: usize,
}

impl DomainKeys {
    /// Asks `resolver`, or nobody.
    pub fn new(resolver: Option<Resolver>) -> Self {
        Self { resolver, ..Self::default() }
    }

    /// Adds the keys of a file with text records of a zone: RFC 1035, 5. Names are full, or below the last `$ORIGIN`.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn give(&mut self, path: &Path) -> Result<(), kernel::Error> {
        let content = files::read(path, FILE)?;
        self.given.extend(records(&String::from_utf8_lossy(&content)));
        self.known.clear();
        Ok(())
    }

    /// The key of a domain by its selector.
    pub(crate) fn find(&mut self, selector: &str, domain: &str) -> Found {
        let name = format!("{selector}._domainkey.{domain}").to_ascii_lowercase();
        if let Some(found) = self.known.get(&name) {
            return found.clone();
        }
        let found = self.look(&name);
        self.known.insert(name, found.clone());
        found
    }

    fn look(&mut self, name: &str) -> Found {
        if let Some((_, text)) = self.given.iter().find(|(given, _)| given == name) {
            return key(text).map_or(Found::Unknown, Found::Key);
        }
        let Some(resolver) = &self.resolver else {
            return Found::NotChecked("DNS is not asked".to_owned());
        };
        if self.silences >= SILENCES_MAX {
            return Found::NotChecked("DNS is not asked, since it gave no answers".to_owned());
        }
        match resolver.texts(name) {
            Answer::Texts(texts) => {
                texts.iter().find_map(|text| key(text)).map_or(Found::Unknown, Found::Key)
            }
            Answer::Nothing => Found::Unknown,
            Answer::Silence(reason) => {
                self.silences += 1;
                Found::NotChecked(reason)
            }
        }
    }
}

/// The key in a text record; nothing if it is taken back, is for something else, or is too short.
fn key(record: &str) -> Option<DomainKey> {
    let tags = Tags::parse(record)?;
    let is_listed = |tag: &str, word: &str| {
        tags.bare(tag).is_none_or(|list| list.split(':').any(|other| other == word || other == "*"))
    };
    if tags.get("v").is_some_and(|version| version != "DKIM1")
        || !is_listed("h", "sha256")
        || !is_listed("s", "email")
    {
        return None;
    }
    let bytes = tags.bytes("p")?;
    match tags.get("k").unwrap_or("rsa") {
        "rsa" => rsa(&bytes).map(DomainKey::Rsa),
        "ed25519" => (bytes.len() == 32).then_some(DomainKey::Ed25519(bytes)),
        _ => None,
    }
}

/// The `RSAPublicKey` in a `SubjectPublicKeyInfo`, which most domains publish, or itself: RFC 5280, 4.1, and RFC 8017, A.1.1.
fn rsa(der: &[u8]) -> Option<Vec<u8>> {
    const SEQUENCE: u8 = 0x30;
    const INTEGER: u8 = 0x02;
    const BIT_STRING: u8 = 0x03;
    let (outer, _) = element(der, SEQUENCE)?;
    let bare = match element(outer, SEQUENCE) {
        Some((_, rest)) => element(rest, BIT_STRING)?.0.strip_prefix(&[0])?,
        None => der,
    };
    let (numbers, _) = element(bare, SEQUENCE)?;
    let (modulus, _) = element(numbers, INTEGER)?;
    let length = modulus.strip_prefix(&[0]).unwrap_or(modulus).len();
    (length >= MODULUS_MIN).then(|| bare.to_vec())
}

/// The content of an element of DER, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = der.split_first()?;
    let (&length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
            (bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    if first != tag { None } else { rest.split_at_checked(length) }
}

/// The text records of a zone file, each with its name in lower case and without the final dot.
fn records(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut origin = String::new();
    for entry in entries(text) {
        match entry.as_slice() {
            [Token::Word(word), Token::Word(name)] if word == "$ORIGIN" => {
                origin = name.trim_end_matches('.').to_ascii_lowercase();
            }
            [Token::Word(name), middle @ .., Token::Text(_)]
                if middle.iter().any(|token| token.is_word("TXT")) =>
            {
                let text = entry.iter().filter_map(Token::text).collect();
                found.push((full(name, &origin), text));
            }
            _ => {}
        }
    }
    found
}

fn full(name: &str, origin: &str) -> String {
    let lower = name.to_ascii_lowercase();
    match lower.strip_suffix('.') {
        Some(full) => full.to_owned(),
        None if origin.is_empty() => lower,
        None => format!("{lower}.{origin}"),
    }
}

/// What stands in a zone file.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// Between quotes.
    Text(String),
}

impl Token {
    fn is_word(&self, text: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(text))
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Word(_) => None,
        }
    }
}

/// The entries of a zone file: a line each, but for lines in brackets.
fn entries(text: &str) -> Vec<Vec<Token>> {
    let mut entries = Vec::new();
    let mut entry = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            rest = match first {
                ';' => "",
                '(' | ')' => {
                    is_open = first == '(';
                    &rest[1..]
                }
                '"' => {
                    let (text, after) = rest[1..].split_once('"').unwrap_or((&rest[1..], ""));
                    entry.push(Token::Text(text.to_owned()));
                    after
                }
                _ => {
                    let end =
                        rest.find(|c: char| c.is_whitespace() || "();\"".contains(c)).unwrap_or(rest.len());
                    entry.push(Token::Word(rest[..end].to_owned()));
                    &rest[end..]
                }
            }
            .trim_start();
        }
        if !is_open && !entry.is_empty() {
            entries.push(std::mem::take(&mut entry));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags::decoded;
    use proptest::prelude::*;

    /// RFC 8463, A.2.
    const ED25519: &str = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

    #[test]
    fn records_of_zone_files_are_read() {
        let text = "$ORIGIN example.org.\n; a comment\nmail._domainkey\tIN\tTXT\t( \"v=DKIM1; h=sha256; k=rsa; \"\n\
                    \t  \"p=AB\"\n\t  \"CD\" )  ; ----- DKIM key\nS._domainkey.example.com. 3600 IN TXT \"k=ed25519; p=x\"\n\
                    www IN A 192.0.2.1\n";
        let expected = [
            ("mail._domainkey.example.org", "v=DKIM1; h=sha256; k=rsa; p=ABCD"),
            ("s._domainkey.example.com", "k=ed25519; p=x"),
        ];
        assert_eq!(records(text), expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
    }

    #[test]
    fn keys_are_for_mail_and_not_taken_back() {
        let record = format!("v=DKIM1; k=ed25519; p={ED25519}");
        assert_eq!(key(&record), decoded(ED25519).map(DomainKey::Ed25519));
        for wrong in [
            "v=DKIM1; k=ed25519; p=".to_owned(),
            record.replace("DKIM1", "DKIM2"),
            format!("{record}; h=sha1"),
            format!("{record}; s=other"),
            record.replace("ed25519", "rsa"),
            "v=spf1 -all".to_owned(),
        ] {
            assert_eq!(key(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn nobody_is_asked_without_a_resolver() {
        let mut keys = DomainKeys::new(None);
        assert!(matches!(keys.find("a", "example.org"), Found::NotChecked(_)));
        keys.given.push(("a._domainkey.example.com".to_owned(), "p=".to_owned()));
        assert_eq!(keys.find("A", "Example.com"), Found::Unknown);
    }

    #[test]
    fn who_is_silent_is_not_asked_for_ever() {
        let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut keys = DomainKeys::new(Some(Resolver::at(nobody)));
        let mut is_asked = |selector: usize| match keys.find(&selector.to_string(), "example.org") {
            Found::NotChecked(reason) => !reason.starts_with("DNS is not asked"),
            found => panic!("{found:?}"),
        };
        assert!((0..SILENCES_MAX).all(&mut is_asked));
        assert!(!is_asked(SILENCES_MAX));
    }

    proptest! {
        #[test]
        fn no_record_does_harm(text in "[a-z=;\"() \n$.]{0,100}", der: Vec<u8>) {
            records(&text);
            key(&text);
            rsa(&der);
        }
    }
}
