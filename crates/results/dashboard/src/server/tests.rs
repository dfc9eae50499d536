use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use super::*;
use crate::fixture::{add, bisect, folders};

/// A server of sessions that a test made.
struct Served {
    place: tempfile::TempDir,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Served {
    /// Serves one session with a Run of this case that failed for this reason.
    fn start(access: Access, case: &str, reason: &str) -> Self {
        Self::with_program(access, None, case, reason)
    }

    /// The same, where browsers may start this program.
    fn with_program(access: Access, program: Option<PathBuf>, case: &str, reason: &str) -> Self {
        let place = tempfile::tempdir().expect("a directory");
        add(place.path(), SESSION, case, reason);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let stop = Arc::new(AtomicBool::new(false));
        let (root, stopped) = (place.path().to_owned(), Arc::clone(&stop));
        let service = Service { folders: folders(&root), access, program };
        let thread = std::thread::spawn(move || serve(listener, service, &stopped));
        Self { place, address, stop, thread: Some(thread) }
    }

    /// What is answered to a GET with these lines of a header.
    fn get(&self, path: &str, header: &str) -> String {
        self.send(&format!("GET {path} HTTP/1.1\r\n{header}Connection: close\r\n\r\n"))
    }

    /// Asks for a page until it is so.
    fn until(&self, path: &str, is_so: impl Fn(&str) -> bool) {
        while !is_so(&self.get(path, HOST)) {
            std::thread::sleep(Duration::from_millis(50));
        }
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
        ("/matrix?suite=smoke", "Matrix of smoke".to_owned()),
        ("/kernel?kernel=6.1.0-47-amd64", "No older kernel of this flavour ran the same".to_owned()),
        ("/case?suite=smoke&case=pipe/full", "its newest 1 Runs".to_owned()),
        ("/conclusions", "Bisections".to_owned()),
        ("/host", "Mails that were not sent".to_owned()),
        (&format!("/session/{SESSION}"), "What went wrong".to_owned()),
        (&format!("/session/{SESSION}/pipe/full"), "What went wrong".to_owned()),
        ("/style.css", "nav {".to_owned()),
        ("/icon.svg", "<path".to_owned()),
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
        (&format!("/runs?case={}", "x".repeat(1001)), 400),
    ] {
        let answer = served.get(path, HOST);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
        assert!(!answer.contains("secret\"") && !answer.contains(": secret"), "{path}: {answer}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        let request = format!(
            "{method} /runs HTTP/1.1\r\n{HOST}Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
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
    for elsewhere in ["//evil.example/", "/\\evil.example/", "///evil.example/"] {
        let entered = asked(&format!("{elsewhere}?kiln-token=secret"), "");
        assert!(entered.contains("location: /evil.example/\r\n"), "{entered}");
    }
    assert!(asked("/?kiln-token=other", "").starts_with("HTTP/1.1 401 "));
    assert!(asked("/", "Cookie: kiln-token=secret\r\n").starts_with("HTTP/1.1 200 "));
    let other = "Cookie: kiln-token=secret\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n";
    assert!(asked("/", other).starts_with("HTTP/1.1 403 "));
    let named = Served::start(Access::Host, "pipe/full", "x");
    assert!(named.get("/", "Host: evil.example\r\n").starts_with("HTTP/1.1 403 "));
    let page = named.get("/?kiln-token=a;Domain=localhost", HOST);
    assert!(page.starts_with("HTTP/1.1 200 ") && !page.contains("set-cookie"), "{page}");
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
    bisect(&served.place.path().join("beside/bisections/4f1c9a0e6b7d2c35"), "fs/a");
    read_until(3, &mut stream);
    drop(served);
    let mut rest = Vec::new();
    // It ends, one way or the other.
    let _ = stream.read_to_end(&mut rest);
}

#[test]
fn a_problem_leads_to_its_runs_and_back() {
    let served = Served::start(Access::Host, "pipe/full", "is 0 <b>");
    let all = served.get("/problems", HOST);
    let (_, rest) = all.split_once("href=\"/problem/").expect("a problem");
    let id = rest.split('"').next().expect("an id");
    let page = served.get(&format!("/problem/{id}"), HOST);
    assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
    assert!(page.contains("<h1>open: ") && page.contains(" &lt;b&gt;"), "{page}");
    assert!(page.contains(&format!("href=\"/session/{SESSION}/pipe/full\"")), "{page}");
    assert!(page.contains("still there in 6.1.0-47-amd64"), "{page}");
    for wrong in ["/problem/", "/problem/000000000000", "/problem/..%2f..%2fetc"] {
        assert!(served.get(wrong, HOST).starts_with("HTTP/1.1 404 "), "{wrong}");
    }
}

#[test]
fn what_has_its_page_already_is_kept_apart() {
    let served = Served::start(Access::Host, "pipe/full", "x");
    let folder = served.place.path().join("beside/figures/2026-11-20T10-07-31Z-1");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("report.html"), "<title>a &lt; b</title><script>alert(1)</script>")
        .expect("writable");
    assert!(served.get("/conclusions", HOST).contains(">a &lt; b</a>"));
    let page = served.get("/comparison/2026-11-20T10-07-31Z-1", HOST).to_lowercase();
    assert!(page.starts_with("http/1.1 200 ok"), "{page}");
    let policies: Vec<&str> =
        page.lines().filter(|line| line.starts_with("content-security-policy:")).collect();
    assert_eq!(policies.len(), 1, "{page}");
    assert!(policies[0].contains(" sandbox allow-scripts; default-src 'none';"), "{page}");
    for wrong in
        ["/comparison/none", "/comparison/..", "/bisection/2026-11-20T10-07-31Z-1", "/measurement/x", "/x/y"]
    {
        assert!(served.get(wrong, HOST).starts_with("HTTP/1.1 404 "), "{wrong}");
    }
}

#[test]
fn a_bisection_is_shown_while_it_goes_on_and_as_its_report_in_the_end() {
    let served = Served::start(Access::Host, "pipe/full", "x");
    let folder = served.place.path().join("beside/bisections/4f1c9a0e6b7d2c35");
    let address = "/bisection/4f1c9a0e6b7d2c35";
    let link = format!("<a href=\"{address}\">3 commits from v6.1 to v6.2: ");
    let journal = bisect(&folder, "fs/a <script>alert(1)</script>");
    // The page of an earlier call.
    std::fs::write(folder.join("report.html"), "<title>earlier</title>").expect("writable");
    served.until("/", |page| page.contains("Bisections that run") && page.contains(&link));
    assert!(served.get("/conclusions", HOST).contains(&format!("runs: {link}")));
    let page = served.get(address, HOST);
    for expected in ["This bisection runs.", "1 step, ~1.5 left", "Tested now", "<td>4</td>", "live.js"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(page.contains("fs/a &lt;script&gt;") && !page.contains("<script>alert"), "{page}");
    drop(journal);
    served.until(address, |page| page.contains("<title>earlier</title>"));
    std::fs::remove_file(folder.join("report.html")).expect("removable");
    assert!(served.get(address, HOST).contains("This bisection was stopped."));
    served.until("/conclusions", |page| page.contains(&format!("not at its end: {link}")));
    served.until("/", |page| !page.contains("Bisections that run"));
    std::fs::write(folder.join("underway.json"), "{}").expect("writable");
    assert!(served.get(address, HOST).starts_with("HTTP/1.1 404 "));
}

#[test]
fn clients_that_wait_hurt_nobody() {
    let served = Served::start(Access::Host, "pipe/full", "x");
    let connected = |request: &str| {
        let mut stream = TcpStream::connect(served.address).expect("a server");
        stream.write_all(request.as_bytes()).expect("a reader");
        stream
    };
    // Some say nothing, some half of a request, and some do not read the answer.
    let whole = format!("GET /runs HTTP/1.1\r\n{HOST}\r\n");
    let requests = ["", "GET / HTTP/1.1\r\nHost: local", &whole];
    let waiting: Vec<TcpStream> =
        requests.iter().cycle().take(90).map(|request| connected(request)).collect();
    assert!(served.get("/", HOST).starts_with("HTTP/1.1 200 OK"));
    drop(served);
    drop(waiting);
}

#[test]
fn a_request_is_bounded() {
    let served = Served::start(Access::Host, "pipe/full", "x");
    let long = served.get(&format!("/runs?case={}", "x".repeat(100_000)), HOST);
    assert!(long.starts_with("HTTP/1.1 4"), "{long}");
    let many = served.get("/", &format!("{HOST}{}", "X: y\r\n".repeat(1000)));
    assert!(many.starts_with("HTTP/1.1 431 "), "{many}");
}

#[test]
fn calls_are_started_and_stopped_by_pages_of_kiln_alone() {
    let script = tempfile::NamedTempFile::new().expect("a file").into_temp_path();
    std::fs::write(&script, "#!/bin/sh\necho called with \"$@\"\nexec sleep 1000\n").expect("writable");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("its own");
    let served =
        Served::with_program(Access::with_token("secret"), Some(script.to_path_buf()), "pipe/full", "x");
    let post = |path: &str, header: &str, form: &str| {
        let length = form.len();
        served.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: kiln.example\r\n{header}Content-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{form}"
        ))
    };
    let cookie = "Cookie: kiln-token=secret\r\n";
    let ours = &format!("{cookie}Sec-Fetch-Site: same-origin\r\n");
    let list = || served.get("/jobs", &format!("Host: kiln.example\r\n{cookie}"));
    let form = "verb=run&subject=deb%3Alatest&suite=&case=pipe%2F*";
    for (header, status) in
        [("", 403), (cookie, 403), (&format!("{cookie}Sec-Fetch-Site: cross-site\r\n"), 403)]
    {
        assert!(post("/jobs/start", header, form).starts_with(&format!("HTTP/1.1 {status} ")), "{header}");
    }
    assert!(post("/jobs/start", ours, "verb=run&subject=--exec").starts_with("HTTP/1.1 400 "));
    assert!(list().contains("Nothing."), "nothing was started yet");
    assert!(post("/jobs/start", ours, form).starts_with("HTTP/1.1 303 "));
    let results =
        format!("called with run deb:latest --case pipe/* --results {}", served.place.path().display());
    let wait_for = |text: &str| {
        while !list().contains(text) {
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait_for(&results);
    assert!(post("/jobs/stop", ours, "id=1").starts_with("HTTP/1.1 303 "));
    wait_for("killed");
    let without = Served::start(Access::with_token("secret"), "pipe/full", "x");
    let answer = without.get("/jobs", &format!("Host: kiln.example\r\n{cookie}"));
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    let leads_there = |page: &str| page.contains("<a href=\"/jobs\">Jobs</a>");
    assert!(leads_there(&list()) && !leads_there(&answer), "{answer}");
}
