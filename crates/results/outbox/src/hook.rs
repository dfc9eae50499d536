//! What else is told when something happened: a command of the user's, and a server.
//!
//! Neither says what it has had before, so that there is no queue for them: whoever calls again calls again.

use std::io::{Seek, Write};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host::Task;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use crate::sendmail::complaint;

/// The longest that a command or a server may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a line of shell with a text on its standard input.
///
/// # Errors
///
/// Why it did not take it, in words.
pub fn run(line: &str, text: &[u8], interrupt: &AtomicBool) -> Result<(), String> {
    let in_words = |error: std::io::Error| error.to_string();
    let mut input = host::nameless().map_err(in_words)?;
    input.write_all(text).and_then(|()| input.rewind()).map_err(in_words)?;
    let give = |command: &mut Command| {
        command.stdin(input);
    };
    let done = Task::new("sh", &["-c", line], interrupt).limit(LIMIT).with(give).run(&mut || {});
    match done {
        Ok(done) if done.success => Ok(()),
        Ok(done) => Err(complaint(&done.complaint)),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether this names a server.
#[must_use]
pub fn is_server(link: &str) -> bool {
    ["https://", "http://"]
        .iter()
        .any(|scheme| link.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
}

/// Sends JSON to a server. `id` is the same when the same is sent again:
/// <https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/>.
///
/// # Errors
///
/// Why the server did not take it, in words.
pub fn post(link: &str, json: &[u8], id: &str) -> Result<(), String> {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder().tls_config(tls).timeout_global(Some(LIMIT)).max_redirects(0);
    let request = config.build().new_agent().post(link);
    let sent = request.header("Content-Type", "application/json").header("Idempotency-Key", id).send(json);
    match sent {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(format!("it answers {}", answer.status())),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    static NEVER: AtomicBool = AtomicBool::new(false);

    #[test]
    fn a_command_gets_the_text_and_its_complaint_is_reported() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("it");
        run(&format!("cat > '{}'", path.display()), b"two\nlines\n", &NEVER).expect("it takes it");
        assert_eq!(std::fs::read(&path).expect("written"), b"two\nlines\n");
        assert_eq!(run("echo no >&2; exit 3", b"", &NEVER), Err("no".to_owned()));
        assert_eq!(run("exit 3", b"", &NEVER), Err("it gave no reason".to_owned()));
        // One that does not read is no error.
        run("true", &[b'x'; 1 << 20], &NEVER).expect("it takes it");
    }

    /// A server for one request: what it got.
    fn server(status: &'static str) -> (String, thread::JoinHandle<(String, Vec<u8>)>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let link = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let served = thread::spawn(move || {
            let (stream, _) = listener.accept().expect("a client");
            let mut reader = BufReader::new(&stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a line");
                if line == "\r\n" {
                    break;
                }
                let lower = line.to_lowercase();
                if let Some(value) = lower.strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a number");
                }
                head += &lower;
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            (&stream)
                .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes())
                .expect("sent");
            (head, body)
        });
        (link, served)
    }

    #[test]
    fn a_server_gets_json_and_what_it_answers_counts() {
        let (link, served) = server("204 No Content");
        post(&link, b"{\"text\": \"x\"}", "1f").expect("it takes it");
        let (head, body) = served.join().expect("no panic");
        assert!(head.starts_with("post /hook") && head.contains("idempotency-key: 1f"), "{head}");
        assert_eq!(body, b"{\"text\": \"x\"}");
        let (link, served) = server("302 Found");
        assert!(post(&link, b"{}", "1f").is_err(), "a page to log in is no success");
        served.join().expect("no panic");
        let (link, served) = server("500 Internal Server Error");
        assert!(post(&link, b"{}", "1f").unwrap_err().contains("500"));
        served.join().expect("no panic");
        assert!(post("http://127.0.0.1:1/x", b"{}", "1f").is_err(), "nobody is there");
    }

    #[test]
    fn only_links_are_servers() {
        for (link, is) in [
            ("https://x.org/hook", true),
            ("http://[::1]:8", true),
            ("ftp://x", false),
            ("https://", false),
            ("", false),
        ] {
            assert_eq!(is_server(link), is, "{link}");
        }
    }
}
