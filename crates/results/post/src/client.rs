//! One call of a server, bounded in time and size.

use std::io;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use crate::Address;
use crate::answer::Answer;

/// Largest answer beside what it repeats of the request, in bytes.
const ANSWER_MAX: usize = 64 << 10;

/// How much longer a text becomes at most when a server writes it as JSON.
const ESCAPED: usize = 6;

/// What part of the whole time finding a server, and connecting to it, may take.
const PARTS: u32 = 4;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoAnswer {
    /// In words.
    pub(crate) reason: String,
    /// Whether the server may have got the request.
    pub(crate) may_have_arrived: bool,
}

/// Calls servers, none for longer than this.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client {
    pub(crate) limit: Duration,
}

impl Client {
    /// Posts a document to a path of a server. The token goes to no other: redirections are not followed.
    pub(crate) fn call(
        self,
        address: &Address,
        path: &str,
        token: Option<&str>,
        document: &Value,
    ) -> Result<Answer, NoAnswer> {
        let body = document.to_string();
        let mut request = self
            .agent(address)
            .post(format!("{}/api/{path}", address.origin()))
            .header("Content-Type", "application/json");
        if let Some(token) = token {
            request = request.header("Authorization", format!("Token {token}"));
        }
        let mut response = request.send(body.as_bytes()).map_err(|error| NoAnswer::of(&error))?;
        let header =
            response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        let limit = (ANSWER_MAX + ESCAPED * body.len()) as u64;
        let document = match response.body_mut().with_config().limit(limit).read_to_vec() {
            Ok(text) => serde_json::from_slice(&text).ok(),
            Err(_) => None,
        };
        Ok(Answer { status: response.status().as_u16(), retry_after: header, document })
    }

    fn agent(self, address: &Address) -> Agent {
        let config = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .timeout_global(Some(self.limit))
            // Whether it ended before the request was sent must be known.
            .timeout_resolve(Some(self.limit / PARTS))
            .timeout_connect(Some(self.limit / PARTS))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("kiln/", env!("CARGO_PKG_VERSION")));
        // What is not encrypted does not leave this host.
        let config = if address.is_plain() { config.proxy(None) } else { config };
        config.build().into()
    }
}

impl NoAnswer {
    fn of(error: &ureq::Error) -> Self {
        Self { reason: error.to_string(), may_have_arrived: may_have_arrived(error) }
    }
}

/// Whether the request may have left this host.
fn may_have_arrived(error: &ureq::Error) -> bool {
    use ureq::Timeout::{Connect, Resolve};
    match error {
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Timeout(Connect | Resolve)
        | ureq::Error::Tls(_)
        | ureq::Error::Rustls(_)
        | ureq::Error::Pem(_)
        | ureq::Error::BadUri(_) => false,
        ureq::Error::Io(error) => !is_before_sending(error),
        _ => true,
    }
}

/// Whether it comes from looking up the name, from connecting, or from TLS that refuses the server.
fn is_before_sending(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    // The standard library gives no kind to what getaddrinfo(3) says; nothing else here is without one.
    let unnamed = io::Error::from_raw_os_error(i32::MAX).kind();
    let is_lookup = error.raw_os_error().is_none() && error.kind() == unnamed;
    let unreached = [
        Kind::ConnectionRefused,
        Kind::HostUnreachable,
        Kind::NetworkUnreachable,
        Kind::NetworkDown,
        Kind::AddrNotAvailable,
        // Of rustls.
        Kind::InvalidData,
    ];
    is_lookup || unreached.contains(&error.kind())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, ToSocketAddrs};

    use serde_json::json;

    use super::*;

    fn called(address: &str) -> Result<Answer, NoAnswer> {
        let client = Client { limit: Duration::from_secs(60) };
        client.call(&Address::parse(address).expect("an address"), "posts", None, &json!({}))
    }

    #[test]
    fn what_is_not_reached_has_got_nothing() {
        // No name has so long a part: nobody is asked for it.
        let nowhere = format!("{}.invalid", "x".repeat(100));
        let error = (nowhere.as_str(), 443).to_socket_addrs().expect_err("no such name");
        assert!(is_before_sending(&error), "{error:?}");
        for address in [format!("https://{nowhere}"), "http://127.0.0.1:1".to_owned()] {
            let none = called(&address).expect_err("nobody is there");
            assert!(!none.may_have_arrived, "{none:?}");
        }
    }

    #[test]
    fn who_took_the_connection_may_have_got_it() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let served = std::thread::spawn(move || drop(listener.accept()));
        let none = called(&format!("http://{address}")).expect_err("it says nothing");
        assert!(none.may_have_arrived, "{none:?}");
        served.join().expect("no panic");
    }
}
