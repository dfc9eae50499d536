//! Which calls a post takes.
//!
//! A server that was not sure to get a new post is not asked again: there would be two. An update does no harm twice.

use std::collections::BTreeMap;

use outbox::{Failure, Item, Transport};
use serde_json::{Value, json};

use crate::answer::{Answer, Made, Meaning, STRANGE, collected};
use crate::client::{Client, NoAnswer};
use crate::known::{Known, Memory};
use crate::{Error, Post};

/// How the server shows it: a proportional font, with lines that are wrapped.
const FONT: &str = "norm";

/// Takes posts to their servers.
#[derive(Debug)]
pub(crate) struct Courier {
    client: Client,
    memory: Memory,
    /// Servers that took nothing: what else is for them waits as well, in its order.
    silent: BTreeMap<String, String>,
}

impl Courier {
    pub(crate) fn new(client: Client, memory: Memory) -> Self {
        Self { client, memory, silent: BTreeMap::new() }
    }

    fn take(&self, post: &Post) -> Result<(), Failure> {
        let token = post.token().map_err(|error| refused(&error))?;
        let known = self.memory.recall(post.name()).map_err(|error| refused(&error))?;
        let updated = match &known {
            Some(known) => self.update(post, known, token.as_deref())?,
            None => None,
        };
        let known = match updated {
            Some(known) => known,
            None => self.create(post, token.as_deref())?,
        };
        let blog = post.address.blog().filter(|_| post.is_public && known.blog() != post.address.blog());
        match blog {
            Some(blog) => self.collect(post, &known, blog, token.as_deref()),
            None => Ok(()),
        }
    }

    /// Makes a post: a draft, or at once in its blog.
    fn create(&self, post: &Post, token: Option<&str>) -> Result<Known, Failure> {
        let path = match post.address.blog().filter(|_| post.is_public) {
            Some(blog) => format!("collections/{blog}/posts"),
            None => "posts".to_owned(),
        };
        let answer = self.client.call(&post.address, &path, token, &document(post, None));
        let answer = answer.map_err(|NoAnswer { reason, may_have_arrived }| match may_have_arrived {
            true => Failure::Unknown(reason),
            false => Failure::Later(reason),
        })?;
        let made = match answer.meaning() {
            Meaning::Done(data) => Made::read(data),
            Meaning::Strange => None,
            Meaning::Gone => return Err(Failure::Refused(answer.words())),
            Meaning::Later(why) => return Err(Failure::Later(why)),
            Meaning::Refused(why) => return Err(Failure::Refused(with_advice(&answer, token, why))),
        };
        // Perhaps it has it, and nobody knows by what name.
        let made = made.ok_or_else(|| Failure::Unknown(STRANGE.to_owned()))?;
        let known = Known::new(&made, post, token.is_some());
        self.memory.keep(post.name(), &known).map_err(|error| Failure::Unknown(error.to_string()))?;
        Ok(known)
    }

    /// Updates a post; nothing if the server has it no more.
    fn update(&self, post: &Post, known: &Known, token: Option<&str>) -> Result<Option<Known>, Failure> {
        if known.is_owned && token.is_none() {
            let text = "the post is an account's: name the file of its token with --token-file";
            return Err(Failure::Refused(text.to_owned()));
        }
        // An account does not own what was posted without one.
        let token = token.filter(|_| known.is_owned);
        let changes = document(post, known.token.as_deref().filter(|_| !known.is_owned));
        let answer = self.client.call(&post.address, &format!("posts/{}", known.id), token, &changes);
        let answer = answer.map_err(|none| Failure::Later(none.reason))?;
        match answer.meaning() {
            Meaning::Done(_) => Ok(Some(known.clone())),
            Meaning::Strange => Err(Failure::Refused(STRANGE.to_owned())),
            Meaning::Gone => {
                self.memory.forget(post.name()).map_err(|error| refused(&error))?;
                Ok(None)
            }
            Meaning::Later(why) => Err(Failure::Later(why)),
            Meaning::Refused(why) => Err(Failure::Refused(with_advice(&answer, token, why))),
        }
    }

    /// Moves a draft to a blog.
    fn collect(&self, post: &Post, known: &Known, blog: &str, token: Option<&str>) -> Result<(), Failure> {
        let mut moved = json!({ "id": known.id });
        if let Some(token) = known.token.as_ref().filter(|_| !known.is_owned) {
            moved["token"] = json!(token);
        }
        let moved = Value::Array(vec![moved]);
        let answer = self.client.call(&post.address, &format!("collections/{blog}/collect"), token, &moved);
        let answer = answer.map_err(|none| Failure::Later(none.reason))?;
        let made = match answer.meaning() {
            Meaning::Done(data) => collected(data).map_err(Failure::Refused)?,
            Meaning::Strange => return Err(Failure::Refused(STRANGE.to_owned())),
            Meaning::Gone => return Err(Failure::Refused(format!("no blog {blog}: {}", answer.words()))),
            Meaning::Later(why) => return Err(Failure::Later(why)),
            Meaning::Refused(why) => return Err(Failure::Refused(with_advice(&answer, token, why))),
        };
        let link = made.link(&post.address, Some(blog));
        let public = Known { is_owned: true, blog: Some(blog.to_owned()), link, ..known.clone() };
        self.memory.keep(post.name(), &public).map_err(|error| Failure::Later(error.to_string()))
    }
}

impl Transport<Post> for Courier {
    fn deliver(&mut self, post: &Post) -> Result<(), Failure> {
        let origin = post.address.origin();
        if let Some(why) = self.silent.get(origin) {
            return Err(Failure::Later(why.clone()));
        }
        let done = self.take(post);
        if let Err(Failure::Later(why) | Failure::Unknown(why)) = &done {
            self.silent.insert(origin.to_owned(), why.clone());
        }
        done
    }

    fn goes_on(&self) -> bool {
        true
    }
}

/// What is sent of a post.
fn document(post: &Post, token: Option<&str>) -> Value {
    let mut document = json!({ "title": post.title, "body": post.body, "font": FONT });
    if let Some(token) = token {
        document["token"] = json!(token);
    }
    document
}

/// Nothing can be sent until the user has looked at it.
fn refused(error: &Error) -> Failure {
    Failure::Refused(error.to_string())
}

/// What to do where a server wants an account.
fn with_advice(answer: &Answer, token: Option<&str>, why: String) -> String {
    match (answer.status, token) {
        (401 | 403, None) => format!("{why}: name the file with an account's token with --token-file"),
        _ => why,
    }
}
