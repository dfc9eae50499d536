//! Lists of tags and values, `a=x; b=y`: RFC 6376, 3.2. DKIM has them, and so have developer signatures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Most tags of a list.
const TAGS_MAX: usize = 50;

/// The fields that each signature must sign.
const SIGNED: [&str; 2] = ["from", "subject"];

/// A list of tags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tags(Vec<(String, String)>);

impl Tags {
    /// Reads a list; nothing if a tag comes twice, or has no name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut tags = Self::default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=')?;
            let name = name.trim();
            if name.is_empty() || tags.get(name).is_some() || tags.0.len() >= TAGS_MAX {
                return None;
            }
            tags.0.push((name.to_owned(), value.trim().to_owned()));
        }
        Some(tags)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// A value without the white space that may stand in it.
    pub(crate) fn bare(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.split_whitespace().collect())
    }

    /// Bytes in base64.
    pub(crate) fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        decoded(&self.bare(name)?)
    }

    /// A value that must be there, or what is wrong.
    pub(crate) fn wanted(&self, name: &str) -> Result<String, String> {
        self.bare(name).ok_or_else(|| format!("it has no {name}="))
    }

    /// Bytes that must be there, or what is wrong.
    pub(crate) fn wanted_bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        self.bytes(name).ok_or_else(|| format!("its {name}= is no base64"))
    }

    /// The names of the fields that a signature signs, in lower case: `h=`; or what is wrong with them.
    pub(crate) fn signed_fields(&self) -> Result<Vec<String>, String> {
        let names: Vec<String> = self.wanted("h")?.split(':').map(str::to_ascii_lowercase).collect();
        match SIGNED.iter().find(|name| !names.iter().any(|other| other == *name)) {
            Some(name) => Err(format!("it does not sign the field {name}")),
            None => Ok(names),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.bare(name)?.parse().ok()
    }
}

/// Bytes in base64, with padding.
pub(crate) fn decoded(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.trim()).ok()
}

/// The header field of a signature up to and with `b=`, whose value is not signed: RFC 6376, 3.7.
pub(crate) fn without_signature(value: &[u8]) -> Option<Vec<u8>> {
    let mut start = 0;
    for part in value.split_inclusive(|&byte| byte == b';') {
        let equals = part.iter().position(|&byte| byte == b'=');
        if let Some(equals) = equals.filter(|&equals| part[..equals].trim_ascii() == b"b") {
            let rest = if part.ends_with(b";") { &value[start + part.len() - 1..] } else { &[][..] };
            return Some([&value[..=start + equals], rest].concat());
        }
        start += part.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tags_have_values() {
        let tags = Tags::parse("v=1; a = rsa-sha256;\r\n\tbh= QU\r\n JD ;b=;").expect("tags");
        assert_eq!((tags.get("v"), tags.get("a"), tags.get("x")), (Some("1"), Some("rsa-sha256"), None));
        assert_eq!(tags.bytes("bh").as_deref(), Some(b"ABC".as_slice()));
        assert_eq!((tags.number("v"), tags.number("a")), (Some(1), None));
        for wrong in ["a", "a=1;a=2", "=1", "a=1; b"] {
            assert_eq!(Tags::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_signature_does_not_sign_itself() {
        for (value, expected) in [
            ("v=1; b=abc; bh=x=", Some("v=1; b=; bh=x=")),
            ("bh=b=; b = a\r\n bc", Some("bh=b=; b =")),
            ("b=", Some("b=")),
            ("v=1; bh=x", None),
        ] {
            let found = without_signature(value.as_bytes());
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{value}");
        }
    }

    proptest! {
        #[test]
        fn no_list_does_harm(text in "[ab=; \r\n]{0,60}") {
            Tags::parse(&text);
            without_signature(text.as_bytes());
        }
    }
}
