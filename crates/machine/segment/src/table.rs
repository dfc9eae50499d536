//! Which address is behind which port.

use std::collections::HashMap;

use crate::mac::Mac;

/// Addresses that a port may have beside that of its station. A machine that makes up more forgets its own first ones, and
/// none of another.
const LEARNED_MAX: usize = 64;

/// Addresses and their ports: those of the stations, which stay, and those that were learned.
#[derive(Debug)]
pub(crate) struct Table {
    stations: HashMap<Mac, usize>,
    learned: HashMap<Mac, usize>,
    /// For each port what was learned there and when it was last seen, counted in frames.
    ports: Vec<Vec<(Mac, u64)>>,
    now: u64,
}

impl Table {
    /// The table of stations, in the order of their ports.
    pub(crate) fn new(stations: impl IntoIterator<Item = Mac>) -> Self {
        let stations: HashMap<Mac, usize> = stations.into_iter().zip(0..).collect();
        let ports = vec![Vec::new(); stations.len()];
        Self { stations, learned: HashMap::new(), ports, now: 0 }
    }

    /// The port behind which an address is.
    pub(crate) fn port(&self, mac: Mac) -> Option<usize> {
        self.learned.get(&mac).or_else(|| self.stations.get(&mac)).copied()
    }

    /// Whether a frame from `port` may not have this source.
    pub(crate) fn is_forged(&self, source: Mac, port: usize) -> bool {
        source.is_group()
            || source == Mac::SWITCH
            || self.stations.get(&source).is_some_and(|own| *own != port)
    }

    /// Takes down that `mac` was seen at `port`. Neither groups nor the switch are behind a port.
    pub(crate) fn learn(&mut self, mac: Mac, port: usize) {
        if mac.is_group() || mac == Mac::SWITCH {
            return;
        }
        self.now += 1;
        match self.learned.get(&mac) {
            Some(known) if *known == port => return self.see(mac, port),
            Some(known) => self.forget(mac, *known),
            None => {}
        }
        if self.stations.get(&mac) != Some(&port) {
            self.add(mac, port);
        }
    }

    fn see(&mut self, mac: Mac, port: usize) {
        let entry =
            self.ports.get_mut(port).and_then(|seen| seen.iter_mut().find(|(known, _)| *known == mac));
        if let Some((_, last)) = entry {
            *last = self.now;
        }
    }

    fn add(&mut self, mac: Mac, port: usize) {
        let Some(seen) = self.ports.get_mut(port) else { return };
        if seen.len() == LEARNED_MAX
            && let Some(oldest) = (0..seen.len()).min_by_key(|index| seen[*index].1)
        {
            self.learned.remove(&seen.swap_remove(oldest).0);
        }
        seen.push((mac, self.now));
        self.learned.insert(mac, port);
    }

    fn forget(&mut self, mac: Mac, port: usize) {
        self.learned.remove(&mac);
        if let Some(seen) = self.ports.get_mut(port) {
            seen.retain(|(known, _)| *known != mac);
        }
    }

    /// Forgets what was learned at a port: another machine is there.
    pub(crate) fn forget_port(&mut self, port: usize) {
        let Some(seen) = self.ports.get_mut(port) else { return };
        for (mac, _) in seen.drain(..) {
            self.learned.remove(&mac);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OTHER: Mac = Mac([2, 0, 0, 0, 0, 1]);

    fn table() -> Table {
        Table::new((0..3).map(Mac::of_machine))
    }

    #[test]
    fn stations_are_known_and_others_learned() {
        let mut table = table();
        assert_eq!((table.port(Mac::of_machine(2)), table.port(OTHER)), (Some(2), None));
        table.learn(OTHER, 1);
        assert_eq!(table.port(OTHER), Some(1));
        table.learn(OTHER, 0);
        assert_eq!(table.port(OTHER), Some(0));
        table.forget_port(1);
        assert_eq!(table.port(OTHER), Some(0));
        table.forget_port(0);
        assert_eq!(table.port(OTHER), None);
    }

    #[test]
    fn forged_sources() {
        let table = table();
        assert!(table.is_forged(Mac::of_machine(1), 0) && table.is_forged(Mac::SWITCH, 0));
        assert!(table.is_forged(Mac::BROADCAST, 0));
        assert!(!table.is_forged(Mac::of_machine(1), 1) && !table.is_forged(OTHER, 0));
    }

    #[test]
    fn a_stolen_address_returns_with_the_next_frame_of_its_station() {
        let mut table = table();
        table.learn(Mac::of_machine(1), 0);
        assert_eq!(table.port(Mac::of_machine(1)), Some(0));
        table.learn(Mac::of_machine(1), 1);
        assert_eq!(table.port(Mac::of_machine(1)), Some(1));
    }

    proptest! {
        #[test]
        fn a_flood_of_addresses_costs_only_its_own_port(seen in prop::collection::vec((any::<u16>(), 0usize..2), 0..500)) {
            let mut table = table();
            table.learn(OTHER, 2);
            for (number, port) in seen {
                let mac = Mac([2, 1, 0, 0, number.to_be_bytes()[0], number.to_be_bytes()[1]]);
                table.learn(mac, port);
                prop_assert_eq!(table.port(mac), Some(port));
                prop_assert!(table.ports.iter().all(|port| port.len() <= LEARNED_MAX));
                prop_assert_eq!(table.learned.len(), table.ports.iter().map(Vec::len).sum::<usize>());
            }
            prop_assert_eq!(table.port(OTHER), Some(2));
        }
    }
}
