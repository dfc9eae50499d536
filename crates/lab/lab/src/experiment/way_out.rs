//! The way out of a segment: a gateway, which has the last address of the network, before it one for DNS.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;

use judge::Blame;
use machine::Gateway;
use machine::gateway::Addresses;
use script::{ErrorName, Trouble};
use segment::{Mac, Network, Settings, Station};

/// The station of the gateway.
pub(super) const STATION: &str = "gateway";

/// A way out that is open.
#[derive(Debug)]
pub(super) struct WayOut {
    addresses: Addresses,
    gateway: Gateway,
}

/// Makes the last place that of the gateway, and removes the stations whose addresses it takes; gives its addresses.
pub(super) fn make_room(settings: &mut Settings) -> Result<Addresses, Trouble> {
    let addresses = addresses(settings.network)?;
    let Addresses { gateway, resolver, .. } = addresses;
    settings.stations.retain(|station| ![gateway, resolver].contains(&station.address));
    let [a, b, c, d] = gateway.octets();
    // QEMU makes its addresses so: SPECIAL_ETH in src/slirp.c of libslirp.
    let mac = Mac([0x52, 0x55, a, b, c, d]);
    settings.stations.push(Station { name: STATION.to_string(), mac, address: gateway, names: Vec::new() });
    settings.router = Some(gateway);
    Ok(addresses)
}

impl WayOut {
    /// Plugs a gateway into the cable of [`STATION`].
    pub(super) fn open(cable: OwnedFd, addresses: Addresses) -> Result<Self, Trouble> {
        let gateway = Gateway::start(cable, &addresses);
        let gateway = gateway.map_err(|error| Trouble::broken(Blame::Host, error.to_string()))?;
        Ok(Self { addresses, gateway })
    }

    /// Whether it is open still.
    pub(super) fn check(&self) -> Result<(), Trouble> {
        let broken = |why| Trouble::broken(Blame::Host, format!("the way out of a segment has ended: {why}"));
        self.gateway.end().map_or(Ok(()), |why| Err(broken(why)))
    }

    /// Where machines send what is not for their segment.
    pub(super) fn gateway(&self) -> Ipv4Addr {
        self.addresses.gateway
    }
}

fn addresses(network: Network) -> Result<Addresses, Trouble> {
    let small = || {
        let text = format!("{network} is too small for a way out: write a network of at most 29 bits");
        Trouble::new(ErrorName::Refused, text)
    };
    // The first address is the switch's, and a machine needs one.
    network.machine(2).ok_or_else(small)?;
    let (gateway, resolver) = network.from_end(0).zip(network.from_end(1)).ok_or_else(small)?;
    Ok(Addresses { network: network.to_string(), gateway, resolver })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_make_room_for_the_gateway() {
        let mut settings = Settings::new("x", 1);
        settings.network = "10.0.0.0/29".parse().unwrap();
        while settings.add(format!("station-{}", settings.stations.len())).is_ok() {}
        make_room(&mut settings).unwrap();
        assert_eq!(settings.stations.len() - 1, 3);
        assert_eq!(settings.stations[3].address, Ipv4Addr::new(10, 0, 0, 6));
        assert_eq!(settings.check(), Ok(()));
        settings.network = "10.0.0.0/30".parse().unwrap();
        assert!(make_room(&mut settings).is_err());
    }
}
