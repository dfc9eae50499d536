//! A server of the web that answers what a test tells it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

/// Bytes of an answer that is too large.
const HUGE: usize = 100 << 20;

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// Status, more of the head, and body.
    Says(u16, &'static str, String),
    /// It sends 100 MB.
    Huge,
    /// It never answers.
    Silent,
}

/// What the server got.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) what: String,
    /// The head in small letters but for its first line.
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// A server that gives one answer after the other and then none.
#[derive(Debug)]
pub(crate) struct Web {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Answer {
    /// A document of JSON.
    pub(crate) fn json(status: u16, document: &Value) -> Self {
        Self::Says(status, "", document.to_string())
    }
}

impl Web {
    pub(crate) fn new(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (asked, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (log, over) = (Arc::clone(&asked), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().expect("a client");
                if over.load(Ordering::Relaxed) {
                    return;
                }
                log.lock().expect("no panic").push(read(&stream));
                give(&answer, stream);
            }
        });
        Self { address, asked, is_over, thread: Some(thread) }
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It may wait for a client.
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn read(stream: &TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    };
    let first = line();
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let line = line().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
        head += &line;
        head.push('\n');
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let what = first.trim_end_matches(" HTTP/1.1").to_owned();
    Asked { what, head, body: serde_json::from_slice(&body).expect("JSON") }
}

/// A client may go away at any time.
fn give(answer: &Answer, mut stream: TcpStream) {
    let head = |status: u16, more: &str, length: usize| {
        format!("HTTP/1.1 {status} X\r\nConnection: close\r\n{more}Content-Length: {length}\r\n\r\n")
    };
    match answer {
        Answer::Says(status, more, body) => {
            let _ = stream.write_all((head(*status, more, body.len()) + body).as_bytes());
        }
        Answer::Huge => {
            let block = vec![b' '; 1 << 20];
            let mut is_read = stream.write_all(head(200, "", HUGE).as_bytes()).is_ok();
            for _ in 0..HUGE / block.len() {
                is_read = is_read && stream.write_all(&block).is_ok();
            }
        }
        Answer::Silent => {
            let _ = stream.read(&mut [0]);
        }
    }
}
