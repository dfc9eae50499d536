//! What runs beside the victim and takes its CPU.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The names of all loads.
pub const LOADS: [&str; 4] = ["net:udp", "net:tcp-stream", "net:request", "timer"];

/// The largest UDP payload over Ethernet without fragments: 1500 bytes less the headers of IPv4 and UDP.
const SIZE_MAX: u32 = 1472;

/// More packets per second than any sender on one CPU reaches.
const RATE_MAX: u32 = 10_000_000;

/// Connections at most.
const CONNECTIONS_MAX: u32 = 64;

/// The kernel grants a CPU clock event no period below 10 µs.
const HZ_MAX: u32 = 50_000;

/// The longest busy time of one interrupt, in nanoseconds: the verifier accepts no longer loop on every kernel.
const BUSY_MAX_NS: u64 = 1_000_000;

/// A load in the form that `Display` writes and `FromStr` reads: `net:udp,pps=100000,size=64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Load {
    /// `net:udp,pps=N,size=BYTES`: packets at a rate, to a socket that nobody reads.
    Udp {
        /// Packets per second.
        pps: u32,
        /// Payload of each, in bytes.
        size: u32,
    },
    /// `net:tcp-stream,N`: so many connections, as fast as they can.
    TcpStream(u32),
    /// `net:request,N`: so many connections, each with one small request at a time.
    Request(u32),
    /// `timer:hz=N,busy=TIME`: a timer that interrupts the CPU at a known rate for a known time.
    Timer {
        /// Interrupts per second.
        hz: u32,
        /// How long each is busy, in nanoseconds.
        busy_ns: u64,
    },
}

/// A text that is no load.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WrongLoad {
    /// There is none of that name.
    #[error("there is no load {0:?}: use {all}", all = LOADS.join(", "))]
    Unknown(String),
    /// One of its options is wrong.
    #[error("load {0}: {1}")]
    Option(&'static str, String),
}

impl Load {
    /// Whether it sends packets.
    #[must_use]
    pub const fn is_network(self) -> bool {
        !matches!(self, Self::Timer { .. })
    }

    /// What its count counts: `packets`.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Udp { .. } => "packets",
            Self::TcpStream(_) => "bytes",
            Self::Request(_) => "requests",
            Self::Timer { .. } => "interrupts",
        }
    }
}

impl Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp { pps, size } => write!(f, "net:udp,pps={pps},size={size}"),
            Self::TcpStream(streams) => write!(f, "net:tcp-stream,{streams}"),
            Self::Request(connections) => write!(f, "net:request,{connections}"),
            Self::Timer { hz, busy_ns } => write!(f, "timer:hz={hz},busy={busy_ns}ns"),
        }
    }
}

impl FromStr for Load {
    type Err = WrongLoad;

    /// The kind, then its options; those that are left out have a default.
    fn from_str(text: &str) -> Result<Self, WrongLoad> {
        // The first part of the name of a network load ends with a colon, too.
        let end = text.strip_prefix("net:").map_or(0, |_| "net:".len());
        let (kind, options) = match text[end..].find([',', ':']) {
            Some(at) => (&text[..end + at], text[end + at + 1..].split(',').collect()),
            None => (text, Vec::new()),
        };
        let name = LOADS.into_iter().find(|name| *name == kind);
        let name = name.ok_or_else(|| WrongLoad::Unknown(kind.to_owned()))?;
        read(name, &options).map_err(|why| WrongLoad::Option(name, why))
    }
}

fn read(name: &str, options: &[&str]) -> Result<Load, String> {
    match name {
        "net:udp" => {
            let (mut pps, mut size) = (100_000, 64);
            for option in options {
                match option.split_once('=') {
                    Some(("pps", value)) => pps = number("pps", value, RATE_MAX)?,
                    Some(("size", value)) => size = number("size", value, SIZE_MAX)?,
                    _ => return Err(format!("{option:?}: its options are pps=N and size=BYTES")),
                }
            }
            Ok(Load::Udp { pps, size })
        }
        "timer" => {
            let (mut hz, mut busy_ns) = (1000, 100_000);
            for option in options {
                match option.split_once('=') {
                    Some(("hz", value)) => hz = number("hz", value, HZ_MAX)?,
                    Some(("busy", value)) => busy_ns = time("busy", value, BUSY_MAX_NS)?,
                    _ => return Err(format!("{option:?}: its options are hz=N and busy=TIME")),
                }
            }
            Ok(Load::Timer { hz, busy_ns })
        }
        _ => {
            let connections = match options {
                [] => 1,
                [count] => number("the number of connections", count, CONNECTIONS_MAX)?,
                _ => return Err("its one option is the number of connections".to_owned()),
            };
            Ok(if name == "net:request" { Load::Request(connections) } else { Load::TcpStream(connections) })
        }
    }
}

fn number(what: &str, text: &str, most: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("{what} of {text:?}: use 1 to {most}"))
}

/// A time such as `500ns` or `20us`, in nanoseconds.
pub(super) fn time(what: &str, text: &str, most: u64) -> Result<u64, String> {
    let parsed = [("ns", 1), ("us", 1000), ("ms", 1_000_000)].into_iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(factor)
    });
    parsed
        .filter(|time| (1..=most).contains(time))
        .ok_or_else(|| format!("{what} of {text:?}: use 1ns to {}us", most / 1000))
}

impl TryFrom<String> for Load {
    type Error = WrongLoad;

    fn try_from(text: String) -> Result<Self, WrongLoad> {
        text.parse()
    }
}

impl From<Load> for String {
    fn from(load: Load) -> Self {
        load.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn loads_are_read_and_have_defaults() {
        let read = |text: &str| text.parse::<Load>().expect("it is a load");
        assert_eq!(read("net:udp"), Load::Udp { pps: 100_000, size: 64 });
        assert_eq!(read("net:udp,size=1472,pps=7"), Load::Udp { pps: 7, size: 1472 });
        assert_eq!(read("net:tcp-stream,2"), Load::TcpStream(2));
        assert_eq!(read("net:request"), Load::Request(1));
        assert_eq!(read("timer:hz=250,busy=20us"), Load::Timer { hz: 250, busy_ns: 20_000 });
        assert_eq!(read("timer:busy=900ns"), Load::Timer { hz: 1000, busy_ns: 900 });
    }

    #[test]
    fn what_is_no_load_says_what_is_allowed() {
        let wrong = |text: &str| text.parse::<Load>().expect_err("it is no load").to_string();
        let messages =
            ["", "net:upd", "net:udp,pps=0", "net:udp,rate=7", "net:request,1,2", "timer:busy=1s"].map(wrong);
        let expected = [
            r#"there is no load "": use net:udp, net:tcp-stream, net:request, timer"#,
            r#"there is no load "net:upd": use net:udp, net:tcp-stream, net:request, timer"#,
            r#"load net:udp: pps of "0": use 1 to 10000000"#,
            r#"load net:udp: "rate=7": its options are pps=N and size=BYTES"#,
            "load net:request: its one option is the number of connections",
            r#"load timer: busy of "1s": use 1ns to 1000us"#,
        ];
        assert_eq!(messages, expected);
    }

    fn any_load() -> impl Strategy<Value = Load> {
        prop_oneof![
            (1..=RATE_MAX, 1..=SIZE_MAX).prop_map(|(pps, size)| Load::Udp { pps, size }),
            (1..=CONNECTIONS_MAX).prop_map(Load::TcpStream),
            (1..=CONNECTIONS_MAX).prop_map(Load::Request),
            (1..=HZ_MAX, 1..=BUSY_MAX_NS).prop_map(|(hz, busy_ns)| Load::Timer { hz, busy_ns }),
        ]
    }

    proptest! {
        #[test]
        fn a_load_is_read_as_it_was_written(load in any_load()) {
            prop_assert_eq!(load.to_string().parse(), Ok(load));
        }

        #[test]
        fn any_text_is_a_load_or_an_error(text in "(net:|timer|udp|,|=|hz|busy|[0-9a-z]){0,12}") {
            let read: Result<Load, WrongLoad> = text.parse();
            prop_assert!(read.is_err() || LOADS.iter().any(|name| text.starts_with(name)));
        }
    }
}
