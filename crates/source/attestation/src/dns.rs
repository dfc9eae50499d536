//! Text records of the Domain Name System: RFC 1035.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, RCODE, TYPE};

/// Where resolvers are named: resolv.conf(5).
const RESOLVERS: &str = "/etc/resolv.conf";
const PORT: u16 = 53;

/// How long an answer may take, over UDP and over TCP; a question is asked anew once.
const TIMEOUT: Duration = Duration::from_millis(2500);

/// Largest answer over UDP that is not cut; larger ones come over TCP.
const ANSWER_MAX: usize = 4096;

/// What is known of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Its text records, each in one piece.
    Texts(Vec<String>),
    /// There is no such name, or it has no text.
    Nothing,
    /// Nobody could be asked, and why.
    Silence(String),
}

/// Asks resolvers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolver {
    servers: Vec<SocketAddr>,
}

impl Resolver {
    /// The resolvers of this host.
    pub fn of_host() -> Self {
        let text = std::fs::read_to_string(RESOLVERS).unwrap_or_default();
        Self { servers: servers(&text) }
    }

    /// This server.
    pub fn at(server: SocketAddr) -> Self {
        Self { servers: vec![server] }
    }

    /// The text records of a name.
    pub(crate) fn texts(&self, name: &str) -> Answer {
        let mut silence = "no resolver in /etc/resolv.conf".to_owned();
        for server in &self.servers {
            match ask(*server, name) {
                Ok(answer) => return answer,
                Err(error) => silence = format!("{server}: {error}"),
            }
        }
        Answer::Silence(silence)
    }
}

fn servers(text: &str) -> Vec<SocketAddr> {
    let address = |line: &str| line.strip_prefix("nameserver")?.trim().parse::<IpAddr>().ok();
    text.lines().filter_map(address).map(|address| SocketAddr::new(address, PORT)).collect()
}

fn ask(server: SocketAddr, name: &str) -> io::Result<Answer> {
    // Guessing it is half of forging an answer; the other half is the port, which the kernel draws.
    let id = (RandomState::new().hash_one(name) & 0xffff) as u16;
    let question = question(id, name)?;
    let reply = over_udp(server, id, &question).or_else(|_| over_udp(server, id, &question))?;
    match answer(&reply, id)? {
        Some(answer) => Ok(answer),
        // It was cut.
        None => answer(&over_tcp(server, &question)?, id)?.ok_or_else(|| io::ErrorKind::InvalidData.into()),
    }
}

fn question(id: u16, name: &str) -> io::Result<Vec<u8>> {
    let name = Name::new(name).map_err(invalid)?;
    let mut packet = Packet::new_query(id);
    packet.set_flags(PacketFlag::RECURSION_DESIRED);
    packet.questions.push(Question::new(name, QTYPE::TYPE(TYPE::TXT), QCLASS::CLASS(CLASS::IN), false));
    packet.build_bytes_vec().map_err(invalid)
}

fn over_udp(server: SocketAddr, id: u16, question: &[u8]) -> io::Result<Vec<u8>> {
    let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    // Answers of others do not arrive.
    socket.connect(server)?;
    socket.send(question)?;
    let start = Instant::now();
    loop {
        let left = TIMEOUT.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        let mut reply = vec![0; ANSWER_MAX];
        let length = socket.recv(&mut reply).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
            _ => error,
        })?;
        reply.truncate(length);
        if reply.get(..2) == Some(id.to_be_bytes().as_slice()) {
            return Ok(reply);
        }
    }
}

fn over_tcp(server: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&server, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let length = u16::try_from(question.len()).map_err(invalid)?;
    stream.write_all(&[&length.to_be_bytes(), question].concat())?;
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut reply = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut reply)?;
    Ok(reply)
}

/// What a reply says; nothing if it was cut.
fn answer(reply: &[u8], id: u16) -> io::Result<Option<Answer>> {
    let packet = Packet::parse(reply).map_err(invalid)?;
    if packet.id() != id || !packet.has_flags(PacketFlag::RESPONSE) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    if packet.has_flags(PacketFlag::TRUNCATION) {
        return Ok(None);
    }
    match packet.rcode() {
        RCODE::NoError => {}
        RCODE::NameError => return Ok(Some(Answer::Nothing)),
        other => return Err(io::Error::other(format!("the resolver answers {other:?}"))),
    }
    let texts: Vec<String> = packet
        .answers
        .into_iter()
        .filter_map(|record| match record.rdata {
            RData::TXT(text) => String::try_from(text).ok(),
            _ => None,
        })
        .collect();
    Ok(Some(if texts.is_empty() { Answer::Nothing } else { Answer::Texts(texts) }))
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn resolvers_are_those_of_the_host() {
        let text = "# none\nsearch example.org\nnameserver 192.0.2.1\nnameserver 2001:db8::1\nnameserver x\n";
        let expected = ["192.0.2.1:53", "[2001:db8::1]:53"].map(|server| server.parse().unwrap());
        assert_eq!(servers(text), expected);
        let nobody = Resolver { servers: Vec::new() };
        assert!(matches!(nobody.texts("a.example.org"), Answer::Silence(_)));
    }

    #[test]
    fn who_does_not_listen_is_silent() {
        let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let answer = Resolver::at(closed).texts("a.example.org");
        assert!(matches!(&answer, Answer::Silence(reason) if reason.contains("refused")), "{answer:?}");
        assert!(matches!(Resolver::at(closed).texts(&"a".repeat(300)), Answer::Silence(_)));
    }

    proptest! {
        #[test]
        fn no_reply_does_harm(reply: Vec<u8>) {
            let _ = answer(&reply, 0);
        }
    }
}
