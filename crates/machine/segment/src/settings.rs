//! Who is on a segment: stations, their names and addresses, and what the switch is allowed to do.

use std::collections::HashSet;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use thiserror::Error;

use crate::mac::Mac;

/// Stations of a segment at most. Each has a link to each other one, so that their number counts twice.
pub(crate) const STATIONS_MAX: usize = 64;

/// Names of a station at most, beside its own.
const NAMES_MAX: usize = 16;

/// Bytes of the flight recorder at most: 256 MiB.
const RECORDER_MAX: usize = 256 << 20;

/// Payloads of frames in bytes: what IPv4 asks for (RFC 791), and what QEMU has room for (`NET_BUFSIZE` in
/// `include/net/net.h`) with both headers.
const MTUS: std::ops::RangeInclusive<u16> = 68..=65_000;

/// Bytes of a frame beside its payload: two addresses, a type and a VLAN tag (IEEE 802.1Q).
const HEADERS: usize = 18;

/// One end of the segment: the place of one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Station {
    /// Its name, which is also its name in DNS: letters, digits and hyphens, up to 63 of them.
    pub name: String,
    /// The address of its interface.
    pub mac: Mac,
    /// The address that DHCP gives it.
    pub address: Ipv4Addr,
    /// More names in DNS, with or without dots.
    pub names: Vec<String>,
}

/// The addresses of a segment, such as 10.77.0.0/24.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// Its first address, whose bits below the prefix are zero.
    pub address: Ipv4Addr,
    /// Bits that all addresses share: 8 to 30.
    pub prefix: u8,
}

impl Network {
    /// The mask, such as 255.255.255.0.
    #[must_use]
    pub fn mask(self) -> Ipv4Addr {
        let shift = u32::from(32 - self.prefix.clamp(1, 32));
        Ipv4Addr::from_bits(u32::MAX << shift)
    }

    /// The address of everybody, the last one.
    #[must_use]
    pub fn broadcast(self) -> Ipv4Addr {
        self.address | !self.mask()
    }

    /// The address of the switch, the first that an interface may have.
    #[must_use]
    pub fn switch(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.address.to_bits().saturating_add(1))
    }

    /// The `number`-th address from the end, from 0, that an interface may have, if the network has so many.
    #[must_use]
    pub fn from_end(self, number: u32) -> Option<Ipv4Addr> {
        let bits = self.broadcast().to_bits().checked_sub(number)?.checked_sub(1)?;
        Some(Ipv4Addr::from_bits(bits)).filter(|address| self.has_interface(*address))
    }

    /// The `number`-th address of a machine, from 0, if the network has so many.
    #[must_use]
    pub fn machine(self, number: u32) -> Option<Ipv4Addr> {
        let bits = self.switch().to_bits().checked_add(number)?.checked_add(1)?;
        Some(Ipv4Addr::from_bits(bits)).filter(|address| self.has_interface(*address))
    }

    /// Whether an interface may have this address.
    #[must_use]
    pub fn has_interface(self, address: Ipv4Addr) -> bool {
        address & self.mask() == self.address && address != self.address && address != self.broadcast()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for Network {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let read = || {
            let (address, prefix) = text.split_once('/')?;
            Some(Self { address: address.parse().ok()?, prefix: prefix.parse().ok()? })
        };
        let network = read().ok_or_else(|| SettingsError::Network(text.chars().take(40).collect()))?;
        network.check()?;
        Ok(network)
    }
}

impl Network {
    fn check(self) -> Result<(), SettingsError> {
        let is_network = (8..=30).contains(&self.prefix) && self.address & self.mask() == self.address;
        if is_network { Ok(()) } else { Err(SettingsError::Network(self.to_string())) }
    }
}

/// What becomes of frames whose source is the address of another station, the switch or a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Forged {
    /// They are dropped and counted.
    #[default]
    Drop,
    /// They are forwarded, and the switch learns from them, as a switch without port security does.
    Forward,
}

/// All that a segment is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Its name.
    pub name: String,
    /// All that is random comes from here.
    pub seed: u64,
    /// Who is on it, 64 at most.
    pub stations: Vec<Station>,
    /// Its addresses. The first one is the switch's.
    pub network: Network,
    /// Whether the switch answers ARP, DHCP, DNS and echo requests.
    pub answers: bool,
    /// Who forwards packets out of the segment; DHCP names it.
    pub router: Option<Ipv4Addr>,
    /// The domain of the stations' names.
    pub domain: String,
    /// Payload of a frame in bytes, at most: 68 to 65000.
    pub mtu: u16,
    /// What becomes of forged frames.
    pub forged: Forged,
    /// Bytes of the flight recorder, which keeps the last frames: 0 (off) to 256 MiB.
    pub recorder_bytes: usize,
}

impl Settings {
    /// A segment without stations: 10.77.0.0/24 with answers, no way out, and a recorder of 4 MiB.
    #[must_use]
    pub fn new(name: impl Into<String>, seed: u64) -> Self {
        Self {
            name: name.into(),
            seed,
            stations: Vec::new(),
            network: Network { address: Ipv4Addr::new(10, 77, 0, 0), prefix: 24 },
            answers: true,
            router: None,
            // RFC 6761 keeps `test` for this, and resolvers do not expect DNSSEC of it.
            domain: "kiln.test".to_string(),
            mtu: 1500,
            forged: Forged::Drop,
            recorder_bytes: 4 << 20,
        }
    }

    /// Adds a station with the next free addresses of the network.
    ///
    /// # Errors
    ///
    /// The network has no address left.
    pub fn add(&mut self, name: impl Into<String>) -> Result<&mut Station, SettingsError> {
        let number = u16::try_from(self.stations.len()).unwrap_or(u16::MAX);
        let full = || SettingsError::Full(self.network);
        let address = self.network.machine(number.into()).ok_or_else(full)?;
        let station = Station { name: name.into(), mac: Mac::of_machine(number), address, names: Vec::new() };
        Ok(self.stations.push_mut(station))
    }

    /// Bytes of a frame at most.
    #[must_use]
    pub fn frame_max(&self) -> usize {
        usize::from(self.mtu) + HEADERS
    }

    /// Looks for what would make no segment.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.network.check()?;
        if !is_domain(&self.domain) {
            return Err(SettingsError::Name(self.domain.clone()));
        }
        if !MTUS.contains(&self.mtu) {
            return Err(SettingsError::Mtu(self.mtu));
        }
        if let Some(router) = self.router.filter(|router| !self.network.has_interface(*router)) {
            return Err(SettingsError::Router(router, self.network));
        }
        if self.recorder_bytes > RECORDER_MAX {
            return Err(SettingsError::Recorder(self.recorder_bytes));
        }
        if self.stations.len() > STATIONS_MAX {
            return Err(SettingsError::Stations(self.stations.len()));
        }
        let mut taken = Taken::default();
        self.stations.iter().try_for_each(|station| self.check_station(station, &mut taken))
    }

    fn check_station<'a>(&self, station: &'a Station, taken: &mut Taken<'a>) -> Result<(), SettingsError> {
        let Station { name, mac, address, names } = station;
        let names = || std::iter::once(name).chain(names);
        if !is_label(name) || station.names.len() > NAMES_MAX {
            return Err(SettingsError::Name(name.clone()));
        }
        if let Some(name) = names().find(|name| !is_domain(name)) {
            return Err(SettingsError::Name(name.clone()));
        }
        if mac.is_group() || *mac == Mac::SWITCH {
            return Err(SettingsError::Mac(*mac));
        }
        if !self.network.has_interface(*address) || *address == self.network.switch() {
            return Err(SettingsError::Address(*address, self.network));
        }
        if let Some(name) = names().find(|name| !taken.names.insert(name.to_ascii_lowercase())) {
            return Err(SettingsError::Twice(name.clone()));
        }
        if !taken.macs.insert(mac) {
            return Err(SettingsError::Twice(mac.to_string()));
        }
        if !taken.addresses.insert(address) {
            return Err(SettingsError::Twice(address.to_string()));
        }
        Ok(())
    }
}

/// What the stations before have.
#[derive(Default)]
struct Taken<'a> {
    names: HashSet<String>,
    macs: HashSet<&'a Mac>,
    addresses: HashSet<&'a Ipv4Addr>,
}

/// Whether a text is a label of a name in DNS (RFC 1123, section 2.1).
fn is_label(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=63).contains(&text.len()) && text.chars().all(is_letter) && !text.starts_with('-')
}

/// Whether a text is a name in DNS, short enough to stand before the domain.
fn is_domain(text: &str) -> bool {
    text.len() <= 120 && text.split('.').all(is_label)
}

/// What would make no segment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// No network.
    #[error("{0:?} is no network: write its first address and 8 to 30 bits, such as 10.77.0.0/24")]
    Network(String),
    /// No name.
    #[error(
        "{0:?} is no name of a station: use letters, digits and hyphens; a station has up to {NAMES_MAX} more names"
    )]
    Name(String),
    /// No payload of a frame.
    #[error("an MTU of {0} is not from 68 to 65000")]
    Mtu(u16),
    /// A recorder that is too large.
    #[error("a flight recorder of {0} bytes is too large: 256 MiB are the most")]
    Recorder(usize),
    /// More stations than a segment takes.
    #[error("{0} stations are too many: a segment takes {STATIONS_MAX}")]
    Stations(usize),
    /// No address for one interface.
    #[error("{0} cannot be the MAC address of a station: it belongs to a group or to the switch")]
    Mac(Mac),
    /// No address for one interface.
    #[error("{0} cannot be the address of a station in {1}, whose first one is the switch's")]
    Address(Ipv4Addr, Network),
    /// Machines could not send anything there.
    #[error("{0} cannot be the router of {1}: no interface of the segment may have it")]
    Router(Ipv4Addr, Network),
    /// No address is left.
    #[error("{0} has no address for another station")]
    Full(Network),
    /// Two have the same.
    #[error("two stations have {0}")]
    Twice(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        let mut settings = Settings::new("lan", 1);
        settings.add("a").unwrap();
        settings.add("b").unwrap().names.push("www.example".to_string());
        settings
    }

    #[test]
    fn stations_get_addresses_in_turn() {
        let settings = settings();
        assert_eq!(settings.check(), Ok(()));
        assert_eq!(settings.network.switch(), Ipv4Addr::new(10, 77, 0, 1));
        assert_eq!(settings.stations[1].address, Ipv4Addr::new(10, 77, 0, 3));
        assert_eq!(settings.frame_max(), 1518);
        let mut tiny = Settings::new("x", 1);
        tiny.network = "10.0.0.0/30".parse().unwrap();
        tiny.add("a").unwrap();
        assert!(matches!(tiny.add("b"), Err(SettingsError::Full(_))));
    }

    #[test]
    fn networks() {
        let network: Network = "192.168.4.0/22".parse().unwrap();
        assert_eq!(network.mask(), Ipv4Addr::new(255, 255, 252, 0));
        assert_eq!(network.broadcast(), Ipv4Addr::new(192, 168, 7, 255));
        assert!(network.has_interface(Ipv4Addr::new(192, 168, 5, 0)));
        assert!(!network.has_interface(network.broadcast()));
        assert_eq!(network.from_end(1), Some(Ipv4Addr::new(192, 168, 7, 253)));
        assert_eq!(network.from_end(1022), None);
        for text in ["", "10.0.0.0", "10.0.0.1/24", "10.0.0.0/7", "10.0.0.0/31", "10.0.0/24", "10.0.0.0/-1"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |change: &dyn Fn(&mut Settings)| {
            let mut settings = settings();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        let said = [
            wrong(&|it| it.stations[1].mac = it.stations[0].mac),
            wrong(&|it| it.stations[1].mac = Mac::BROADCAST),
            wrong(&|it| it.stations[1].address = it.network.switch()),
            wrong(&|it| it.stations[1].names.push("A".to_string())),
            wrong(&|it| it.stations[1].name = "b.c".to_string()),
            wrong(&|it| it.mtu = 60),
            wrong(&|it| it.router = Some(Ipv4Addr::new(10, 78, 0, 1))),
            wrong(&|it| it.recorder_bytes = usize::MAX),
            wrong(&|it| it.stations = vec![it.stations[0].clone(); 65]),
        ];
        for (said, part) in
            said.iter().zip(["have 52:54", "ff:ff", "10.77.0.1", "have A", "b.c", "60", "10.78", "256", "65"])
        {
            assert!(said.contains(part), "{said} {part}");
        }
    }
}
