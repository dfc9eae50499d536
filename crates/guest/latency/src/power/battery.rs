//! Batteries that discharge: Documentation/ABI/testing/sysfs-class-power.

use std::fs;
use std::path::{Path, PathBuf};

const SUPPLIES: &str = "class/power_supply";

/// Watts in a microwatt, the unit of `power_now`.
const MICRO: f64 = 1e-6;

/// The batteries of the machine.
#[derive(Debug)]
pub(super) struct Battery(Vec<PathBuf>);

impl Battery {
    /// The batteries below a sysfs that tell their power.
    ///
    /// # Errors
    ///
    /// Why there are none.
    pub(super) fn find(system: &Path) -> Result<Self, String> {
        let supplies = fs::read_dir(system.join(SUPPLIES)).into_iter().flatten().flatten();
        let batteries: Vec<PathBuf> =
            supplies.map(|supply| supply.path()).filter(|it| is_battery(it)).collect();
        if batteries.is_empty() {
            return Err("no battery".to_owned());
        }
        let battery = Self(batteries);
        battery.watts().map(|_| battery)
    }

    /// What they give now. One that is charged says nothing about the machine.
    ///
    /// # Errors
    ///
    /// Why they do not tell.
    pub(super) fn watts(&self) -> Result<f64, String> {
        let discharging = self.0.iter().filter(|battery| text(battery, "status") == "Discharging");
        let powers = discharging
            .map(|battery| text(battery, "power_now").parse::<u64>())
            .collect::<Result<Vec<u64>, _>>()
            .map_err(|_| "a battery that does not tell its power".to_owned())?;
        if powers.is_empty() {
            return Err("a battery that does not discharge".to_owned());
        }
        Ok(powers.into_iter().fold(0, u64::saturating_add) as f64 * MICRO)
    }
}

/// Whether it feeds the machine, and not a mouse.
fn is_battery(supply: &Path) -> bool {
    text(supply, "type") == "Battery" && text(supply, "scope") != "Device"
}

fn text(supply: &Path, file: &str) -> String {
    fs::read_to_string(supply.join(file)).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supply(system: &Path, name: &str, files: &[(&str, &str)]) {
        let supply = system.join(SUPPLIES).join(name);
        fs::create_dir_all(&supply).expect("there is room");
        for (file, text) in files {
            fs::write(supply.join(file), format!("{text}\n")).expect("there is room");
        }
    }

    #[test]
    fn batteries_that_discharge_are_summed() {
        let system = tempfile::tempdir().expect("there is room");
        let system = system.path();
        let find = || Battery::find(system).map(|battery| battery.watts());
        assert_eq!(find().expect_err("there is none"), "no battery");
        supply(system, "AC", &[("type", "Mains")]);
        supply(system, "mouse", &[("type", "Battery"), ("scope", "Device"), ("status", "Discharging")]);
        supply(system, "BAT0", &[("type", "Battery"), ("status", "Charging"), ("power_now", "9000000")]);
        assert_eq!(find().expect_err("it is charged"), "a battery that does not discharge");
        supply(system, "BAT1", &[("type", "Battery"), ("status", "Discharging")]);
        assert_eq!(find().expect_err("it is silent"), "a battery that does not tell its power");
        supply(system, "BAT1", &[("power_now", "5500000")]);
        assert_eq!(find().expect("it tells"), Ok(5.5));
    }
}
