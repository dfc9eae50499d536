//! One answer of a server.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use series::BYTES_MAX;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use crate::Error;
use crate::link::{host, led};
use crate::settings::Settings;

/// How often the user's wish to stop is looked at.
const TICK: Duration = Duration::from_millis(50);

/// Most redirections from one link.
const REDIRECTS_MAX: usize = 10;

/// How long an answer may take to arrive, in times of the limit for its beginning.
const ARRIVAL: u32 = 10;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// For what is there.
    Get,
    /// For results of a search; public-inbox sends mails only so.
    Post,
}

/// What came.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Where it came from, after redirections.
    pub(crate) link: String,
    /// The body, unpacked; nothing if the server has none.
    pub(crate) body: Option<Vec<u8>>,
}

/// Asks servers.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
}

impl Client {
    pub(crate) fn new(settings: &Settings) -> Self {
        let (connect, answer) = settings.timeouts;
        let config = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .timeout_connect(Some(connect))
            .timeout_recv_response(Some(answer))
            .timeout_recv_body(Some(answer * ARRIVAL))
            // public-inbox has answers of status 300 that lead nowhere, over which ureq stumbles.
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(&settings.agent)
            .build();
        Self { agent: config.into() }
    }

    /// Asks, and waits no longer than the user wants to.
    pub(crate) fn ask(&self, method: Method, link: &str, interrupt: &AtomicBool) -> Result<Answer, Error> {
        let (sender, receiver) = channel();
        let (agent, link) = (self.agent.clone(), link.to_owned());
        // It ends by its own limits if nobody waits for it any more.
        thread::spawn(move || sender.send(ask(&agent, method, &link)));
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if !interrupt.load(Ordering::Relaxed) => {}
                Err(_) => return Err(kernel::Error::Interrupted.into()),
            }
        }
    }
}

fn ask(agent: &Agent, method: Method, link: &str) -> Result<Answer, Error> {
    let mut link = link.to_owned();
    for _ in 0..REDIRECTS_MAX {
        let name = host(&link).unwrap_or(&link).to_owned();
        let unreachable =
            |error: ureq::Error| Error::Unreachable { host: name.clone(), reason: error.to_string() };
        let mut response = match method {
            Method::Get => agent.get(&link).call(),
            Method::Post => agent.post(&link).send_empty(),
        }
        .map_err(unreachable)?;
        match response.status().as_u16() {
            200 => {
                let packed = response.body_mut().with_config().limit(BYTES_MAX).reader();
                return Ok(Answer { body: Some(unpacked(packed, &name)?), link });
            }
            301 | 302 | 303 | 307 | 308 => {
                let location = response.headers().get("location").and_then(|value| value.to_str().ok());
                let next = location.map(|location| led(&link, location)).transpose()?.flatten();
                let Some(next) = next else {
                    return Ok(Answer { link, body: None });
                };
                link = next;
            }
            300 | 404 => return Ok(Answer { link, body: None }),
            status => return Err(Error::Status { host: name, status }),
        }
    }
    Err(Error::Unreachable {
        host: host(&link).unwrap_or(&link).to_owned(),
        reason: format!("more than {REDIRECTS_MAX} redirections"),
    })
}

/// What is packed with gzip is unpacked, and both are limited.
fn unpacked(mut packed: impl Read, host: &str) -> Result<Vec<u8>, Error> {
    let broken =
        |error: std::io::Error| Error::Unreachable { host: host.to_owned(), reason: error.to_string() };
    let mut start = Vec::new();
    packed.by_ref().take(2).read_to_end(&mut start).map_err(broken)?;
    let is_packed = start == [0x1f, 0x8b];
    let whole = start.as_slice().chain(packed);
    let mut body = Vec::new();
    let limit = BYTES_MAX + 1;
    match is_packed {
        true => MultiGzDecoder::new(whole).take(limit).read_to_end(&mut body),
        false => whole.take(limit).read_to_end(&mut body),
    }
    .map_err(broken)?;
    if body.len() as u64 > BYTES_MAX {
        return Err(Error::TooLarge { host: host.to_owned(), limit: BYTES_MAX >> 20 });
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn answers_are_unpacked_if_they_are_packed() {
        for content in [b"From x".as_slice(), b"x", b""] {
            assert_eq!(unpacked(content, "h").unwrap(), content);
            assert_eq!(unpacked(packed(content).as_slice(), "h").unwrap(), content);
        }
        // Each mail may be packed for itself.
        let two = [packed(b"one"), packed(b"two")].concat();
        assert_eq!(unpacked(two.as_slice(), "h").unwrap(), b"onetwo");
    }

    #[test]
    fn a_bomb_is_refused() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let block = vec![b'x'; 1 << 20];
        for _ in 0..=(BYTES_MAX >> 20) {
            encoder.write_all(&block).unwrap();
        }
        let bomb = encoder.finish().unwrap();
        assert!(bomb.len() < 4 << 20);
        let error = unpacked(bomb.as_slice(), "h").unwrap_err();
        assert_eq!(error.to_string(), "h: sends more than 256 MiB: give a mailbox with -m");
        let cut = packed(b"whole");
        assert!(unpacked(&cut[..cut.len() - 4], "h").is_err());
    }
}
