//! Messages about interfaces, addresses and neighbours: netlink(7), rtnetlink(7).

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send};

/// Flags of a request that is answered.
pub const REQUEST: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;

/// Flags of a request that makes something new.
pub const CREATE: u16 = REQUEST | (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;

/// Bytes of `struct nlmsghdr`.
pub const HEADER: usize = 16;

/// Number 0, which is what a socket without a protocol gets.
pub const NETLINK_ROUTE: Option<Protocol> = None;

/// Bytes of `struct ifinfomsg`.
const LINK: usize = 16;

/// A message: `struct nlmsghdr`, a structure of its kind, and attributes.
#[derive(Debug, Clone)]
pub struct Message(Vec<u8>);

impl Message {
    /// A message with this structure.
    #[must_use]
    pub fn new(kind: u16, flags: u16, structure: &[u8]) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes.extend(structure);
        Self(bytes)
    }

    /// A message about an interface, with an empty `struct ifinfomsg`.
    #[must_use]
    pub fn about_link(kind: u16, flags: u16) -> Self {
        Self::new(kind, flags, &[0; LINK])
    }

    /// The index of the interface.
    #[must_use]
    pub fn index(mut self, index: u32) -> Self {
        self.0[HEADER + 4..HEADER + 8].copy_from_slice(&index.to_ne_bytes());
        self
    }

    /// Which flags of the interface to change, and to what.
    #[must_use]
    pub fn change(mut self, mask: i32, flags: i32) -> Self {
        self.0[HEADER + 8..HEADER + 12].copy_from_slice(&flags.to_ne_bytes());
        self.0[HEADER + 12..HEADER + 16].copy_from_slice(&mask.to_ne_bytes());
        self
    }

    /// One more attribute.
    #[must_use]
    pub fn attribute(mut self, kind: u16, value: &[u8]) -> Self {
        self.0.extend(attribute(kind, value));
        self
    }

    /// The name of the interface.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.attribute(libc::IFLA_IFNAME, name.as_bytes())
    }

    /// The type of a new interface.
    #[must_use]
    pub fn of_type(self, name: &str) -> Self {
        self.attribute(libc::IFLA_LINKINFO, &attribute(INFO_KIND, name.as_bytes()))
    }

    /// The type of a new interface, with data of that type.
    #[must_use]
    pub fn of_type_with(self, name: &str, data: &[u8]) -> Self {
        let info = [attribute(INFO_KIND, name.as_bytes()), attribute(INFO_DATA, data)].concat();
        self.attribute(libc::IFLA_LINKINFO, &info)
    }

    /// What follows `struct nlmsghdr`.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.0[HEADER..]
    }

    /// What is sent.
    #[must_use]
    pub fn into_bytes(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0
    }
}

/// `IFLA_INFO_KIND` and `IFLA_INFO_DATA`.
const INFO_KIND: u16 = 1;
const INFO_DATA: u16 = 2;

/// An attribute, padded to four bytes.
#[must_use]
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Four bytes of a message as a number; 0 if they are not there.
#[must_use]
pub fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

/// Two bytes of a message as a number; 0 if they are not there.
#[must_use]
pub fn half(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|part| part.try_into().ok()).map_or(0, u16::from_ne_bytes)
}

/// A socket of netlink.
///
/// # Errors
///
/// As the manual page says.
pub fn socket(protocol: Option<Protocol>) -> Result<OwnedFd, Errno> {
    rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)
}

/// The next datagram, which may hold several messages.
///
/// # Errors
///
/// As recv(2) says.
pub fn receive(socket: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 65536];
    let (size, _) = recv(socket, &mut buffer[..], RecvFlags::empty())?;
    buffer.truncate(size);
    Ok(buffer)
}

/// Sends a message and gives the kernel's first answer.
///
/// # Errors
///
/// The error of the kernel, if that is its answer.
pub fn ask(message: Message) -> Result<Vec<u8>, Errno> {
    let socket = socket(NETLINK_ROUTE)?;
    send(&socket, &message.into_bytes(), SendFlags::empty())?;
    let answer = receive(&socket)?;
    let error = word(&answer, HEADER).cast_signed();
    if i32::from(half(&answer, 4)) == libc::NLMSG_ERROR && error != 0 {
        return Err(Errno::from_raw_os_error(-error));
    }
    Ok(answer)
}

/// The index of the interface called `name`, which ends with a null character.
///
/// # Errors
///
/// ENODEV if there is none.
pub fn index_of(name: &str) -> Result<u32, Errno> {
    let answer = ask(Message::about_link(libc::RTM_GETLINK, libc::NLM_F_REQUEST as u16).named(name))?;
    Ok(word(&answer, HEADER + 4))
}
