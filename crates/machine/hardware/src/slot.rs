//! Where devices can be plugged in while the machine runs: PCI Express root ports, and bridges.

use protocol::Need;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::words::{Words, Writer, parts};

/// What it is called.
pub(crate) const NAME: &str = "slot";

const KEYS: [&str; 5] = ["id", "bridge", "buses", "power", "address"];

/// The last number of a bus on a PCI domain.
const BUSES_MAX: u32 = 255;

/// Properties of root ports and bridges: `-device pcie-root-port,help`, and those of every device in QEMU's object model. The
/// bus behind a slot has its name, and is a property of it, too.
const PROPERTIES: [&str; 25] = [
    "acpi-index",
    "addr",
    "aer_log_max",
    "bus-reserve",
    "chassis",
    "disable-acs",
    "failover_pair_id",
    "hotplug",
    "hotpluggable",
    "hotplugged",
    "io-reserve",
    "mem-reserve",
    "msi",
    "multifunction",
    "parent_bus",
    "port",
    "power_controller_present",
    "pref32-reserve",
    "pref64-reserve",
    "realized",
    "rombar",
    "romfile",
    "romsize",
    "slot",
    "type",
];

/// A PCI Express root port, or a bridge to conventional PCI.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Slot {
    /// By this name devices are plugged into it; one by its number where there is none.
    pub id: Option<String>,
    /// A bridge to conventional PCI instead of a root port.
    pub bridge: bool,
    /// Numbers of buses that the firmware reserves behind it.
    pub buses: Option<u32>,
    /// The guest controls its power, and a new card is seen only when the guest has switched it on.
    pub power: bool,
    /// Its device number on the bus, such as 0x10.
    pub address: Option<u8>,
}

impl Slot {
    /// Reads `id=dock,buses=4`.
    ///
    /// # Errors
    ///
    /// When there is none like that.
    pub fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(NAME, &parts(text), &KEYS)?;
        let count = |text: &str| text.parse().ok().filter(|count| (1..=BUSES_MAX).contains(count));
        let id = words.read("id", "a name of letters, digits and dashes", name)?;
        if let Some(id) = id.as_ref().filter(|id| is_property(id)) {
            return Err(Error::Conflict(format!(
                "slot: id={id} is what QEMU calls a property of slots: choose another name, such as my-{id}"
            )));
        }
        Ok(Self {
            id,
            bridge: words.flag("bridge")?,
            buses: words.read("buses", "a number from 1 to 255", count)?,
            power: words.flag("power")?,
            address: words.read("address", "a number from 0x1 to 0x1f", address)?,
        })
    }

    /// The form that [`Slot::read`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        let writer = Writer::new("")
            .option("id", self.id.as_ref())
            .flag("bridge", self.bridge)
            .option("buses", self.buses)
            .flag("power", self.power)
            .option("address", self.address.map(|number| format!("{number:#x}")));
        writer.finish().trim_start_matches(',').to_string()
    }

    pub(crate) fn needs(&self) -> Vec<Need<String>> {
        let option = if self.bridge { "HOTPLUG_PCI_SHPC" } else { "HOTPLUG_PCI_PCIE" };
        vec![Need::Config(option.to_string())]
    }

    /// The arguments of the slot with this number.
    pub(crate) fn arguments(&self, number: usize) -> Vec<String> {
        let id = self.id.clone().unwrap_or_else(|| format!("slot{number}"));
        let address = self.address.map(|at| format!(",addr={at:#x}")).unwrap_or_default();
        let device = if self.bridge {
            format!("pcie-pci-bridge,id={id}{address}")
        } else {
            let buses = self.buses.map(|count| format!(",bus-reserve={count}")).unwrap_or_default();
            let power = if self.power { "on" } else { "off" };
            // Number 0 is that of no slot.
            let slot = number + 1;
            format!(
                "pcie-root-port,id={id},chassis={slot},slot={slot},power_controller_present={power}{buses}{address}"
            )
        };
        vec!["-device".to_string(), device]
    }
}

/// A name that QEMU takes for a device.
pub(crate) fn name(text: &str) -> Option<String> {
    let is_first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let is_plain =
        text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    (is_first && is_plain).then(|| text.to_string())
}

/// Whether the device has something of this name already; QEMU's experimental and old properties begin alike.
fn is_property(name: &str) -> bool {
    PROPERTIES.contains(&name) || ["x-", "legacy-"].iter().any(|begin| name.starts_with(begin))
}

fn address(text: &str) -> Option<u8> {
    let number =
        text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u8::from_str_radix(hex, 16).ok());
    number.filter(|number| (1..=0x1f).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["", "id=dock,buses=4,address=0x10", "bridge", "power"] {
            assert_eq!(Slot::read(text).unwrap().text(), text);
        }
        for wrong in ["id=1", "id=a b", "buses=0", "buses=256", "address=0x20", "address=0", "bridge=yes"] {
            assert!(Slot::read(wrong).is_err(), "{wrong}");
        }
        for taken in ["port", "parent_bus", "x-width", "legacy-addr"] {
            let error = Slot::read(&format!("id={taken}")).unwrap_err().to_string();
            assert!(error.contains(&format!("choose another name, such as my-{taken}")), "{error}");
        }
        assert_eq!(
            Slot::read("id=dock,buses=4,address=0x10").unwrap().arguments(1).join(" "),
            "-device pcie-root-port,id=dock,chassis=2,slot=2,power_controller_present=off,bus-reserve=4,addr=0x10"
        );
    }
}
