//! Messages of DHCP (RFC 2131) and their options (RFC 2132).

use std::net::Ipv4Addr;

use crate::mac::Mac;
use crate::settings::Settings;

/// Bytes before the options, with the magic cookie.
const FIXED: usize = 240;

/// What stands before the options (RFC 2131, section 3).
const COOKIE: [u8; 4] = [99, 130, 83, 99];

/// Bytes that a client may expect at least: those of BOOTP (RFC 951).
const LENGTH_MIN: usize = 300;

/// Where the fixed fields are.
const TRANSACTION: usize = 4;
const FLAGS: usize = 10;
const CLIENT: usize = 12;
const YOURS: usize = 16;
const RELAY: usize = 24;
const HARDWARE: usize = 28;

/// Options.
const PAD: u8 = 0;
const MASK: u8 = 1;
const ROUTER: u8 = 3;
const DNS_SERVER: u8 = 6;
const HOST_NAME: u8 = 12;
const DOMAIN: u8 = 15;
const MTU: u8 = 26;
const BROADCAST: u8 = 28;
const REQUESTED: u8 = 50;
const LEASE_TIME: u8 = 51;
const KIND: u8 = 53;
const SERVER: u8 = 54;
const CLIENT_ID: u8 = 61;
const END: u8 = 255;

/// A day, in seconds: no case takes so long, so that nothing is renewed while it runs.
const LEASE_SECONDS: u32 = 86_400;

/// Kinds of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Discover = 1,
    Offer = 2,
    Request = 3,
    Decline = 4,
    Ack = 5,
    Nak = 6,
    Release = 7,
    Inform = 8,
}

impl Kind {
    fn read(code: u8) -> Option<Self> {
        use Kind::{Ack, Decline, Discover, Inform, Nak, Offer, Release, Request};
        let all = [Discover, Offer, Request, Decline, Ack, Nak, Release, Inform];
        all.into_iter().find(|kind| *kind as u8 == code)
    }
}

/// What a client says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request<'a> {
    pub(super) kind: Kind,
    transaction: [u8; 4],
    flags: [u8; 2],
    /// It cannot take packets for an address that it does not have yet.
    pub(super) wants_broadcast: bool,
    /// The address that it has.
    pub(super) client: Option<Ipv4Addr>,
    pub(super) mac: Mac,
    /// The address that it asks for.
    requested: Option<Ipv4Addr>,
    /// The server that it talks to.
    pub(super) server: Option<Ipv4Addr>,
    /// Its own name for itself, which comes back to it (RFC 6842).
    id: Option<&'a [u8]>,
}

impl<'a> Request<'a> {
    /// Reads a message; none if it is not a client's, or came through a relay.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (fixed, options) = bytes.split_at_checked(FIXED)?;
        // A request, on Ethernet, with addresses of six bytes.
        if fixed[..3] != [1, 1, 6] || fixed[FIXED - 4..] != COOKIE || fixed[RELAY..RELAY + 4] != [0; 4] {
            return None;
        }
        let option = |code| find(options, code);
        let address_in = |code| address(option(code)?);
        let [kind] = option(KIND)? else { return None };
        let flags = field(fixed, FLAGS)?;
        Some(Self {
            kind: Kind::read(*kind)?,
            transaction: field(fixed, TRANSACTION)?,
            flags,
            wants_broadcast: flags[0] & 0x80 != 0,
            client: address(fixed.get(CLIENT..CLIENT + 4)?).filter(|address| !address.is_unspecified()),
            mac: Mac(field(fixed, HARDWARE)?),
            requested: address_in(REQUESTED),
            server: address_in(SERVER),
            id: option(CLIENT_ID),
        })
    }

    /// The address that it wants to have, or to keep.
    pub(super) fn wanted(&self) -> Option<Ipv4Addr> {
        self.requested.or(self.client)
    }
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn address(bytes: &[u8]) -> Option<Ipv4Addr> {
    <[u8; 4]>::try_from(bytes).ok().map(Ipv4Addr::from)
}

/// The value of the first option with this code.
fn find(mut options: &[u8], code: u8) -> Option<&[u8]> {
    loop {
        match options {
            [PAD, rest @ ..] => options = rest,
            [END, ..] | [] | [_] => return None,
            [found, length, rest @ ..] => {
                let (value, rest) = rest.split_at_checked(usize::from(*length))?;
                if *found == code {
                    return Some(value);
                }
                options = rest;
            }
        }
    }
}

/// What the server says.
#[derive(Debug)]
pub(super) struct Reply<'a> {
    pub(super) kind: Kind,
    /// The address that the client gets.
    pub(super) address: Option<Ipv4Addr>,
    pub(super) server: Ipv4Addr,
    /// The name that the client gets.
    pub(super) name: Option<&'a str>,
    /// What else it gets.
    pub(super) options: &'a [(u8, Vec<u8>)],
}

impl Reply<'_> {
    /// The message, in answer to `request`.
    pub(super) fn to_bytes(&self, request: &Request<'_>) -> Vec<u8> {
        let mut out = vec![0; FIXED];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(place) = out.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        };
        put(0, &[2, 1, 6]);
        put(TRANSACTION, &request.transaction);
        put(FLAGS, &request.flags);
        if self.kind != Kind::Nak {
            put(CLIENT, &request.client.unwrap_or(Ipv4Addr::UNSPECIFIED).octets());
            put(YOURS, &self.address.unwrap_or(Ipv4Addr::UNSPECIFIED).octets());
        }
        put(HARDWARE, &request.mac.0);
        put(FIXED - 4, &COOKIE);
        self.put_options(&mut out, request);
        out.resize(out.len().max(LENGTH_MIN), PAD);
        out
    }

    fn put_options(&self, out: &mut Vec<u8>, request: &Request<'_>) {
        option(out, KIND, &[self.kind as u8]);
        option(out, SERVER, &self.server.octets());
        if self.address.is_some() {
            option(out, LEASE_TIME, &LEASE_SECONDS.to_be_bytes());
        }
        if self.kind != Kind::Nak {
            self.options.iter().for_each(|(code, value)| option(out, *code, value));
            self.name.iter().for_each(|name| option(out, HOST_NAME, name.as_bytes()));
        }
        request.id.iter().for_each(|id| option(out, CLIENT_ID, id));
        out.push(END);
    }
}

fn option(out: &mut Vec<u8>, code: u8, value: &[u8]) {
    if let Ok(length) = u8::try_from(value.len()) {
        out.extend([code, length]);
        out.extend_from_slice(value);
    }
}

/// What each client of a segment gets beside its address and its name.
pub(super) fn options(settings: &Settings) -> Vec<(u8, Vec<u8>)> {
    let network = settings.network;
    let mut options = vec![
        (MASK, network.mask().octets().to_vec()),
        (DNS_SERVER, network.switch().octets().to_vec()),
        (DOMAIN, settings.domain.as_bytes().to_vec()),
        (MTU, settings.mtu.to_be_bytes().to_vec()),
        (BROADCAST, network.broadcast().octets().to_vec()),
    ];
    // Without it a machine has no default route, so that it sees at once that there is no way out.
    options.extend(settings.router.map(|router| (ROUTER, router.octets().to_vec())));
    options
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(options: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; FIXED];
        bytes[..3].copy_from_slice(&[1, 1, 6]);
        bytes[TRANSACTION..][..4].copy_from_slice(&[9, 8, 7, 6]);
        bytes[HARDWARE..][..6].copy_from_slice(&Mac::of_machine(1).0);
        bytes[FIXED - 4..].copy_from_slice(&COOKIE);
        bytes.extend(options);
        bytes
    }

    #[test]
    fn a_request_is_read() {
        let bytes =
            message(&[PAD, KIND, 1, 3, REQUESTED, 4, 10, 77, 0, 2, CLIENT_ID, 2, 5, 6, END, SERVER, 4]);
        let request = Request::parse(&bytes).unwrap();
        assert_eq!((request.kind, request.mac), (Kind::Request, Mac::of_machine(1)));
        assert_eq!((request.wanted(), request.server), (Some(Ipv4Addr::new(10, 77, 0, 2)), None));
        assert_eq!(request.id, Some(&[5, 6][..]));
    }

    #[test]
    fn what_no_client_says_is_none() {
        let good = message(&[KIND, 1, 1, END]);
        assert!(Request::parse(&good).is_some());
        for (at, byte) in [
            (0, 2),
            (1, 6),
            (2, 8),
            (RELAY, 1),
            (FIXED - 1, 0),
            (FIXED, 52),
            (FIXED + 1, 200),
            (FIXED + 2, 9),
        ] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            assert_eq!(Request::parse(&bytes), None, "{at}");
        }
        assert_eq!(Request::parse(&good[..FIXED]), None);
    }

    proptest! {
        #[test]
        fn a_reply_has_what_was_put_into_it(id in prop::collection::vec(any::<u8>(), 0..255), flags: [u8; 2]) {
            let mut bytes = message(&[KIND, 1, 1, CLIENT_ID, id.len() as u8]);
            bytes[FLAGS..][..2].copy_from_slice(&flags);
            bytes.extend(&id);
            let request = Request::parse(&bytes).unwrap();
            let server = Ipv4Addr::new(10, 77, 0, 1);
            let options = options(&Settings::new("x", 1));
            let reply = Reply { kind: Kind::Offer, address: Some(server), server, name: Some("a"), options: &options };
            let out = reply.to_bytes(&request);
            prop_assert!(out.len() >= LENGTH_MIN && out[TRANSACTION..][..4] == [9, 8, 7, 6]);
            let option = |code| find(&out[FIXED..], code);
            prop_assert_eq!(option(CLIENT_ID), Some(&id[..]));
            prop_assert_eq!(option(HOST_NAME), Some(&b"a"[..]));
            prop_assert_eq!(option(MASK), Some(&[255, 255, 255, 0][..]));
            prop_assert_eq!(option(ROUTER), None);
        }

        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, options in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(Request::parse(&bytes).is_none());
            if let Some(request) = Request::parse(&message(&options)) {
                prop_assert!(request.id.is_none_or(|id| id.len() < 100));
            }
        }
    }
}
