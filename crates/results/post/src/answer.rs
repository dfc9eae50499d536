//! What a server answers. It may answer anything: what is taken from it is short, and stands in addresses as it is.

use serde::Deserialize;
use serde_json::Value;

use crate::Address;
use crate::address::is_name;
use crate::post::is_token;

/// Characters of a complaint that are kept.
const COMPLAINT_MAX: usize = 200;

/// Longest name of a post.
const ID_MAX: usize = 100;

/// Longest address that is taken from a server.
const LINK_MAX: usize = 1000;

/// An answer as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status of HTTP.
    pub(crate) status: u16,
    /// Seconds after which the server wants to be asked again.
    pub(crate) retry_after: Option<u64>,
    /// The document; nothing if it is none, or too large.
    pub(crate) document: Option<Value>,
}

/// What an answer comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning<'a> {
    /// It was done; the data.
    Done(&'a Value),
    /// It was done, says HTTP, but not in the words of this API.
    Strange,
    /// There is no such post, or no more.
    Gone,
    /// Later, perhaps.
    Later(String),
    /// No.
    Refused(String),
}

/// A post, as a server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) id: String,
    pub(crate) token: Option<String>,
    slug: Option<String>,
    url: Option<String>,
}

impl Answer {
    pub(crate) fn meaning(&self) -> Meaning<'_> {
        match (self.status, &self.document) {
            (200..=299, Some(document)) => match document.get("data") {
                Some(data) if document.get("error_msg").is_none() => Meaning::Done(data),
                _ => Meaning::Strange,
            },
            (200..=299, None) => Meaning::Strange,
            (404 | 410, _) => Meaning::Gone,
            (408 | 429 | 500.., _) => Meaning::Later(self.words()),
            _ => Meaning::Refused(self.words()),
        }
    }

    /// The status, with what the server says to it.
    pub(crate) fn words(&self) -> String {
        let document = self.document.as_ref();
        let complaint = document.and_then(|document| document.get("error_msg")?.as_str());
        let complaint = complaint.map(|text| format!(": {}", shortened(text))).unwrap_or_default();
        let wait = self.retry_after.map(|seconds| format!("; it asks for {seconds} s")).unwrap_or_default();
        let led = if (300..400).contains(&self.status) { ", which leads elsewhere" } else { "" };
        format!("it answers {}{complaint}{wait}{led}", self.status)
    }
}

impl Made {
    /// Reads `data` of an answer.
    pub(crate) fn read(data: &Value) -> Option<Self> {
        #[derive(Deserialize)]
        struct Data {
            id: String,
            token: Option<String>,
            slug: Option<String>,
            url: Option<String>,
        }
        let Data { id, token, slug, url } = Data::deserialize(data).ok()?;
        is_name(&id, ID_MAX).then(|| Self {
            id,
            token: token.filter(|token| is_token(token)),
            slug: slug.filter(|slug| is_name(slug, LINK_MAX)),
            url: url.filter(|url| url.len() <= LINK_MAX && url.bytes().all(is_plain)),
        })
    }

    /// Where it is shown: as the server says, if that is on the server, or as the API describes.
    pub(crate) fn link(&self, address: &Address, blog: Option<&str>) -> String {
        let origin = address.origin();
        let is_there = |url: &&String| url.strip_prefix(origin).is_some_and(|path| path.starts_with('/'));
        if let Some(url) = self.url.as_ref().filter(is_there) {
            return url.clone();
        }
        match blog.zip(self.slug.as_ref()) {
            Some((blog, slug)) => format!("{origin}/{blog}/{slug}"),
            None => format!("{origin}/{}", self.id),
        }
    }
}

/// The post in an answer to `collect`, or why the blog does not have it.
pub(crate) fn collected(data: &Value) -> Result<Made, String> {
    let strange = || STRANGE.to_owned();
    let one = data.as_array().and_then(|all| all.first()).ok_or_else(strange)?;
    match one.get("post").and_then(Made::read) {
        Some(made) if one.get("code").and_then(code).is_none_or(|code| (200..300).contains(&code)) => {
            Ok(made)
        }
        _ => {
            let complaint = one.get("error_msg").and_then(Value::as_str);
            Err(complaint
                .map_or_else(strange, |text| format!("the blog does not take it: {}", shortened(text))))
        }
    }
}

/// Said of an answer that is none of this API.
pub(crate) const STRANGE: &str = "it answers what no WriteFreely server does";

/// Codes are numbers, or text with one.
fn code(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn shortened(text: &str) -> String {
    text.chars().take(COMPLAINT_MAX).collect()
}

/// Whether a byte may stand in an address that is printed.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~:/?=&%#[]+".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn answer(status: u16, document: Option<Value>) -> Answer {
        Answer { status, retry_after: None, document }
    }

    #[test]
    fn each_status_has_its_meaning() {
        let data = json!({"code": 201, "data": {"id": "x"}});
        assert!(matches!(answer(201, Some(data)).meaning(), Meaning::Done(_)));
        assert_eq!(answer(200, None).meaning(), Meaning::Strange);
        let contradicts = json!({"error_msg": "no", "data": {}});
        assert_eq!(answer(200, Some(contradicts)).meaning(), Meaning::Strange);
        assert_eq!(answer(404, None).meaning(), Meaning::Gone);
        assert_eq!(answer(410, None).meaning(), Meaning::Gone);
        let busy = Answer { retry_after: Some(30), ..answer(429, Some(json!({"error_msg": "slow down"}))) };
        assert_eq!(busy.meaning(), Meaning::Later("it answers 429: slow down; it asks for 30 s".to_owned()));
        assert!(matches!(answer(503, None).meaning(), Meaning::Later(_)));
        assert_eq!(answer(401, None).meaning(), Meaning::Refused("it answers 401".to_owned()));
        let led = answer(302, None);
        assert_eq!(led.meaning(), Meaning::Refused("it answers 302, which leads elsewhere".to_owned()));
        let long = answer(400, Some(json!({"error_msg": "x".repeat(10_000)}))).words();
        assert!(long.len() < 300, "{long}");
    }

    #[test]
    fn a_link_is_on_the_server_that_was_asked() {
        let address = Address::parse("https://x.org/blog").expect("an address");
        let link = |data: Value, blog| Made::read(&data).expect("a post").link(&address, blog);
        assert_eq!(link(json!({"id": "1a"}), None), "https://x.org/1a");
        assert_eq!(link(json!({"id": "1a", "slug": "of-1"}), Some("blog")), "https://x.org/blog/of-1");
        assert_eq!(link(json!({"id": "1a", "slug": "of-1"}), None), "https://x.org/1a");
        assert_eq!(link(json!({"id": "1a", "url": "https://x.org/d/1a"}), None), "https://x.org/d/1a");
        for url in ["https://evil.org/", "https://x.org.evil.org/", "https://x.org/\u{1b}[2J", "x"] {
            assert_eq!(link(json!({"id": "1a", "url": url}), None), "https://x.org/1a", "{url}");
        }
        for id in ["", "../x", "a b", "\u{1b}", &"x".repeat(1000)] {
            assert_eq!(Made::read(&json!({"id": id})), None, "{id}");
        }
    }

    #[test]
    fn a_blog_takes_a_post_or_says_why_not() {
        let taken =
            collected(&json!([{"code": "200", "post": {"id": "1a", "slug": "of-1"}}])).expect("taken");
        assert_eq!(taken.id, "1a");
        let refused = collected(&json!([{"code": 403, "error_msg": "not yours"}]));
        assert_eq!(refused, Err("the blog does not take it: not yours".to_owned()));
        for strange in [json!([]), json!({}), json!([{}]), json!([{"code": 500, "post": {"id": "1a"}}])] {
            assert_eq!(collected(&strange), Err(STRANGE.to_owned()), "{strange}");
        }
    }

    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            "[ -~\u{0}-\u{1f}\u{202e}]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let key =
                prop::sample::select(vec!["code", "data", "error_msg", "id", "token", "slug", "url", "post"]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(key, inner, 0..6).prop_map(|fields| {
                    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Value>()
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_document_is_understood_somehow(status in 100..600u16, document in documents()) {
            let address = Address::parse("https://x.org/blog").expect("an address");
            let answer = answer(status, Some(document));
            if let Meaning::Done(data) = answer.meaning() {
                for made in [Made::read(data), collected(data).ok()].into_iter().flatten() {
                    let link = made.link(&address, Some("blog"));
                    prop_assert!(link.starts_with("https://x.org/") && link.bytes().all(is_plain), "{link}");
                }
            }
        }
    }
}
