//! The names of the stations, as DNS has them.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use crate::settings::Settings;

/// The name of the switch, if no station has it.
const SWITCH: &str = "switch";

/// Names and addresses.
#[derive(Debug, Default)]
pub(super) struct Names {
    addresses: HashMap<String, Ipv4Addr>,
    names: HashMap<Ipv4Addr, String>,
}

impl Names {
    /// Each station has its name with and without the domain, and its other names likewise unless they have dots.
    pub(super) fn new(settings: &Settings) -> Self {
        let mut found = Self::default();
        let domain = settings.domain.to_ascii_lowercase();
        for station in &settings.stations {
            for name in std::iter::once(&station.name).chain(&station.names) {
                found.add(name, &domain, station.address);
            }
        }
        found.add(SWITCH, &domain, settings.network.switch());
        found
    }

    fn add(&mut self, name: &str, domain: &str, address: Ipv4Addr) {
        let name = name.to_ascii_lowercase();
        let whole = format!("{name}.{domain}");
        self.names.entry(address).or_insert_with(|| whole.clone());
        if !name.contains('.') {
            self.addresses.entry(whole).or_insert(address);
        }
        self.addresses.entry(name).or_insert(address);
    }

    /// The address of a name in lower case.
    pub(super) fn address(&self, name: &str) -> Option<Ipv4Addr> {
        self.addresses.get(name).copied()
    }

    /// The name of an address in the form of `2.0.77.10.in-addr.arpa`.
    pub(super) fn reverse(&self, name: &str) -> Option<&str> {
        let reversed = name.strip_suffix(".in-addr.arpa")?;
        let address: Ipv4Addr = reversed.parse().ok()?;
        let [a, b, c, d] = address.octets();
        self.names.get(&Ipv4Addr::new(d, c, b, a)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_have_their_names() {
        let mut settings = Settings::new("lan", 1);
        settings.add("A").unwrap().names = vec!["www.example".to_string(), "nfs".to_string()];
        let names = Names::new(&settings);
        let a = Some(settings.stations[0].address);
        for name in ["a", "a.kiln.test", "nfs", "nfs.kiln.test", "www.example"] {
            assert_eq!(names.address(name), a, "{name}");
        }
        assert_eq!(names.address("switch"), Some(settings.network.switch()));
        assert_eq!(names.address("www.example.kiln.test"), None);
        assert_eq!(names.reverse("2.0.77.10.in-addr.arpa"), Some("a.kiln.test"));
        assert_eq!(names.reverse("10.77.0.2.in-addr.arpa"), None);
        assert_eq!(names.reverse("2.0.77.10"), None);
    }
}
