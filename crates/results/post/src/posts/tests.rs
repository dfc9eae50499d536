use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;

use outbox::{State, Transport};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Address;
use crate::answer::Made;

struct Place {
    folder: tempfile::TempDir,
    posts: Posts,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("temporary");
        let posts = Posts::at(&folder.path().join("posts"));
        Self { folder, posts }
    }

    fn states(&self) -> Vec<(State, String)> {
        let entries = self.posts.queue.entries().map(|entry| entry.expect("readable"));
        entries.map(|entry| (entry.state, entry.item.body)).collect()
    }

    fn learns(&self, post: &Post) {
        let made = Made::read(&json!({"id": "1a", "token": "secret"})).expect("a post");
        self.posts.memory.keep(post.name(), &Known::new(&made, post, false)).expect("writable");
    }
}

fn post(subject: &str, body: &str) -> Post {
    let address = Address::parse("https://x.org/blog").expect("an address");
    let text = ("title".to_owned(), body.to_owned());
    Post::new(address, subject.to_owned(), text, false, None).expect("a post")
}

/// Answers all alike.
struct Answers(Option<Failure>, Vec<String>);

impl Transport<Post> for Answers {
    fn deliver(&mut self, post: &Post) -> Result<(), Failure> {
        self.1.push(post.body.clone());
        self.0.clone().map_or(Ok(()), Err)
    }

    fn goes_on(&self) -> bool {
        true
    }
}

#[test]
fn a_waiting_post_is_replaced_and_one_that_may_be_made_is_not() {
    let place = Place::new();
    for body in ["old", "new"] {
        assert_eq!(place.posts.add(&post("a", body)).expect("writable"), Queued::New);
    }
    assert_eq!(place.states(), [(State::Queued, "new".to_owned())]);
    let mut lost = Answers(Some(Failure::Unknown("lost".to_owned())), Vec::new());
    place.posts.queue.send(&mut lost, &mut |_, _| {}).expect("nobody else sends");
    let again = place.posts.add(&post("a", "newest")).expect("readable");
    assert_eq!(again, Queued::Before(State::Sending));
    place.learns(&post("a", ""));
    assert_eq!(place.posts.add(&post("a", "newest")).expect("writable"), Queued::New);
    assert_eq!(place.states(), [(State::Queued, "newest".to_owned())]);
}

#[test]
fn tokens_are_for_their_user_alone() {
    let place = Place::new();
    let post = post("a", "");
    place.learns(&post);
    let path = place.folder.path().join("posts/known").join(post.name()).with_extension("json");
    let mode = std::fs::metadata(&path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let known = place.posts.known(&post).expect("readable").expect("known");
    assert_eq!((known.link(), known.blog()), ("https://x.org/1a", None));
    std::fs::write(&path, "garbage").expect("writable");
    let error = place.posts.known(&post).expect_err("it is damaged").to_string();
    assert!(error.contains("remove it"), "{error}");
}

#[test]
fn a_server_that_is_not_there_has_not_got_it() {
    let place = Place::new();
    let address = Address::parse("http://127.0.0.1:1").expect("an address");
    let text = ("title".to_owned(), String::new());
    let post = Post::new(address, "a".to_owned(), text, false, None).expect("a post");
    place.posts.add(&post).expect("writable");
    let mut answers = Vec::new();
    let limit = Duration::from_secs(60);
    place.posts.send(limit, &mut |_, done| answers.push(done.clone())).expect("nobody else sends");
    assert!(matches!(answers[..], [Err(Failure::Later(_))]), "{answers:?}");
    assert_eq!(place.states().len(), 1);
}

proptest! {
    #[test]
    fn nothing_is_lost_and_no_post_is_made_twice(steps in prop::collection::vec((0..3usize, 0..5u8), 0..24)) {
        let place = Place::new();
        // What each subject says last; those that are or may be on the server.
        let (mut newest, mut made) = (BTreeMap::new(), BTreeSet::new());
        for (number, (subject, answer)) in steps.into_iter().enumerate() {
            let name = format!("subject {subject}");
            if answer == 4 {
                let body = format!("{name}, {number}");
                let is_stuck = made.contains(&name);
                let queued = place.posts.add(&post(&name, &body)).expect("writable");
                prop_assert_eq!(queued == Queued::New, !is_stuck);
                if !is_stuck {
                    newest.insert(name, body);
                }
                continue;
            }
            let failure = match answer {
                0 => None,
                1 => Some(Failure::Later(String::new())),
                2 => Some(Failure::Refused(String::new())),
                _ => Some(Failure::Unknown(String::new())),
            };
            let mut server = Answers(failure.clone(), Vec::new());
            place.posts.queue.send(&mut server, &mut |_, _| {}).expect("nobody else sends");
            for body in server.1 {
                let name = body.split(',').next().expect("a name").to_owned();
                prop_assert_eq!(newest.get(&name), Some(&body));
                prop_assert!(!made.contains(&name), "{body} may have been made");
                if let Some(Failure::Unknown(_)) = failure {
                    made.insert(name);
                }
            }
            prop_assert_eq!(place.states().len(), newest.len());
        }
    }
}
