use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;

use super::*;

/// A server of sessions that a test made.
struct Served {
    place: tempfile::TempDir,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

/// A session with a Run of this case that failed for this reason.
fn add(root: &Path, name: &str, case: &str, reason: &str) {
    let folder = root.join(name);
    std::fs::create_dir_all(folder.join("cases")).expect("a folder");
    let session = r#"{"started": "2026-11-20T10:00:00Z", "kiln": "0.1.0", "locator": "deb:6.1.0-47-amd64", "kernel": "deb:6.1.0-47-amd64",
        "provenance": "", "release": "6.1.0-47-amd64", "identity": "x", "machine": "QEMU", "suite": "smoke", "cases": ["CASE"],
        "command": ["run", "deb:6.1.0-47-amd64"], "summary": {"pass": 0, "fail": 1, "crash": 0, "hang": 0, "skip": 0, "broken": 0, "not_run": 0}}"#;
    std::fs::write(folder.join("session.json"), session.replace("CASE", case)).expect("writable");
    let run = judge::Run {
        case: case.to_owned(),
        outcome: judge::Outcome::Fail,
        reason: reason.to_owned(),
        ..judge::Run::unstarted()
    };
    let path = folder.join("cases").join(format!("{case}.json"));
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, serde_json::to_vec(&run).expect("a document")).expect("writable");
}

impl Served {
    /// Serves one session with a Run of this case that failed for this reason.
    fn start(access: Access, case: &str, reason: &str) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        add(place.path(), SESSION, case, reason);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let stop = Arc::new(AtomicBool::new(false));
        let (root, stopped) = (place.path().to_owned(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || serve(listener, &root, access, &stopped));
        Self { place, address, stop, thread: Some(thread) }
    }

    /// What is answered to a GET with these lines of a header.
    fn get(&self, path: &str, header: &str) -> String {
        self.send(&format!("GET {path} HTTP/1.1\r\n{header}Connection: close\r\n\r\n"))
    }

    fn send(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("a server");
        stream.write_all(request.as_bytes()).expect("a reader");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no panic").expect("served");
        }
    }
}

const SESSION: &str = "2026-11-20T10-07-31Z-4711";

const HOST: &str = "Host: localhost\r\n";

#[test]
fn pages_are_served_and_nothing_of_a_guest_is_markup() {
    let served = Served::start(Access::Host, "pipe/full", "is 0 <script>alert(1)</script>");
    for (path, expected) in [
        ("/", format!("href=\"/session/{SESSION}\"")),
        ("/runs", format!("href=\"/session/{SESSION}/pipe/full\"")),
        ("/runs?case=pipe/*&outcome=fail", "1 Runs".to_owned()),
        ("/runs.csv?kernel=6.1*", "pipe/full".to_owned()),
        ("/problems", "1 problems, 0 closed".to_owned()),
        (&format!("/session/{SESSION}"), "What went wrong".to_owned()),
        (&format!("/session/{SESSION}/pipe/full"), "What went wrong".to_owned()),
        ("/style.css", "nav {".to_owned()),
        ("/page.js", "searchable".to_owned()),
        ("/live.js", "EventSource".to_owned()),
    ] {
        let answer = served.get(path, HOST);
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{path}: {answer}");
        assert!(answer.contains(&expected), "{path}: {answer}");
        let is_page = answer.contains("content-type: text/html");
        assert!(!is_page || !answer.contains("<script>alert"), "{path}: {answer}");
        let header = answer.split("\r\n\r\n").next().expect("a header").to_lowercase();
        assert!(
            header
                .contains("content-security-policy: default-src 'none'; style-src 'self'; script-src 'self'"),
            "{header}"
        );
        assert!(header.contains("x-content-type-options: nosniff"), "{header}");
    }
}

#[test]
fn what_is_not_there_or_cannot_be_says_so() {
    let served = Served::start(Access::Host, "pipe/full", "x");
    std::fs::write(served.place.path().join("secret.json"), "secret").expect("writable");
    for (path, status) in [
        ("/nothing", 404),
        ("/session/2001", 404),
        ("/session/..", 404),
        ("/session/%2e%2e%2f", 404),
        ("/session/2026-11-20T10-07-31Z-4711/no/such", 404),
        ("/session/2026-11-20T10-07-31Z-4711/..%2f..%2fsecret", 404),
        ("/session/2026-11-20T10-07-31Z-4711/../../secret", 404),
        ("/runs?outcome=bad", 400),
        (&format!("/runs?case={}", "x".repeat(201)), 400),
    ] {
        let answer = served.get(path, HOST);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
        assert!(!answer.contains("secret\"") && !answer.contains(": secret"), "{path}: {answer}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        let request =
            format!("{method} /runs HTTP/1.1\r\n{HOST}Content-Length: 0\r\nConnection: close\r\n\r\n");
        assert!(served.send(&request).starts_with("HTTP/1.1 405 "), "{method}");
    }
}

#[test]
fn a_token_is_entered_once_and_other_sites_are_refused() {
    let served = Served::start(Access::with_token("secret"), "pipe/full", "x");
    let asked = |path: &str, header: &str| served.get(path, &format!("Host: kiln.example\r\n{header}"));
    assert!(asked("/", "").starts_with("HTTP/1.1 401 "));
    let entered = asked("/runs?kiln-token=secret", "");
    assert!(entered.starts_with("HTTP/1.1 303 "), "{entered}");
    assert!(entered.contains("location: /runs\r\n"), "{entered}");
    assert!(
        entered.contains("set-cookie: kiln-token=secret; Path=/; HttpOnly; SameSite=Strict\r\n"),
        "{entered}"
    );
    assert!(asked("/?kiln-token=other", "").starts_with("HTTP/1.1 401 "));
    assert!(asked("/", "Cookie: kiln-token=secret\r\n").starts_with("HTTP/1.1 200 "));
    let other = "Cookie: kiln-token=secret\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n";
    assert!(asked("/", other).starts_with("HTTP/1.1 403 "));
    let named = Served::start(Access::Host, "pipe/full", "x");
    assert!(named.get("/", "Host: evil.example\r\n").starts_with("HTTP/1.1 403 "));
}

#[test]
fn browsers_learn_of_news_and_streams_end_with_the_server() {
    let served = Served::start(Access::Host, "pipe/full", "x");
    let mut stream = TcpStream::connect(served.address).expect("a server");
    stream.write_all(format!("GET /live HTTP/1.1\r\n{HOST}\r\n").as_bytes()).expect("a reader");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    let mut seen = String::new();
    let mut read_until = |count: usize, stream: &mut TcpStream| {
        let mut bytes = [0; 4096];
        while seen.matches("data: ").count() < count {
            let length = stream.read(&mut bytes).expect("news");
            assert!(length > 0, "{seen}");
            seen.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    };
    read_until(1, &mut stream);
    add(served.place.path(), "2026-11-21T10-07-31Z-4711", "pipe/full", "x");
    read_until(2, &mut stream);
    drop(served);
    let mut rest = Vec::new();
    // It ends, one way or the other.
    let _ = stream.read_to_end(&mut rest);
}
