//! What a segment costs: TCP between two machines through kiln's switch, and over one pair of sockets between the same QEMUs.
//!
//! * [`guest`]: a machine in which one command runs after the other

mod guest;

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use hardware::Backing;
use hardware::nic::{Link, Mac};
use machine::Connections;
use protocol::job::Interface;
use segment::{Segment, Settings};
use tempfile::tempdir;

use crate::clones::find;
use crate::compiler::compile;
use crate::promise::Promise;
use guest::Guest;

const SOURCE: &str = include_str!("wire.c");

/// A segment has at least 0.7 of what a pair of sockets has.
const LIMIT: f64 = 1.43;

/// The networks, by the names of what is behind the interfaces.
const SWITCHED: &str = "switched";
const DIRECT: &str = "direct";

/// What TCP makes of one way between the machines.
#[derive(Debug, Clone, Copy)]
struct Speed {
    mib_per_s: f64,
    round_trip_us: f64,
}

impl Speed {
    const NONE: Self = Self { mib_per_s: 0.0, round_trip_us: f64::INFINITY };

    /// The less disturbed of both.
    fn better(self, other: Self) -> Self {
        Self {
            mib_per_s: self.mib_per_s.max(other.mib_per_s),
            round_trip_us: self.round_trip_us.min(other.round_trip_us),
        }
    }

    /// One of the client's lines.
    fn read(line: &str) -> Option<Self> {
        let (stream, round_trip) = line.trim().split_once(' ')?;
        Some(Self { mib_per_s: stream.parse().ok()?, round_trip_us: round_trip.parse().ok()? })
    }
}

/// The figures and promises of both ways, in so many rounds.
pub(crate) fn measure(locator: &str, rounds: usize) -> Result<(String, Vec<Promise>)> {
    let directory = tempdir()?;
    let program = compile(directory.path(), "wire", SOURCE, &["-w"])?;
    let never = AtomicBool::new(false);
    let kernel = find(locator, &never)?;
    let mut settings = Settings::new("bench", 1);
    for name in ["0", "1"] {
        settings.add(name)?;
    }
    let segment = Segment::new(&settings)?;
    let (one, other) = UnixDatagram::pair()?;
    let start = |number: u8, direct: UnixDatagram| {
        let station = number.to_string();
        let switched = segment.attach(&station)?;
        let connections = connections(switched, direct.into());
        let links = [SWITCHED, DIRECT].map(|name| Link::Segment(name.to_string()));
        let mut guest = Guest::start(&kernel, links, connections, &program)?;
        for (place, network) in [(0, 0), (1, 1)] {
            guest.configure(interface(place, network, number))?;
        }
        anyhow::Ok(guest)
    };
    let (mut server, mut client) = (start(0, one)?, start(1, other)?);
    server.begin(&["serve"])?;
    let mut best = [Speed::NONE; 2];
    for round in 0..=rounds {
        for (network, best) in (0..).zip(&mut best) {
            let said = client.run(&[&address(network, 0).to_string()])?;
            let speed = Speed::read(&said).with_context(|| said.clone())?;
            // The first time warms caches.
            *best = if round > 0 { best.better(speed) } else { *best };
        }
        eprintln!("bench: round {round} of {rounds}");
    }
    Ok((table(&best), promises(best)))
}

/// Each end is taken once.
fn connections(switched: OwnedFd, direct: OwnedFd) -> Connections {
    Connections::new(move |_, backing| match backing {
        Backing::Segment(name) if name == SWITCHED => Some(switched.try_clone()),
        Backing::Segment(_) => Some(direct.try_clone()),
        _ => None,
    })
}

fn address(network: u8, machine: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, network, 2 + machine)
}

fn interface(place: usize, network: u8, machine: u8) -> Interface {
    let mac = [0x52, 0x54, 0, 1, network, machine];
    let address = Some((address(network, machine).octets(), 24));
    Interface { found_by: Mac::of_number(place).0, mac, address, gateway: None }
}

fn promises([switched, direct]: [Speed; 2]) -> Vec<Promise> {
    vec![
        Promise::plain(
            "TCP throughput: a pair of sockets / a segment",
            direct.mib_per_s / switched.mib_per_s,
            Some(LIMIT),
        ),
        Promise::plain(
            "TCP round trip: a segment / a pair of sockets",
            switched.round_trip_us / direct.round_trip_us,
            Some(LIMIT),
        ),
    ]
}

fn table([switched, direct]: &[Speed; 2]) -> String {
    let row = |name: &str, speed: &Speed| {
        format!("| {name} | {:.0} MiB/s | {:.0} us |\n", speed.mib_per_s, speed.round_trip_us)
    };
    let rows = row("through a segment", switched) + &row("over a pair of sockets", direct);
    format!("| two machines, TCP | throughput | round trip |\n|---|---|---|\n{rows}")
}
