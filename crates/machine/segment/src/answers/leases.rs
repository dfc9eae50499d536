//! Which address an interface gets: by table, and from a pool if it is not in it.

use std::collections::{HashMap, HashSet};
use std::net::Ipv4Addr;

use crate::mac::Mac;
use crate::random;
use crate::settings::{Network, STATIONS_MAX, Settings};

/// Addresses that the machine at one port gets from the pool at most.
const POOL_PER_PORT: usize = 16;

/// Addresses that are tried for an interface: more than all that can be taken, by stations, the switch and the pool.
const TRIES: u32 = (STATIONS_MAX * (1 + POOL_PER_PORT) + 2) as u32;

/// Addresses by interface.
#[derive(Debug)]
pub(super) struct Leases {
    network: Network,
    stations: HashMap<Mac, Station>,
    pool: HashMap<Mac, Ipv4Addr>,
    taken: HashSet<Ipv4Addr>,
    /// Addresses from the pool by port.
    by_port: Vec<usize>,
}

#[derive(Debug)]
struct Station {
    port: usize,
    address: Ipv4Addr,
    name: String,
}

impl Leases {
    pub(super) fn new(settings: &Settings) -> Self {
        let stations: HashMap<Mac, Station> = settings
            .stations
            .iter()
            .enumerate()
            .map(|(port, station)| {
                let name = station.name.clone();
                (station.mac, Station { port, address: station.address, name })
            })
            .collect();
        let addresses = settings.stations.iter().map(|station| station.address);
        let taken = addresses.chain([settings.network.switch()]).chain(settings.router).collect();
        let by_port = vec![0; settings.stations.len()];
        Self { network: settings.network, stations, pool: HashMap::new(), taken, by_port }
    }

    /// The address of an interface of the machine at `port`; none if it is another station's, or the pool is empty.
    pub(super) fn address(&mut self, mac: Mac, port: usize) -> Option<Ipv4Addr> {
        if let Some(station) = self.stations.get(&mac) {
            return (station.port == port).then_some(station.address);
        }
        if let Some(address) = self.pool.get(&mac) {
            return Some(*address);
        }
        let count = self.by_port.get_mut(port).filter(|count| **count < POOL_PER_PORT)?;
        let address = free(self.network, &self.taken, mac)?;
        *count += 1;
        self.taken.insert(address);
        self.pool.insert(mac, address);
        Some(address)
    }

    /// The name of an interface.
    pub(super) fn name(&self, mac: Mac) -> Option<&str> {
        self.stations.get(&mac).map(|station| station.name.as_str())
    }
}

/// A free address that depends on the interface, and on others only if they want the same.
fn free(network: Network, taken: &HashSet<Ipv4Addr>, mac: Mac) -> Option<Ipv4Addr> {
    let first = network.switch().to_bits();
    let hosts = network.broadcast().to_bits().saturating_sub(first).max(1);
    let start = (random::seed_of(0, &mac.to_string()) % u64::from(hosts)) as u32;
    let nth = |number: u32| Ipv4Addr::from_bits(first.wrapping_add(start.wrapping_add(number) % hosts));
    (0..hosts.min(TRIES)).map(nth).find(|address| !taken.contains(address))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn settings() -> Settings {
        let mut settings = Settings::new("lan", 1);
        settings.add("a").unwrap();
        settings.add("b").unwrap();
        settings
    }

    #[test]
    fn stations_have_theirs_at_their_own_port() {
        let mut leases = Leases::new(&settings());
        let b = Mac::of_machine(1);
        assert_eq!(leases.address(b, 1), Some(Ipv4Addr::new(10, 77, 0, 3)));
        assert_eq!(leases.address(b, 0), None);
        assert_eq!((leases.name(b), leases.name(Mac::SWITCH)), (Some("b"), None));
    }

    #[test]
    fn a_machine_takes_a_part_of_the_pool() {
        let mut leases = Leases::new(&settings());
        let other = |number| Mac([2, 0, 0, 0, 0, number]);
        let given = (0..100).filter(|number| leases.address(other(*number), 0).is_some()).count();
        assert_eq!(given, POOL_PER_PORT);
        assert!(leases.address(other(200), 1).is_some());
        let mut again = Leases::new(&settings());
        assert_eq!(again.address(other(200), 0), leases.address(other(200), 1));
    }

    proptest! {
        #[test]
        fn no_address_is_given_twice(macs in prop::collection::hash_set(any::<[u8; 6]>(), 0..16), prefix in 24u8..=30) {
            let mut settings = Settings::new("lan", 1);
            settings.network.prefix = prefix;
            settings.add("a").unwrap();
            let mut leases = Leases::new(&settings);
            let given: Vec<Ipv4Addr> = macs.iter().filter_map(|mac| leases.address(Mac(*mac), 0)).collect();
            let free = (1usize << (32 - prefix)) - 4;
            prop_assert_eq!(given.len(), macs.len().min(free));
            prop_assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len());
            for address in &given {
                prop_assert!(settings.network.has_interface(*address));
                prop_assert!(*address != settings.network.switch() && *address != settings.stations[0].address);
            }
        }
    }
}
