//! Segments of a script, and the plugs of machines in them.

use std::collections::BTreeMap;
use std::io;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::job::Interface;
use script::describe::{Impairment, SegmentDescription};
use script::{ErrorName, Trouble};
use segment::{Cause, Direction, Network, Segment, Settings, Station};
use serde_json::{Value, json};

use super::way_out::{self, WayOut};

/// Places on a segment of a script.
const STATIONS: usize = 32;

/// The network of a segment whose script names none.
const NETWORK: &str = "10.77.0.0/24";

/// A segment of a script.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) segment: Segment,
    network: Network,
    stations: Vec<Station>,
    /// Machines by the place of their station. The way out has the number of the segment.
    taken: Mutex<BTreeMap<usize, u32>>,
    way_out: Option<WayOut>,
}

impl Wire {
    /// The segment with this number, which is that of no machine.
    pub(super) fn new(number: u32, seed: u64, wanted: &SegmentDescription) -> Result<Self, Trouble> {
        let wrong = |error: segment::SettingsError| Trouble::new(ErrorName::Refused, error.to_string());
        let mut settings = Settings::new(format!("segment-{number}"), seed);
        settings.network = wanted.network.as_deref().unwrap_or(NETWORK).parse().map_err(wrong)?;
        for number in 0..STATIONS {
            // A small network is full before.
            if settings.add(format!("station-{number}")).is_err() {
                break;
            }
        }
        let outside = wanted.outside.then(|| way_out::make_room(&mut settings)).transpose()?;
        let taken = outside.iter().map(|_| (settings.stations.len() - 1, number)).collect();
        let segment = Segment::new(&settings).map_err(|error| of_segment(&error))?;
        let open = |addresses| {
            let cable = segment.attach(way_out::STATION).map_err(|error| of_segment(&error))?;
            WayOut::open(cable, addresses)
        };
        let way_out = outside.map(open).transpose()?;
        let impairment = translated(&wanted.impairment)?;
        for station in &settings.stations {
            let sent = segment.impair(Direction::From(&station.name), impairment.clone());
            sent.map_err(|error| of_segment(&error))?;
        }
        let Settings { network, stations, .. } = settings;
        Ok(Self { segment, network, stations, taken: Mutex::new(taken), way_out })
    }

    /// Whether its way out is open still, if it has one.
    pub(super) fn check(&self) -> Result<(), Trouble> {
        self.way_out.as_ref().map_or(Ok(()), WayOut::check)
    }

    /// The stations for machines; that of the way out is the last one.
    fn places(&self) -> &[Station] {
        let count = self.stations.len() - usize::from(self.way_out.is_some());
        &self.stations[..count]
    }

    /// Frames and bytes of each station that a machine has, and what became of them.
    pub(super) fn statistics(&self) -> Result<Value, Trouble> {
        let counted = self.segment.statistics().map_err(|error| of_segment(&error))?;
        let of = |name: &String| {
            let port = counted.of(name)?;
            let place = self.stations.iter().find(|station| station.name == *name)?;
            let counts = json!({
                "received": { "frames": port.received.frames, "bytes": port.received.bytes },
                "sent": { "frames": port.sent.frames, "bytes": port.sent.bytes },
                "dropped": port.dropped_in_all(),
                "lost": port.dropped(Cause::Loss),
                "duplicated": port.effects.duplicated,
                "corrupted": port.effects.corrupted,
                "reordered": port.effects.reordered,
            });
            Some((place.address.to_string(), counts))
        };
        Ok(Value::Object(self.of(None).iter().filter_map(of).collect()))
    }

    /// A place for a machine: the one with this address, or the next that is free.
    pub(super) fn station(
        &self,
        machine: u32,
        address: Option<&str>,
    ) -> Result<(String, Interface), Trouble> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = address.map(|text| self.read_address(text)).transpose()?;
        let is_wanted = |(place, station): &(usize, &Station)| match wanted {
            Some(address) => station.address == address,
            None => !taken.contains_key(place),
        };
        let found = self.places().iter().enumerate().find(is_wanted);
        let refused = |text: String| Trouble::new(ErrorName::Refused, text);
        let (place, station) = found.ok_or_else(|| match (address, self.places().last()) {
            (Some(text), Some(last)) => {
                let first = self.network.switch();
                refused(format!(
                    "{text} is no place on the segment: its addresses are those after {first} up to {}",
                    last.address
                ))
            }
            _ => refused("the segment is full".to_string()),
        })?;
        if taken.insert(place, machine).is_some() {
            return Err(refused(format!("two machines have the address {}", station.address)));
        }
        let address = Some((station.address.octets(), self.network.prefix));
        let gateway = self.way_out.as_ref().map(|way_out| way_out.gateway().octets());
        // Where it is found is a matter of the machine.
        let interface = Interface { found_by: [0; 6], mac: station.mac.0, address, gateway };
        Ok((station.name.clone(), interface))
    }

    fn read_address(&self, text: &str) -> Result<Ipv4Addr, Trouble> {
        let wrong =
            || Trouble::new(ErrorName::Refused, format!("{text:?} is not an address such as 10.77.0.2"));
        text.parse().map_err(|_| wrong())
    }

    /// The stations of a machine, or all that machines have.
    fn of(&self, machine: Option<u32>) -> Vec<String> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wanted = |(_, other): &(&usize, &u32)| machine.is_none_or(|machine| machine == **other);
        let places = taken.iter().filter(is_wanted).map(|(place, _)| *place);
        places.filter_map(|place| Some(self.stations.get(place)?.name.clone())).collect()
    }

    /// Does this to frames of `sender`, to `receiver`, or between them; to all frames where neither is named.
    pub(super) fn impair(
        &self,
        (sender, receiver): (Option<u32>, Option<u32>),
        impairment: &Impairment,
    ) -> Result<(), Trouble> {
        let impairment = translated(impairment)?;
        let apply = |direction: Direction<'_>| {
            self.segment.impair(direction, impairment.clone()).map_err(|error| of_segment(&error))
        };
        match (sender, receiver) {
            (Some(sender), Some(receiver)) => self
                .pairs(Some(sender), Some(receiver), &mut |from, to| apply(Direction::Between { from, to })),
            (None, Some(receiver)) => {
                self.of(Some(receiver)).iter().try_for_each(|name| apply(Direction::To(name)))
            }
            (sender, None) => self.of(sender).iter().try_for_each(|name| apply(Direction::From(name))),
        }
    }

    /// Cuts both ways between two machines, all of one, or everything.
    pub(super) fn cut(&self, a: Option<u32>, b: Option<u32>) -> Result<(), Trouble> {
        match (a, b) {
            (Some(a), Some(b)) => {
                let mut cut = |from: &str, to: &str| {
                    self.segment
                        .cut_between(from, to)
                        .and_then(|()| self.segment.cut_between(to, from))
                        .map_err(|error| of_segment(&error))
                };
                self.pairs(Some(a), Some(b), &mut cut)
            }
            (one, other) => {
                let names = self.of(one.or(other));
                names.iter().try_for_each(|name| self.segment.cut(name)).map_err(|error| of_segment(&error))
            }
        }
    }

    /// Undoes all cuts.
    pub(super) fn heal(&self) -> Result<(), Trouble> {
        let names = self.of(None);
        names.iter().try_for_each(|name| self.segment.heal(name)).map_err(|error| of_segment(&error))?;
        self.pairs(None, None, &mut |from, to| {
            self.segment.heal_between(from, to).map_err(|error| of_segment(&error))
        })
    }

    fn pairs(
        &self,
        a: Option<u32>,
        b: Option<u32>,
        each: &mut dyn FnMut(&str, &str) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        for from in self.of(a) {
            for to in self.of(b).into_iter().filter(|to| *to != from) {
                each(&from, &to)?;
            }
        }
        Ok(())
    }
}

fn translated(impairment: &Impairment) -> Result<segment::Impairment, Trouble> {
    let Impairment { delay, jitter, loss, duplicate, reorder, corrupt, rate } = impairment;
    let wrong = |error: segment::ImpairmentError| Trouble::new(ErrorName::Refused, error.to_string());
    let share = |share: &Option<f64>| segment::Probability::new(share.unwrap_or_default()).map_err(wrong);
    Ok(segment::Impairment {
        delay: delay.unwrap_or(Duration::ZERO),
        jitter: jitter.unwrap_or(Duration::ZERO),
        loss: share(loss)?,
        duplicate: share(duplicate)?,
        reorder: share(reorder)?,
        corrupt: share(corrupt)?,
        rate_bits_per_s: rate.and_then(|bytes| NonZeroU64::new(bytes.saturating_mul(8))),
        ..segment::Impairment::default()
    })
}

pub(super) fn of_segment(error: &segment::SegmentError) -> Trouble {
    Trouble::new(ErrorName::Refused, error.to_string())
}

/// What a machine is plugged into: stations by their names, and its serial ports.
#[derive(Debug, Clone, Default)]
pub(super) struct Plugs {
    stations: BTreeMap<String, (Arc<Wire>, Interface)>,
    serials: Arc<Mutex<BTreeMap<String, UnixStream>>>,
}

impl Plugs {
    pub(super) fn add(&mut self, station: String, wire: Arc<Wire>, interface: Interface) {
        self.stations.insert(station, (wire, interface));
    }

    /// The interfaces of the machine, and what they shall be.
    pub(super) fn interfaces(&self) -> Vec<Interface> {
        self.stations.values().map(|(_, interface)| interface.clone()).collect()
    }

    /// The end of a station's cable.
    pub(super) fn attach(&self, station: &str) -> io::Result<OwnedFd> {
        let unknown = || io::Error::other(format!("there is no station {station}"));
        let (wire, _) = self.stations.get(station).ok_or_else(unknown)?;
        wire.segment.attach(station).map_err(io::Error::other)
    }

    /// The machine's end of a serial port; the other one is kept here.
    pub(super) fn serial(&self, name: &str) -> io::Result<OwnedFd> {
        let (own, its) = UnixStream::pair()?;
        own.set_nonblocking(true)?;
        self.lock().insert(name.to_string(), own);
        Ok(its.into())
    }

    /// What has come from a serial port since the last time, at most 64 KiB.
    pub(super) fn receive(&self, name: &str) -> Result<Vec<u8>, Trouble> {
        let mut buffer = vec![0; 64 << 10];
        let mut serials = self.lock();
        let port = serials.get_mut(name).ok_or_else(|| no_port(name))?;
        let count = match port.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(Trouble::new(ErrorName::Stopped, format!("{name}: {error}"))),
        };
        buffer.truncate(count);
        Ok(buffer)
    }

    /// Sends something to a serial port.
    pub(super) fn transmit(&self, name: &str, bytes: &[u8]) -> Result<(), Trouble> {
        let mut serials = self.lock();
        let port = serials.get_mut(name).ok_or_else(|| no_port(name))?;
        port.write_all(bytes).map_err(|error| Trouble::new(ErrorName::Stopped, format!("{name}: {error}")))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, UnixStream>> {
        self.serials.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_port(name: &str) -> Trouble {
    Trouble::new(
        ErrorName::Missing,
        format!("the machine has no serial port {name:?}: give it serial,name={name}"),
    )
}
