//! `kiln serve` at work.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::Signal;

use super::{Done, Place, Running};

/// How soon it ends once it is told to.
const PROMPT: Duration = Duration::from_secs(20);

/// A server, until it is dropped.
#[derive(Debug)]
pub(crate) struct Served {
    running: Option<Running>,
    port: u16,
}

impl Served {
    /// Serves the sessions of a place; nothing else of it may be at work.
    pub(crate) fn start(place: &Place, more: &[&str]) -> Self {
        let running = place.kiln([&["serve", "--listen", "127.0.0.1:0"], more].concat()).start();
        let mut served = Self { running: Some(running), port: 0 };
        served.running().await_stderr("/ shows the sessions in ");
        let said = std::fs::read_to_string(place.path().join("stderr")).expect("it has spoken");
        let port = said.split("http://localhost:").nth(1).and_then(|rest| rest.split('/').next());
        served.port = port.and_then(|port| port.parse().ok()).expect("a port");
        served
    }

    /// The address of a page, as a user of this host types it.
    pub(crate) fn address(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    /// A connection on which nothing has been asked for.
    pub(crate) fn connected(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).expect("it listens")
    }

    /// A connection on which a GET of this path has been asked for.
    pub(crate) fn asked(&self, path: &str) -> TcpStream {
        let mut stream = self.connected();
        stream.set_read_timeout(Some(Duration::from_secs(15 * 60))).expect("a time limit");
        stream.write_all(request(path, "close").as_bytes()).expect("it reads");
        stream
    }

    /// All that is answered to a GET.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut answer = Vec::new();
        self.asked(path).read_to_end(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Ends it as a user does.
    pub(crate) fn stop(mut self) -> Done {
        let running = self.running.take().expect("it runs until it is stopped");
        running.signal(Signal::INT);
        running.wait_within(PROMPT)
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("it runs until it is stopped")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.signal(Signal::KILL);
            if !std::thread::panicking() {
                running.wait();
            }
        }
    }
}

/// A request for a path, after which the connection stays or does not.
pub(crate) fn request(path: &str, connection: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: {connection}\r\n\r\n")
}
