//! `kiln serve` and many who ask; [`crate::browser`] has its pages in a browser.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use judge::Outcome;

use crate::support::serving::{Served, request};
use crate::support::written::{document, run, session, sessions_of};
use crate::support::{Place, until};

/// Browsers that show a page.
const CLIENTS: usize = 100;

/// Connections that the server takes from its own host.
const OF_ONE: usize = 384;

/// Requests at once of one that reads no answer.
const UNREAD: usize = 1_000;

/// A stream of events, and how far it was read.
struct Client {
    stream: TcpStream,
    text: String,
}

impl Client {
    fn new(served: &Served) -> Self {
        Self { stream: served.asked("/live"), text: String::new() }
    }

    /// The number of the last change that it was told of; it waits for one that is not `before`.
    fn next(&mut self, before: Option<&str>) -> String {
        let mut bytes = [0; 4096];
        loop {
            let whole = self.text.rfind("\n\n").map_or("", |end| &self.text[..end]);
            let last = whole.lines().rev().find_map(|line| line.strip_prefix("data: "));
            if let Some(last) = last.filter(|last| Some(*last) != before) {
                return last.to_owned();
            }
            let length = self.stream.read(&mut bytes).expect("news");
            assert!(length > 0, "the stream has ended: {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    }

    /// Whether it ends, one way or the other.
    fn ends(&mut self) -> bool {
        let mut rest = Vec::new();
        let ended = self.stream.read_to_end(&mut rest);
        ended.map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |_| true)
    }
}

#[test]
fn a_hundred_browsers_learn_of_each_session_and_the_end_is_prompt() {
    let place = Place::new();
    let root = sessions_of(&place);
    let add = |number: usize| {
        let (name, case) = (format!("2026-11-20T10-07-3{number}Z-4711"), format!("pipe/case-{number}"));
        session(place.path(), &name, &document(&[&case]), &[run(&case, Outcome::Fail, "is 0")]);
        // All of it is one change.
        std::fs::rename(place.path().join(&name), root.join(&name)).expect("the same disk");
        name
    };
    add(0);
    let served = Served::start(&place, &[]);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::new(&served)).collect();
    let mut seen: Vec<String> = clients.iter_mut().map(|client| client.next(None)).collect();
    let silent = silent(&served);
    for number in 1..=4 {
        let name = add(number);
        for (client, last) in clients.iter_mut().zip(&mut seen) {
            *last = client.next(Some(last.as_str()));
        }
        assert!(seen.iter().all(|last| *last == seen[0]), "{seen:?}");
        // Nobody waits for those that do not read.
        until("the page has the session", || served.get("/").contains(&name).then_some(()));
        assert!(served.get("/runs").contains(&format!("pipe/case-{number}")));
    }
    let done = served.stop().expect(0);
    assert!(!done.stderr.contains("panic"), "{}", done.stderr);
    assert!(clients.iter_mut().all(Client::ends));
    drop(silent);
}

#[test]
fn one_client_does_not_get_all_connections() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let mut clients: Vec<Client> = (0..OF_ONE).map(|_| Client::new(&served)).collect();
    let seen: Vec<String> = clients.iter_mut().map(|client| client.next(None)).collect();
    let told = served.get("/");
    assert!(told.starts_with("HTTP/1.1 429 ") && told.contains("close other windows"), "{told}");
    assert!(told.contains("retry-after: "), "{told}");
    // Those that are served do not notice.
    session(&sessions_of(&place), "2026-11-20T10-07-31Z-4711", &document(&[]), &[]);
    clients.iter_mut().zip(&seen).for_each(|(client, last)| drop(client.next(Some(last.as_str()))));
    drop(clients.pop());
    until("another has its place", || served.get("/").starts_with("HTTP/1.1 200 ").then_some(()));
}

/// Clients that ask for much and read nothing of it.
fn silent(served: &Served) -> Vec<TcpStream> {
    let requests = request("/runs", "keep-alive").repeat(UNREAD);
    let client = |_| {
        let mut stream = served.connected();
        stream.set_nonblocking(true).expect("a socket");
        // It takes what fits.
        while stream.write(requests.as_bytes()).is_ok() {}
        stream
    };
    (0..3).map(client).collect()
}
