//! One thing that a machine has, and how users write it: `NAME,KEY=VALUE,...`.

use std::fmt;
use std::str::FromStr;

use protocol::Need;
use serde::{Deserialize, Serialize};

use crate::backing::Backing;
use crate::disk::{self, Disk};
use crate::error::Error;
use crate::firmware::{self, AcpiTable, Firmware, Rtc};
use crate::iommu::{self, Iommu};
use crate::nic::{self, Nic};
use crate::part::{self, Part};
use crate::serial::{self, Serial};
use crate::slot::{self, Slot};
use crate::topology::{self, Hotplug, Node, Topology};
use crate::tpm::{self, Tpm};

/// What comes before words that are QEMU's own.
const QEMU: &str = "qemu:";

/// How QEMU's names of balloons begin.
pub const BALLOON: &str = "virtio-balloon";

/// Longest words of QEMU's own, in bytes.
const QEMU_MAX: usize = 4096;

/// Names of those with options of their own.
const NAMES: [&str; 12] = [
    disk::NAME,
    nic::NAME,
    iommu::NAME,
    slot::NAME,
    serial::NAME,
    tpm::NAME,
    topology::NAME,
    topology::NODE,
    topology::HOTPLUG,
    firmware::UEFI,
    firmware::ACPI,
    firmware::RTC,
];

/// Something that a machine has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// A disk.
    Disk(Disk),
    /// A network interface.
    Nic(Nic),
    /// An IOMMU.
    Iommu(Iommu),
    /// Where devices can be plugged in.
    Slot(Slot),
    /// A further serial port.
    Serial(Serial),
    /// A TPM.
    Tpm(Tpm),
    /// How CPUs are arranged.
    Topology(Topology),
    /// A NUMA node.
    Node(Node),
    /// Room for more memory or CPUs.
    Hotplug(Hotplug),
    /// UEFI firmware.
    Uefi(Firmware),
    /// An ACPI table.
    Acpi(AcpiTable),
    /// The time of the clock.
    Rtc(Rtc),
    /// A device without options.
    Part(Part),
    /// A device in QEMU's own words: the last resort. kiln does not know what it needs.
    Qemu(String),
}

impl Device {
    /// A clock that goes by instructions, [`part::INSTRUCTION_NS`] each.
    #[must_use]
    pub fn instruction_clock() -> Option<Self> {
        Part::find(part::ICOUNT).map(Self::Part)
    }

    /// What the kernel must have to use it.
    #[must_use]
    pub fn needs(&self) -> Vec<Need<String>> {
        match self {
            Self::Disk(disk) => disk.bus.needs(),
            Self::Nic(nic) => nic.needs(),
            Self::Iommu(iommu) => iommu.needs(),
            Self::Slot(slot) => slot.needs(),
            Self::Tpm(tpm) => tpm.needs(),
            Self::Node(_) => vec![Need::Config("NUMA".to_string())],
            Self::Hotplug(hotplug) => {
                let memory = hotplug.memory.map(|_| Need::Config("MEMORY_HOTPLUG".to_string()));
                memory
                    .into_iter()
                    .chain(hotplug.cpus.map(|_| Need::Config("HOTPLUG_CPU".to_string())))
                    .collect()
            }
            Self::Uefi(firmware) => firmware.needs(),
            Self::Part(part) => part.needs(),
            Self::Serial(_) | Self::Topology(_) | Self::Acpi(_) | Self::Rtc(_) | Self::Qemu(_) => Vec::new(),
        }
    }

    /// What has to be opened for it.
    #[must_use]
    pub fn backings(&self) -> Vec<Backing> {
        match self {
            Self::Disk(disk) => disk.backings(),
            Self::Nic(nic) => nic.backings(),
            Self::Serial(serial) => serial.backings(),
            Self::Tpm(_) => Tpm::backings(),
            Self::Uefi(firmware) => firmware.backings(),
            Self::Acpi(table) => table.backings(),
            Self::Iommu(_)
            | Self::Slot(_)
            | Self::Topology(_)
            | Self::Node(_)
            | Self::Hotplug(_)
            | Self::Rtc(_)
            | Self::Part(_)
            | Self::Qemu(_) => Vec::new(),
        }
    }

    /// Whether it gives memory back to this host.
    #[must_use]
    pub fn is_balloon(&self) -> bool {
        match self {
            Self::Part(part) => part.name() == "balloon",
            Self::Qemu(words) => words.starts_with(BALLOON),
            _ => false,
        }
    }

    /// A file of this host without which QEMU cannot have it, beside what is opened for it.
    #[must_use]
    pub fn host_file(&self) -> Option<&'static str> {
        if let Self::Part(part) = self { part.host_file() } else { None }
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if let Some(words) = text.strip_prefix(QEMU).filter(|words| (1..=QEMU_MAX).contains(&words.len())) {
            return Ok(Self::Qemu(words.to_string()));
        }
        let (name, options) = text.split_once(',').unwrap_or((text, ""));
        match name {
            disk::NAME => Disk::read(options).map(Self::Disk),
            nic::NAME => Nic::read(options).map(Self::Nic),
            iommu::NAME => Iommu::read(options).map(Self::Iommu),
            slot::NAME => Slot::read(options).map(Self::Slot),
            serial::NAME => Serial::read(options).map(Self::Serial),
            tpm::NAME => Tpm::read(options).map(Self::Tpm),
            topology::NAME => Topology::read(options).map(Self::Topology),
            topology::NODE => Node::read(options).map(Self::Node),
            topology::HOTPLUG => Hotplug::read(options).map(Self::Hotplug),
            firmware::UEFI => Firmware::read(options).map(Self::Uefi),
            firmware::ACPI => AcpiTable::read(options).map(Self::Acpi),
            firmware::RTC => Rtc::read(options).map(Self::Rtc),
            _ => part(name, options).map(Self::Part),
        }
    }
}

fn part(name: &str, options: &str) -> Result<Part, Error> {
    let Some(part) = Part::find(name) else {
        let names = NAMES.into_iter().chain(Part::all().map(Part::name));
        return Err(Error::Device { name: name.to_string(), known: names.collect::<Vec<_>>().join(", ") });
    };
    if options.is_empty() {
        return Ok(part);
    }
    Err(Error::Conflict(format!("{name} has no options; for those of QEMU write {QEMU}NAME,...")))
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, options) = match self {
            Self::Disk(disk) => (disk::NAME, disk.text()),
            Self::Nic(nic) => (nic::NAME, nic.text()),
            Self::Iommu(iommu) => (iommu::NAME, iommu.text()),
            Self::Slot(slot) => (slot::NAME, slot.text()),
            Self::Serial(serial) => (serial::NAME, serial.text()),
            Self::Tpm(tpm) => (tpm::NAME, tpm.text()),
            Self::Topology(topology) => (topology::NAME, topology.text()),
            Self::Node(node) => (topology::NODE, node.text()),
            Self::Hotplug(hotplug) => (topology::HOTPLUG, hotplug.text()),
            Self::Uefi(firmware) => (firmware::UEFI, firmware.text()),
            Self::Acpi(table) => (firmware::ACPI, table.text()),
            Self::Rtc(rtc) => (firmware::RTC, rtc.text()),
            Self::Part(part) => (part.name(), String::new()),
            Self::Qemu(words) => return write!(f, "{QEMU}{words}"),
        };
        let separator = if options.is_empty() { "" } else { "," };
        write!(f, "{name}{separator}{options}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXAMPLES: [&str; 17] = [
        "disk,size=4G,bus=nvme",
        "nic,outside",
        "iommu,kind=intel",
        "slot,id=dock",
        "slot",
        "serial,name=dock",
        "tpm",
        "tpm,interface=tis",
        "topology,sockets=2",
        "node,cpus=0-1,memory=512M",
        "hotplug,memory=4G",
        "uefi",
        "acpi,table=/dock.aml",
        "rtc,base=2038-01-19T03:14:00",
        "edu",
        "balloon",
        "qemu:usb-kbd,bus=xhci.0",
    ];

    #[test]
    fn what_is_written_is_read_and_kept() {
        for text in EXAMPLES {
            let device: Device = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(device.to_string(), text);
            let json = serde_json::to_string(&device).unwrap();
            assert_eq!(serde_json::from_str::<Device>(&json).unwrap(), device, "{json}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text: String, index in 0..EXAMPLES.len()) {
            let _ = text.parse::<Device>();
            let _ = format!("{},{text}", EXAMPLES[index]).parse::<Device>();
        }
    }

    #[test]
    fn a_balloon_is_known_in_any_words() {
        let is_balloon = |text: &str| text.parse::<Device>().unwrap().is_balloon();
        assert!(is_balloon("balloon") && is_balloon("qemu:virtio-balloon-pci,deflate-on-oom=on"));
        assert!(!is_balloon("rng") && !is_balloon("qemu:usb-kbd"));
    }

    #[test]
    fn an_unknown_device_is_named_with_all_that_there_are() {
        let error = "floppy".parse::<Device>().unwrap_err().to_string();
        assert_eq!(
            error,
            "there is no device \"floppy\": the devices are disk, nic, iommu, slot, serial, tpm, topology, node, hotplug, \
             uefi, acpi, rtc, qboot, icount, balloon, rng, watchdog, sound, display, gpu, usb, vsock, edu, testdev; for one of QEMU's write \
             qemu:NAME,..."
        );
        assert!("edu,a=b".parse::<Device>().is_err() && "qemu:".parse::<Device>().is_err());
    }
}
