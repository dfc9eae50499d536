//! A post that can be queued.

use std::path::{Path, PathBuf};

use kernel::files::{self, Limit};
use outbox::Item;
use serde::{Deserialize, Serialize};

use crate::{Address, Error};

/// Largest text of a post, in bytes.
const BODY_MAX: usize = 4 << 20;

/// Largest file with a token.
const TOKEN: Limit = Limit { what: "a token", bytes: 4096 };

/// Longest token.
const TOKEN_MAX: usize = 256;

/// Digits of the name of a post.
const NAME: usize = 16;

/// A report that goes to a server. Markdown is what its title and its body are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// What tells it from others: of the same subject on the same server it is the same.
    #[serde(skip)]
    name: String,
    /// Where it goes.
    pub address: Address,
    /// What it is about, as kiln finds it again.
    pub subject: String,
    /// In one line.
    pub title: String,
    /// All below it.
    pub body: String,
    /// Whether it is for all readers of the blog, and no draft.
    pub is_public: bool,
    /// The file with the token of the account whose post it is. The token itself is kept nowhere else.
    pub token_file: Option<PathBuf>,
}

impl Post {
    /// A post about something.
    ///
    /// # Errors
    ///
    /// When it is too large, has no blog to be public in, or the file has no token.
    pub fn new(
        address: Address,
        subject: String,
        (title, body): (String, String),
        is_public: bool,
        token_file: Option<PathBuf>,
    ) -> Result<Self, Error> {
        if body.len() > BODY_MAX {
            return Err(Error::TooLarge { size: body.len() >> 10, limit: BODY_MAX >> 10 });
        }
        if is_public && address.blog().is_none() {
            return Err(Error::Public("name the blog: --post https://HOST/BLOG"));
        }
        if is_public && token_file.is_none() {
            return Err(Error::Public(
                "a blog belongs to an account: name the file of its token with --token-file",
            ));
        }
        let name = name(&address, &subject);
        let post = Self { name, address, subject, title, body, is_public, token_file };
        post.token()?;
        Ok(post)
    }

    /// The token of the account.
    pub(crate) fn token(&self) -> Result<Option<String>, Error> {
        let Some(path) = &self.token_file else { return Ok(None) };
        let text = files::read(path, TOKEN)?;
        let token = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned();
        if is_token(&token) { Ok(Some(token)) } else { Err(Error::Token { path: path.clone() }) }
    }
}

/// Whether a header and a document can have it.
pub(crate) fn is_token(token: &str) -> bool {
    !token.is_empty() && token.len() <= TOKEN_MAX && token.bytes().all(|byte| byte.is_ascii_graphic())
}

fn name(address: &Address, subject: &str) -> String {
    files::hash(format!("{}\n{subject}", address.origin()).as_bytes())[..NAME].to_owned()
}

impl Item for Post {
    const ENDING: &'static str = "json";
    const LIMIT: Limit = Limit { what: "a post", bytes: 8 * BODY_MAX as u64 };

    fn name(&self) -> &str {
        &self.name
    }

    fn bytes(&self) -> Result<Vec<u8>, outbox::Error> {
        let unfit = |error: serde_json::Error| outbox::Error::Unfit {
            path: PathBuf::from(&self.name),
            reason: error.to_string(),
        };
        serde_json::to_vec(self).map_err(unfit)
    }

    fn parse(name: &str, bytes: Vec<u8>, path: &Path) -> Result<Self, outbox::Error> {
        let unfit = |reason| outbox::Error::Unfit { path: path.to_owned(), reason };
        let post: Self = serde_json::from_slice(&bytes).map_err(|error| unfit(error.to_string()))?;
        let address = format!("{}/{}", post.address.origin(), post.address.blog().unwrap_or_default());
        // Whoever changed it must not lead a token elsewhere.
        match Address::parse(&address) {
            Ok(address) if self::name(&address, &post.subject) == name => {
                Ok(Self { name: name.to_owned(), address, ..post })
            }
            _ => Err(unfit("it is no post of kiln".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(address: &str, subject: &str) -> Post {
        let address = Address::parse(address).expect("an address");
        let text = ("title".to_owned(), "body\n".to_owned());
        Post::new(address, subject.to_owned(), text, false, None).expect("a post")
    }

    #[test]
    fn the_subject_and_the_server_tell_posts_apart() {
        let names = [
            ("https://x.org", "a"),
            ("https://x.org/blog", "a"),
            ("https://x.org", "b"),
            ("https://y.org", "a"),
        ]
        .map(|(address, subject)| post(address, subject).name);
        assert_eq!(names[0], names[1], "the blog may change");
        assert!(names[0] != names[2] && names[0] != names[3]);
    }

    #[test]
    fn what_was_kept_is_read_back_and_nothing_else() {
        let post = post("https://x.org/blog", "a");
        let kept = post.bytes().expect("JSON");
        assert_eq!(Post::parse(&post.name, kept.clone(), Path::new("x")).expect("the same"), post);
        let moved = String::from_utf8(kept).expect("UTF-8").replace("https://x.org", "https://evil.org");
        for (name, bytes) in [(&*post.name, moved.as_str()), ("0123456789abcdef", "{}"), ("1f", "garbage")] {
            assert!(Post::parse(name, bytes.as_bytes().to_vec(), Path::new("x")).is_err(), "{bytes}");
        }
    }

    #[test]
    fn only_what_can_be_is_asked_for() {
        let folder = tempfile::tempdir().expect("temporary");
        let file = folder.path().join("token");
        std::fs::write(&file, "0000-1111 \nnotes\n").expect("writable");
        let new = |address: &str, body: &str, is_public, token: Option<&Path>| {
            let text = ("t".to_owned(), body.to_owned());
            let address = Address::parse(address).expect("an address");
            Post::new(address, "a".to_owned(), text, is_public, token.map(Path::to_owned))
        };
        let token = new("https://x.org/b", "", true, Some(&file)).expect("a post").token().expect("readable");
        assert_eq!(token.as_deref(), Some("0000-1111"));
        let wrong = |done: Result<Post, Error>| {
            let error = done.expect_err("it cannot be");
            assert!(error.is_usage(), "{error}");
            error.to_string()
        };
        assert!(wrong(new("https://x.org", "", true, Some(&file))).contains("name the blog"));
        assert!(wrong(new("https://x.org/b", "", true, None)).contains("belongs to an account"));
        assert!(wrong(new("https://x.org", &"x".repeat(BODY_MAX + 1), false, None)).contains("post one Run"));
        std::fs::write(&file, "no token\n").expect("writable");
        assert!(wrong(new("https://x.org", "", false, Some(&file))).contains("no token of an account"));
        assert!(wrong(new("https://x.org", "", false, Some(Path::new("/no/such")))).contains("/no/such"));
    }
}
