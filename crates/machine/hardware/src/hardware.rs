//! All that a machine has, and the arguments of QEMU for it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::backing::{Backing, Place};
use crate::device::Device;
use crate::disk::blocks;
use crate::error::Error;
use crate::firmware::{AcpiTable, Firmware};
use crate::iommu::Kind;
use crate::part;
use crate::topology;

/// Most devices of a machine: a bus has 32 places.
const DEVICES_MAX: usize = 64;

/// Most further serial ports: a PC has four, and two are kiln's.
const PORTS_MAX: usize = 2;

/// QEMU's name for the memory of a machine without NUMA nodes.
pub const WHOLE: &str = "memory";

/// All that a machine has besides CPUs, memory and what every machine has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hardware {
    /// In the order in which they were given.
    pub devices: Vec<Device>,
}

/// The arguments of a machine's program, by where they belong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// What stands before every other device.
    pub first: Vec<String>,
    /// All others.
    pub devices: Vec<String>,
}

impl Hardware {
    /// These devices.
    ///
    /// # Errors
    ///
    /// When they exclude each other.
    pub fn new(devices: Vec<Device>) -> Result<Self, Error> {
        let hardware = Self { devices };
        hardware.check()?;
        Ok(hardware)
    }

    /// Whether it is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Whether a machine can have them.
    ///
    /// # Errors
    ///
    /// When they exclude each other.
    pub fn check(&self) -> Result<(), Error> {
        let conflict = |text: String| Err(Error::Conflict(text));
        if self.devices.len() > DEVICES_MAX {
            return conflict(format!("a machine has at most {DEVICES_MAX} devices"));
        }
        for (name, is) in ONCE {
            if self.devices.iter().filter(|device| is(device)).count() > 1 {
                return conflict(format!("a machine has one {name}"));
            }
        }
        if self.ports().len() > PORTS_MAX {
            return conflict(format!("a machine has at most {PORTS_MAX} serial ports beside kiln's own"));
        }
        if let Some(name) = twice(self.ports()) {
            return conflict(format!("two serial ports are called {name}"));
        }
        if let Some(name) = twice(self.ids()) {
            return conflict(format!("two devices are called {name}"));
        }
        let count = self.nodes().len();
        let wrong = |node: &&topology::Node| !node.distances.is_empty() && node.distances.len() != count;
        if self.nodes().into_iter().any(|node| wrong(&node)) {
            return conflict("node: distances are those to all nodes, in their order".to_string());
        }
        Ok(())
    }

    /// Names of its serial ports.
    fn ports(&self) -> Vec<String> {
        let name = |device: &Device| match device {
            Device::Serial(serial) => Some(serial.name.clone()),
            _ => None,
        };
        self.devices.iter().filter_map(name).collect()
    }

    /// Names by which QEMU knows its devices, the user's and those that kiln gives.
    fn ids(&self) -> Vec<String> {
        let Arguments { first, devices } = self.arguments(&[]);
        let words = [first, devices].concat();
        let devices = words.windows(2).filter(|pair| pair[0] == "-device").map(|pair| &pair[1]);
        let id =
            |words: &String| Some(words.split(',').find_map(|word| word.strip_prefix("id="))?.to_string());
        devices.filter_map(id).collect()
    }

    /// Its NUMA nodes.
    #[must_use]
    pub fn nodes(&self) -> Vec<&topology::Node> {
        self.devices
            .iter()
            .filter_map(|device| if let Device::Node(node) = device { Some(node) } else { None })
            .collect()
    }

    /// CPUs that the arrangement of sockets and nodes makes, if it says so.
    #[must_use]
    pub fn cpus(&self) -> Option<u32> {
        let topology = self.devices.iter().find_map(|device| match device {
            Device::Topology(topology) => Some(topology.cpus()),
            _ => None,
        });
        let last = self.nodes().into_iter().filter_map(|node| node.cpus).map(|(_, last)| last + 1).max();
        topology.or(last)
    }

    /// Memory of all nodes in MiB, if there are any.
    #[must_use]
    pub fn memory_mib(&self) -> Option<u64> {
        let nodes = self.nodes();
        (!nodes.is_empty()).then(|| nodes.into_iter().map(|node| node.memory >> 20).sum())
    }

    /// The parts of a memory of so many MiB: one for each node, or one that is called `memory`.
    #[must_use]
    pub fn memories(&self, mib: u64) -> Vec<topology::Memory> {
        let nodes = self.nodes();
        if nodes.is_empty() {
            return vec![topology::Memory { id: WHOLE.to_string(), mib }];
        }
        topology::memories(&nodes)
    }

    /// What follows the number of CPUs.
    #[must_use]
    pub fn cpu_words(&self, cpus: u32) -> String {
        let topology = self.devices.iter().find_map(|device| match device {
            Device::Topology(topology) => Some(topology.words()),
            _ => None,
        });
        let more = self.hotplug().and_then(|hotplug| hotplug.cpus);
        let most = more.map(|more| format!(",maxcpus={}", cpus.saturating_add(more)));
        topology.or_else(|| self.node_sockets()).unwrap_or_default() + &most.unwrap_or_default()
    }

    /// A socket for each node, where that makes the CPUs that there are: kernels warn of nodes that share a socket.
    fn node_sockets(&self) -> Option<String> {
        let ranges = self.nodes().into_iter().filter_map(|node| node.cpus);
        let widths: Vec<u32> = ranges.map(|(first, last)| last - first).collect();
        let is_even = widths.windows(2).all(|pair| pair[0] == pair[1]);
        let may_grow = self.hotplug().is_some_and(|hotplug| hotplug.cpus.is_some());
        (widths.len() > 1 && is_even && !may_grow).then(|| format!(",sockets={}", widths.len()))
    }

    /// Bytes of memory that may be plugged in.
    #[must_use]
    pub fn more_memory(&self) -> Option<u64> {
        self.hotplug().and_then(|hotplug| hotplug.memory)
    }

    fn hotplug(&self) -> Option<&topology::Hotplug> {
        self.devices
            .iter()
            .find_map(|device| if let Device::Hotplug(hotplug) = device { Some(hotplug) } else { None })
    }

    /// Why such a machine is booted instead of cloned, as far as kiln knows; QEMU may know more.
    #[must_use]
    pub fn uncloneable(&self) -> Option<String> {
        let written = || {
            let path = self.written_files().into_iter().next()?;
            Some(format!("what machines write to {} stays", path.display()))
        };
        // It frees pages of the file, also where that is mapped privately: `ram_block_discard_range()` of QEMU's
        // softmmu/physmem.c.
        let balloon = self.devices.iter().any(Device::is_balloon);
        let balloon =
            balloon.then(|| "what a balloon frees in a clone would be lost to its template".to_string());
        balloon.or_else(|| self.unsaved()).or_else(written)
    }

    /// Which of them has no state that QEMU would write, in words: hw/misc/edu.c, hw/misc/pci-testdev.c.
    #[must_use]
    pub fn unsaved(&self) -> Option<String> {
        self.devices.iter().find_map(|device| match device {
            Device::Part(part) if ["edu", "testdev"].contains(&part.name()) => {
                Some(format!("QEMU does not save the state of {}", part.name()))
            }
            _ => None,
        })
    }

    /// Files of this host that its machines write to: they are not as they were, so they cannot be handed over.
    #[must_use]
    pub fn written_files(&self) -> Vec<PathBuf> {
        let backings = self.devices.iter().flat_map(Device::backings);
        let written = |backing| match backing {
            Backing::Write(path) | Backing::New(path) => Some(path),
            _ => None,
        };
        backings.filter_map(written).collect()
    }

    /// Whether one machine at a time can have it: it writes to a file that is not for several.
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        let is_shared = |device: &Device| matches!(device, Device::Disk(disk) if disk.shared && disk.faults.writes.is_none());
        let mine = self.devices.iter().filter(|device| !is_shared(device)).flat_map(Device::backings);
        mine.into_iter().any(|backing| matches!(backing, Backing::Write(_) | Backing::New(_)))
    }

    /// What has to be opened, for one device after the other.
    #[must_use]
    pub fn backings(&self) -> Vec<Vec<Backing>> {
        self.devices.iter().map(Device::backings).collect()
    }

    /// The arguments of QEMU, with the places of what was opened for each device.
    #[must_use]
    pub fn arguments(&self, places: &[Vec<Place>]) -> Arguments {
        let mut written = Written { virtio: self.virtio(), counts: BTreeMap::new() };
        let mut arguments = Arguments::default();
        for (number, device) in self.devices.iter().enumerate() {
            let places = places.get(number).map(Vec::as_slice).unwrap_or_default();
            let words = written.device(device, number, places);
            match device {
                Device::Iommu(_) => arguments.first.extend(words),
                _ => arguments.devices.extend(words),
            }
        }
        arguments.first.extend(topology::nodes(&self.nodes()));
        arguments
    }

    /// Whether there is an IOMMU of AMD's.
    #[must_use]
    pub fn has_amd_iommu(&self) -> bool {
        self.devices.iter().any(|device| matches!(device, Device::Iommu(iommu) if iommu.kind == Kind::Amd))
    }

    /// Whether time goes by instructions, as only QEMU's TCG can have it.
    #[must_use]
    pub fn has_instruction_clock(&self) -> bool {
        self.devices.iter().any(is_icount)
    }

    /// Words of each device of virtio: behind an IOMMU they use it only when told to.
    fn virtio(&self) -> &'static str {
        let is_behind = |device: &Device| match device {
            Device::Iommu(iommu) => iommu.virtio || iommu.kind == Kind::Virtio,
            _ => false,
        };
        if self.devices.iter().any(is_behind) { ",disable-legacy=on,iommu_platform=on" } else { "" }
    }
}

/// The first name that is there again.
fn twice(mut names: Vec<String>) -> Option<String> {
    names.sort();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}

type Is = fn(&Device) -> bool;

/// What a machine has once.
const ONCE: [(&str, Is); 7] = [
    ("iommu", |device| matches!(device, Device::Iommu(_))),
    ("tpm", |device| matches!(device, Device::Tpm(_))),
    ("topology", |device| matches!(device, Device::Topology(_))),
    ("hotplug", |device| matches!(device, Device::Hotplug(_))),
    ("firmware", is_firmware),
    ("rtc", |device| matches!(device, Device::Rtc(_))),
    (part::ICOUNT, is_icount),
];

fn is_icount(device: &Device) -> bool {
    matches!(device, Device::Part(part) if part.name() == part::ICOUNT)
}

fn is_firmware(device: &Device) -> bool {
    match device {
        Device::Uefi(_) => true,
        Device::Part(part) => part.name() == part::QBOOT,
        _ => false,
    }
}

/// What is on the command line so far.
struct Written {
    virtio: &'static str,
    /// Devices of each kind, and disks on each bus.
    counts: BTreeMap<String, usize>,
}

impl Written {
    /// The number of the next of this kind.
    fn next(&mut self, kind: &str) -> usize {
        let count = self.counts.entry(kind.to_string()).or_default();
        *count += 1;
        *count - 1
    }

    fn device(&mut self, device: &Device, number: usize, places: &[Place]) -> Vec<String> {
        match device {
            Device::Disk(disk) => {
                let (node, on_bus) = (format!("disk{}", self.next("disk")), self.next(&disk.bus.to_string()));
                let virtio = self.virtio;
                let controller = disk.bus.controller(on_bus, virtio);
                let device = disk.bus.device(disk, &node, on_bus, virtio);
                [controller, blocks::arguments(disk, &node, places), vec!["-device".to_string(), device]]
                    .concat()
            }
            Device::Nic(nic) => nic.arguments(self.next("nic"), places, self.virtio),
            Device::Iommu(iommu) => iommu.arguments(),
            Device::Slot(slot) => slot.arguments(self.next("slot")),
            Device::Serial(serial) => serial.arguments(self.next("serial"), places),
            Device::Tpm(tpm) => tpm.arguments(places),
            Device::Uefi(_) => Firmware::arguments(places),
            Device::Acpi(_) => AcpiTable::arguments(places),
            Device::Rtc(rtc) => rtc.arguments(),
            Device::Part(part) => part.arguments(self.virtio),
            Device::Qemu(words) => vec!["-device".to_string(), format!("{words}{}", id(words, number))],
            Device::Topology(_) | Device::Node(_) | Device::Hotplug(_) => Vec::new(),
        }
    }
}

/// A name by which the device can be unplugged, unless the user has given one.
fn id(words: &str, number: usize) -> String {
    if words.contains(",id=") { String::new() } else { format!(",id=device{number}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hardware(devices: &[&str]) -> Result<Hardware, Error> {
        Hardware::new(devices.iter().map(|text| text.parse().expect(text)).collect())
    }

    fn line(devices: &[&str]) -> String {
        let hardware = hardware(devices).unwrap();
        let mut descriptor = 10;
        let mut place = |_: &Backing| {
            descriptor += 1;
            Place::Descriptor(descriptor)
        };
        let places: Vec<Vec<Place>> =
            hardware.backings().iter().map(|backings| backings.iter().map(&mut place).collect()).collect();
        let Arguments { first, devices } = hardware.arguments(&places);
        [first, devices].concat().join(" ")
    }

    #[test]
    fn devices_have_numbers_of_their_own_and_share_controllers() {
        let line = line(&[
            "disk,1G,bus=scsi",
            "nic",
            "disk,1G,bus=scsi",
            "disk,1G,bus=ahci",
            "iommu,intel",
            "disk,1G",
        ]);
        assert!(line.starts_with("-machine kernel-irqchip=split -device intel-iommu,intremap=on "), "{line}");
        assert_eq!(line.matches("virtio-scsi-pci").count(), 1);
        for words in [
            "scsi-hd,bus=scsi.0,id=disk1,drive=disk1-top",
            "ich9-ahci,id=ahci0",
            "ide-hd,bus=ahci0.0,id=disk2,drive=disk2-top",
            "virtio-blk-pci,id=disk3,drive=disk3-top",
            "/proc/self/fd/14",
        ] {
            assert!(line.contains(words), "{words}: {line}");
        }
    }

    #[test]
    fn a_seventh_sata_disk_has_another_controller() {
        let line = line(&["disk,1G,bus=ahci"; 7]);
        assert!(
            line.contains("ich9-ahci,id=ahci1") && line.contains("ide-hd,bus=ahci1.0,id=disk6"),
            "{line}"
        );
    }

    #[test]
    fn virtio_is_behind_an_iommu_that_says_so() {
        let behind = ",disable-legacy=on,iommu_platform=on";
        assert!(line(&["iommu,intel,virtio", "nic"]).contains(&format!("virtio-net-pci{behind},id=nic0")));
        assert!(
            line(&["iommu,intel,virtio", "disk,1G"]).contains(&format!("virtio-blk-pci{behind},id=disk0"))
        );
        assert!(
            line(&["iommu,virtio", "disk,1G,bus=scsi"]).contains(&format!("virtio-scsi-pci{behind},id=scsi"))
        );
        assert!(line(&["iommu,virtio", "balloon"]).contains(&format!("free-page-reporting=on{behind}")));
        assert!(!line(&["iommu,intel", "nic"]).contains(behind));
    }

    #[test]
    fn memory_and_cpus_have_room_for_more() {
        let hardware = hardware(&["topology,sockets=2", "hotplug,memory=4G,cpus=2"]).unwrap();
        assert_eq!(
            (hardware.cpu_words(2).as_str(), hardware.more_memory()),
            (",sockets=2,maxcpus=4", Some(4 << 30))
        );
    }

    #[test]
    fn nodes_of_the_same_width_are_sockets() {
        let words = |devices: &[&str]| hardware(devices).unwrap().cpu_words(4);
        let two = ["node,cpus=0-1,memory=1G", "node,cpus=2-3,memory=1G"];
        assert_eq!(words(&two), ",sockets=2");
        assert_eq!(words(&[&two[..], &["node,memory=1G"]].concat()), ",sockets=2", "one without CPUs");
        assert_eq!(words(&[&two[..], &["topology,cores=4"]].concat()), ",cores=4");
        assert_eq!(words(&[&two[..], &["hotplug,cpus=1"]].concat()), ",maxcpus=5");
        assert_eq!(words(&["node,cpus=0,memory=1G", "node,cpus=1-3,memory=1G"]), "");
        assert_eq!(words(&two[..1]), "");
    }

    #[test]
    fn what_cannot_be_together_is_an_error() {
        for (devices, error) in [
            (&["iommu,intel", "iommu,amd"][..], "a machine has one iommu"),
            (&["slot,id=a", "slot,id=a"], "two devices are called a"),
            (&["slot,id=disk0", "disk,1G"], "two devices are called disk0"),
            (&["slot,id=a", "qemu:e1000,id=a"], "two devices are called a"),
            (&["serial,name=a", "serial,name=a"], "two serial ports are called a"),
            (
                &["serial,name=a", "serial,name=b", "serial,name=c"],
                "a machine has at most 2 serial ports beside kiln's own",
            ),
            (&["node,memory=1G,distances=10:20"], "node: distances are those to all nodes, in their order"),
            (&["edu"; 65], "a machine has at most 64 devices"),
        ] {
            assert_eq!(hardware(devices).unwrap_err().to_string(), error);
        }
    }

    #[test]
    fn a_serial_port_has_a_name_of_another_kind() {
        assert!(hardware(&["slot,id=a", "serial,name=a"]).is_ok());
    }

    #[test]
    fn what_is_not_cloned_and_not_handed_over_is_known() {
        assert!(hardware(&["balloon"]).unwrap().uncloneable().is_some_and(|why| why.contains("balloon")));
        assert!(hardware(&["edu"]).unwrap().uncloneable().is_some_and(|why| why.contains("edu")));
        assert_eq!(
            hardware(&["disk,1G", "nic", "iommu,intel", "node,memory=1G"]).unwrap().uncloneable(),
            None
        );
        let written =
            hardware(&["disk,file=/a", "disk,1G,writes=/b", "disk,image=/c", "disk,file=/d,readonly"])
                .unwrap();
        assert_eq!(written.uncloneable().as_deref(), Some("what machines write to /a stays"));
        assert_eq!(written.written_files(), ["/a", "/b"].map(PathBuf::from));
    }

    #[test]
    fn a_clock_of_instructions_is_there_once_and_has_instruction_clock() {
        let hardware = |texts: &[&str]| {
            let devices = texts.iter().map(|text| text.parse().expect(text)).collect();
            Hardware::new(devices)
        };
        let counting = hardware(&["icount"]).expect("one");
        assert!(
            counting.has_instruction_clock() && !hardware(&["rng"]).expect("one").has_instruction_clock()
        );
        assert!(
            counting
                .arguments(&[Vec::new()])
                .devices
                .ends_with(&["-icount".to_owned(), "shift=3".to_owned()])
        );
        assert!(hardware(&["icount", "icount"]).is_err());
    }

    #[test]
    fn a_device_of_qemu_has_a_name() {
        assert_eq!(line(&["qemu:usb-kbd,bus=xhci.0"]), "-device usb-kbd,bus=xhci.0,id=device0");
        assert_eq!(line(&["qemu:usb-kbd,id=k"]), "-device usb-kbd,id=k");
    }
}
