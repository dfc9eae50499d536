//! The address of a network interface.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// An EUI-48 address of IEEE 802.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The address of the switch itself. Its second bit says that it is locally administered.
    pub const SWITCH: Self = Self(*b"\x02kiln\x01");

    /// The address of everybody.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// An address for the `number`-th machine of a segment, in the range that QEMU uses for its machines.
    #[must_use]
    pub fn of_machine(number: u16) -> Self {
        let [high, low] = number.to_be_bytes();
        Self([0x52, 0x54, 0x00, 0x6b, high, low])
    }

    /// Whether it is the address of a group, such as a multicast address or [`Mac::BROADCAST`].
    #[must_use]
    pub fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// The destination of a frame.
    pub(crate) fn destination(frame: &[u8]) -> Option<Self> {
        frame.first_chunk().copied().map(Self)
    }

    /// The source of a frame.
    pub(crate) fn source(frame: &[u8]) -> Option<Self> {
        frame.get(6..)?.first_chunk().copied().map(Self)
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// A text that is no address of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is no MAC address: write six pairs of hexadecimal digits, such as 52:54:00:00:00:01")]
pub struct MacError(String);

impl FromStr for Mac {
    type Err = MacError;

    fn from_str(text: &str) -> Result<Self, MacError> {
        let error = || MacError(text.chars().take(40).collect());
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|part| part.len() == 2).ok_or_else(error)?;
            // `from_str_radix` takes a sign.
            let is_number = part.bytes().all(|digit| digit.is_ascii_hexdigit());
            *byte = is_number.then(|| u8::from_str_radix(part, 16).ok()).flatten().ok_or_else(error)?;
        }
        if parts.next().is_some() { Err(error()) } else { Ok(Self(bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        let mac = Mac::of_machine(0x102);
        assert_eq!(mac.to_string(), "52:54:00:6b:01:02");
        assert_eq!(mac.to_string().parse(), Ok(mac));
        for text in ["", "52:54:00:6b:01", "52:54:00:6b:01:02:03", "52:54:00:6b:01:+2", "52-54-00-6b-01-02"] {
            assert!(text.parse::<Mac>().is_err(), "{text}");
        }
    }

    #[test]
    fn groups_and_short_frames() {
        assert!(Mac::BROADCAST.is_group() && !Mac::SWITCH.is_group());
        assert_eq!(Mac::source(&[1; 11]), None);
        assert_eq!(Mac::source(&[1; 12]), Some(Mac([1; 6])));
        assert_eq!(Mac::destination(&[1; 5]), None);
    }
}
