//! How people name a mail of an archive, and where it then is.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::Error;

/// All but the unreserved characters of RFC 3986, 2.3.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A mail that is somewhere in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its message id.
    pub id: String,
    /// The archive, such as `https://lore.kernel.org/linux-mm`, if the name says it.
    pub inbox: Option<String>,
}

impl Link {
    /// Reads a message id, bare or in brackets, or a link to a mail: of public-inbox (`https://HOST/LIST/ID/`, also with
    /// `T/`, `raw` and the like behind it), of a service that only knows ids (`https://HOST/ID`), of patchwork. Nothing if there
    /// is no id in it.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('<').trim_end_matches('>');
        let Some((scheme, rest)) = text.split_once("://") else {
            let bare = text.strip_prefix("id:").or_else(|| text.strip_prefix("rfc822msgid:")).unwrap_or(text);
            return is_id(bare).then(|| Self { id: bare.to_owned(), inbox: None });
        };
        let mut parts: Vec<String> = rest.split('/').map(decoded).collect();
        let at = parts.iter().skip(1).position(|part| is_id(part))? + 1;
        // patchwork has /project/NAME/patch/ID/, and the archive is elsewhere.
        let is_inbox = at == 2 && matches!(scheme, "http" | "https");
        let inbox = is_inbox.then(|| format!("{scheme}://{}/{}", parts[0], parts[1]));
        Some(Self { id: parts.swap_remove(at), inbox })
    }
}

fn is_id(text: &str) -> bool {
    let is_word = |part: &str| {
        !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '/')
    };
    text.split_once('@').is_some_and(|(left, right)| is_word(left) && is_word(right))
}

/// A link with a place for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mask(String);

impl Mask {
    /// `key` is the setting that it comes from.
    pub(crate) fn new(key: &'static str, text: &str) -> Result<Self, Error> {
        let is_link = text.starts_with("http://") || text.starts_with("https://");
        let is_mask = is_link && text.matches("%s").count() == 1 && host(text).is_some();
        is_mask.then(|| Self(text.to_owned())).ok_or_else(|| Error::Mask { key, value: text.to_owned() })
    }

    /// The link for a text.
    pub(crate) fn link(&self, text: &str) -> String {
        self.0.replacen("%s", &encoded(text), 1)
    }

    /// Whether it is of the same host as a link.
    pub(crate) fn is_of(&self, link: &str) -> bool {
        host(&self.0) == host(link)
    }
}

/// `HOST:PORT` of a link.
pub(crate) fn host(link: &str) -> Option<&str> {
    let (_, rest) = link.split_once("://")?;
    rest.split('/').next().filter(|host| !host.is_empty())
}

/// Where a `Location` header leads from a link: to another link, or to another path of the same host. Who can change an answer
/// that is not encrypted must not be asked in place of a server that encrypts.
pub(crate) fn led(from: &str, location: &str) -> Result<Option<String>, Error> {
    if from.starts_with("https://") && location.starts_with("http://") {
        let host = host(from).unwrap_or(from).to_owned();
        return Err(Error::Unencrypted { host, link: location.to_owned() });
    }
    if location.starts_with("http://") || location.starts_with("https://") {
        return Ok(Some(location.to_owned()));
    }
    Ok(led_within(from, location))
}

/// Where a location without a scheme leads.
fn led_within(from: &str, location: &str) -> Option<String> {
    let (scheme, _) = from.split_once("://")?;
    match location.strip_prefix("//") {
        Some(_) => Some(format!("{scheme}:{location}")),
        None if location.starts_with('/') => Some(format!("{scheme}://{}{location}", host(from)?)),
        None => None,
    }
}

/// The link at another origin, such as `https://mirror.example.org`.
pub(crate) fn moved(link: &str, origin: &str) -> Option<String> {
    let path = link.split_once("://")?.1.split_once('/')?.1;
    Some(format!("{}/{path}", origin.trim_end_matches('/')))
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mail_has_many_names() {
        for (text, id, inbox) in [
            ("a@x.org", "a@x.org", None),
            ("<a@x.org>", "a@x.org", None),
            ("id:a@x.org", "a@x.org", None),
            ("https://lore.kernel.org/r/a@x.org", "a@x.org", Some("https://lore.kernel.org/r")),
            (
                "https://lore.kernel.org/linux-mm/a%40x.org/T/#u",
                "a@x.org",
                Some("https://lore.kernel.org/linux-mm"),
            ),
            ("http://localhost:8080/test/a+b@x/raw", "a+b@x", Some("http://localhost:8080/test")),
            ("https://patch.msgid.link/a@x.org", "a@x.org", None),
            ("https://patchwork.kernel.org/project/netdev/patch/a@x.org/", "a@x.org", None),
        ] {
            let link = Link::parse(text).expect(text);
            assert_eq!((link.id.as_str(), link.inbox.as_deref()), (id, inbox), "{text}");
        }
        for text in
            ["", "a", "a@", "@x", "a b@x", "https://lore.kernel.org/all/", "https://a@x", "<>", "./a@b/c"]
        {
            assert_eq!(Link::parse(text), None, "{text}");
        }
    }

    #[test]
    fn links_are_made_of_others() {
        let mask = Mask::new("b4.midmask", "https://lore.kernel.org/all/%s").expect("a mask");
        assert_eq!(mask.link("a+b/c@x.org"), "https://lore.kernel.org/all/a%2Bb%2Fc%40x.org");
        assert!(
            mask.is_of("https://lore.kernel.org/netdev") && !mask.is_of("https://lore.kernel.org:8080/all")
        );
        for wrong in
            ["", "https://x/", "file:///etc/%s", "https://x/%s/%s", "https:///%s", "lore.kernel.org/%s"]
        {
            assert!(Mask::new("b4.midmask", wrong).is_err(), "{wrong}");
        }
        for (location, expected) in [
            ("https://b/c", Some("https://b/c")),
            ("//b/c", Some("https://b/c")),
            ("/c", Some("https://a/c")),
            ("c", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(led("https://a/b/", location).unwrap().as_deref(), expected, "{location}");
        }
        assert_eq!(led("http://a/b/", "http://b/c").unwrap().as_deref(), Some("http://b/c"));
        assert_eq!(moved("https://a/b/c", "http://m:1/").as_deref(), Some("http://m:1/b/c"));
    }

    #[test]
    fn no_link_leads_out_of_encryption() {
        let error = led("https://a/b/", "http://b/c").unwrap_err();
        assert!(matches!(&error, Error::Unencrypted { host, link } if host == "a" && link == "http://b/c"));
        assert!(!error.is_usage() && !error.is_interrupt());
    }

    proptest! {
        #[test]
        fn no_name_does_harm(text in ".{0,100}") {
            if let Some(link) = Link::parse(&text) {
                prop_assert!(is_id(&link.id));
            }
        }

        #[test]
        fn what_is_encoded_is_decoded(text: String) {
            prop_assert_eq!(decoded(&encoded(&text)), text);
        }
    }
}
