//! Temperatures and throttling: Documentation/driver-api/thermal/sysfs-api.rst.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use protocol::stress::ThermalZone;
use protocol::stress::report::ZONES_MAX;

/// What is known of the machine's temperatures since the start.
#[derive(Debug, Default)]
pub(crate) struct Thermal {
    zones: Vec<(PathBuf, ThermalZone)>,
    throttled_before: Option<u64>,
}

impl Thermal {
    /// Begins to observe.
    pub(crate) fn begin() -> Self {
        let zones = directories(Path::new("/sys/class/thermal"), "thermal_zone").into_iter().take(ZONES_MAX);
        Self { zones: zones.filter_map(zone).collect(), throttled_before: throttled() }
    }

    /// Looks at all zones once more.
    pub(crate) fn observe(&mut self) {
        for (path, zone) in &mut self.zones {
            if let Some(now) = temperature(path) {
                (zone.after, zone.highest) = (now, zone.highest.max(now));
            }
        }
    }

    pub(crate) fn zones(&self) -> Vec<ThermalZone> {
        self.zones.iter().map(|(_, zone)| zone.clone()).collect()
    }

    /// How often cores were throttled since the start, if the machine counts it.
    pub(crate) fn throttled(&self) -> Option<u64> {
        Some(throttled()?.saturating_sub(self.throttled_before?))
    }
}

fn zone(path: PathBuf) -> Option<(PathBuf, ThermalZone)> {
    let kind = read_to_string(path.join("type")).ok()?.trim().chars().take(64).collect();
    let before = temperature(&path)?;
    Some((path, ThermalZone { kind, before, highest: before, after: before }))
}

fn temperature(zone: &Path) -> Option<i64> {
    read_to_string(zone.join("temp")).ok()?.trim().parse().ok()
}

/// The sum over all CPUs: Documentation/ABI/testing/sysfs-devices-system-cpu.
fn throttled() -> Option<u64> {
    let cpus = directories(Path::new("/sys/devices/system/cpu"), "cpu");
    let counts = cpus.iter().filter_map(|cpu| {
        let count = read_to_string(cpu.join("thermal_throttle/core_throttle_count")).ok()?;
        count.trim().parse::<u64>().ok()
    });
    counts.reduce(u64::saturating_add)
}

/// Entries whose name is `prefix` and a number.
fn directories(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let is_numbered = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix(prefix).is_some_and(|rest| rest.parse::<u32>().is_ok())
    };
    let mut all: Vec<PathBuf> = read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(is_numbered)
        .collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_temperature_is_kept() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"));
        let zone = ThermalZone { kind: "x".to_string(), before: 40_000, highest: 75_000, after: 75_000 };
        let mut thermal = Thermal { zones: vec![(file.to_path_buf(), zone.clone())], throttled_before: None };
        thermal.observe();
        assert_eq!(thermal.zones(), [zone], "there is no temperature to be read");
        assert_eq!(thermal.throttled(), None);
    }

    #[test]
    fn only_numbered_directories_count() {
        let cpus = directories(Path::new("/sys/devices/system/cpu"), "cpu");
        assert!(cpus.iter().any(|cpu| cpu.ends_with("cpu0")), "{cpus:?}");
        assert!(!cpus.iter().any(|cpu| cpu.ends_with("cpufreq")), "{cpus:?}");
    }
}
