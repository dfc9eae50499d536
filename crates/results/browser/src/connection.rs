//! How Chromium is spoken to: documents of JSON, each with a NUL behind it, over two pipes.
//! <https://chromedevtools.github.io/devtools-protocol/> has the methods.
//!
//! When the pipes close, Chromium ends: none outlives a test, however that ends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::Error;

/// Between two looks at what has come.
pub(crate) const SLICE: Duration = Duration::from_millis(20);

/// Looks until something that is sure to come counts as lost: five minutes, in which a host that stands still does not count.
pub(crate) const SLICES: u32 = 15_000;

/// Most events that are kept of all tabs.
const EVENTS_MAX: usize = 100_000;

/// Something that happened in a tab.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) session: String,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// A browser that listens.
#[derive(Debug)]
pub(crate) struct Connection {
    child: Child,
    requests: Option<ChildStdin>,
    messages: Receiver<Value>,
    last: u64,
    events: Vec<Event>,
}

impl Connection {
    /// The connection to a browser that has just been started.
    pub(crate) fn new(mut child: Child) -> Self {
        let requests = child.stdin.take();
        let (sender, messages) = channel();
        if let Some(output) = child.stdout.take() {
            let mut output = BufReader::new(output);
            // It ends with the browser.
            std::thread::spawn(move || {
                let mut message = Vec::new();
                while output.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                    let document = message.strip_suffix(b"\0").unwrap_or(&message);
                    let sent = serde_json::from_slice(document).ok().map(|document| sender.send(document));
                    if matches!(sent, Some(Err(_))) {
                        break;
                    }
                    message.clear();
                }
            });
        }
        Self { child, requests, messages, last: 0, events: Vec::new() }
    }

    /// Calls a method, in a tab or of the whole browser, and gives its result.
    pub(crate) fn call(&mut self, session: &str, method: &str, params: &Value) -> Result<Value, Error> {
        let id = self.send(session, method, params)?;
        for _ in 0..SLICES {
            let Some(message) = self.next(method)? else { continue };
            if message["id"].as_u64() != Some(id) {
                continue;
            }
            return match message.get("error") {
                None => Ok(message["result"].clone()),
                Some(error) => Err(Error::Refused { method: method.to_owned(), why: error.to_string() }),
            };
        }
        Err(Error::Late(format!("the result of {method}")))
    }

    /// All events so far of a tab.
    pub(crate) fn events<'a>(&'a self, session: &'a str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().filter(move |event| event.session == session)
    }

    /// Forgets the events of a tab.
    pub(crate) fn forget(&mut self, session: &str) {
        self.events.retain(|event| event.session != session);
    }

    fn send(&mut self, session: &str, method: &str, params: &Value) -> Result<u64, Error> {
        self.last += 1;
        let mut request = json!({"id": self.last, "method": method, "params": params});
        if !session.is_empty() {
            request["sessionId"] = session.into();
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        let sent = self.requests.as_mut().map(|requests| requests.write_all(&bytes));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.ended(method));
        }
        Ok(self.last)
    }

    /// The next message, if there is one soon; an event is kept.
    fn next(&mut self, asked: &str) -> Result<Option<Value>, Error> {
        let message = match self.messages.recv_timeout(SLICE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended(asked)),
        };
        let Some(method) = message["method"].as_str() else { return Ok(Some(message)) };
        let session = message["sessionId"].as_str().unwrap_or_default();
        let event = Event {
            session: session.to_owned(),
            method: method.to_owned(),
            params: message["params"].clone(),
        };
        if event.method == "Page.javascriptDialogOpening" {
            // A page stands still until somebody answers.
            self.send(&event.session, "Page.handleJavaScriptDialog", &json!({"accept": false}))?;
        }
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        }
        Ok(Some(message))
    }

    fn ended(&self, asked: &str) -> Error {
        Error::Ended { asked: asked.to_owned(), log: String::new() }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.requests = None;
        for _ in 0..SLICES / 10 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(SLICE);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A field that is a text.
pub(crate) fn word(document: &Value, field: &str) -> String {
    document[field].as_str().unwrap_or_default().to_owned()
}
