//! The energy that processor packages count: Documentation/power/powercap/powercap.rst.

use std::fs;
use std::path::{Path, PathBuf};

const ZONES: &str = "class/powercap";

/// How the name of a zone begins, also with processors of AMD.
const ZONE: &str = "intel-rapl:";

/// What a zone calls itself if it is a whole package. Zones within it would count twice, as would `psys`.
const PACKAGE: &str = "package";

/// Joules in a microjoule, the unit of the counters.
const MICRO: f64 = 1e-6;

/// The counters of all packages.
#[derive(Debug)]
pub(super) struct Rapl(Vec<Package>);

#[derive(Debug)]
struct Package {
    counter: PathBuf,
    /// The highest count, after which it begins at 0 again.
    range: u64,
    last: u64,
}

impl Rapl {
    /// The packages below a sysfs, from now on.
    ///
    /// # Errors
    ///
    /// Why there are none that can be read.
    pub(super) fn find(system: &Path) -> Result<Self, String> {
        let zones = fs::read_dir(system.join(ZONES)).into_iter().flatten().flatten();
        let packages = zones
            .filter(|zone| zone.file_name().to_string_lossy().starts_with(ZONE))
            .map(|zone| zone.path())
            .filter(|zone| fs::read_to_string(zone.join("name")).is_ok_and(|name| name.starts_with(PACKAGE)));
        let packages = packages.map(|zone| Package::open(&zone)).collect::<Result<Vec<_>, String>>()?;
        if packages.is_empty() { Err("no RAPL".to_owned()) } else { Ok(Self(packages)) }
    }

    /// What all packages have used since the last call.
    ///
    /// # Errors
    ///
    /// When a counter cannot be read any more.
    pub(super) fn joules(&mut self) -> Result<f64, String> {
        self.0.iter_mut().map(Package::joules).sum()
    }
}

impl Package {
    fn open(zone: &Path) -> Result<Self, String> {
        let range = number(&zone.join("max_energy_range_uj"))?;
        let counter = zone.join("energy_uj");
        let last = number(&counter)?;
        Ok(Self { counter, range, last })
    }

    fn joules(&mut self) -> Result<f64, String> {
        let now = number(&self.counter)?;
        let used = if now < self.last {
            self.range.saturating_sub(self.last).saturating_add(now)
        } else {
            now - self.last
        };
        self.last = now;
        Ok(used as f64 * MICRO)
    }
}

fn number(file: &Path) -> Result<u64, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("RAPL: {error}"))?;
    text.trim().parse().map_err(|_| "RAPL: a counter that is no number".to_owned())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Puts a package into a sysfs.
    pub(in super::super) fn package(system: &Path, number: u32, energy: &str, range: &str) -> PathBuf {
        zone(system, &format!("intel-rapl:{number}"), &format!("package-{number}"), energy, range)
    }

    fn zone(system: &Path, directory: &str, name: &str, energy: &str, range: &str) -> PathBuf {
        let zone = system.join(ZONES).join(directory);
        fs::create_dir_all(&zone).expect("there is room");
        for (file, text) in [("name", name), ("energy_uj", energy), ("max_energy_range_uj", range)] {
            fs::write(zone.join(file), format!("{text}\n")).expect("there is room");
        }
        zone.join("energy_uj")
    }

    #[test]
    fn packages_are_summed_and_counters_begin_anew() {
        let system = tempfile::tempdir().expect("there is room");
        let system = system.path();
        let first = package(system, 0, "1000000", "9000000");
        let second = package(system, 1, "8000000", "9000000");
        zone(system, "intel-rapl:0:0", "core", "77", "9000000");
        zone(system, "intel-rapl:2", "psys", "77", "9000000");
        fs::create_dir_all(system.join(ZONES).join("intel-rapl")).expect("there is room");
        let mut rapl = Rapl::find(system).expect("there are packages");
        fs::write(first, "3500000\n").expect("it is ours");
        fs::write(second, "500000\n").expect("it is ours");
        assert!((rapl.joules().expect("it can be read") - 4.0).abs() < 1e-9);
        assert_eq!(rapl.joules(), Ok(0.0));
    }

    #[test]
    fn what_cannot_be_read_is_no_power() {
        let system = tempfile::tempdir().expect("there is room");
        assert_eq!(Rapl::find(system.path()).expect_err("there is none"), "no RAPL");
        package(system.path(), 0, "many", "9");
        let why = Rapl::find(system.path()).expect_err("it is none");
        assert_eq!(why, "RAPL: a counter that is no number");
    }
}
