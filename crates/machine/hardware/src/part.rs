//! Devices without options of their own, as a table: what QEMU calls each, and what of the kernel drives it.

use std::num::NonZeroU32;

use protocol::Need;
use serde::{Deserialize, Serialize};

/// A device of the [`TABLE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Part(&'static Entry);

/// A line of the table.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    name: &'static str,
    /// QEMU's arguments; `@` is where a device of virtio has the words that all of them have.
    arguments: &'static [&'static str],
    needs: &'static [Need],
    /// A file of this host without which QEMU cannot have it.
    host: Option<&'static str>,
    about: &'static str,
}

/// What the least firmware is called.
pub(crate) const QBOOT: &str = "qboot";

/// What the clock of instructions is called.
pub(crate) const ICOUNT: &str = "icount";

/// [`SHIFT`], also for texts.
macro_rules! shift {
    () => {
        3
    };
}

/// An instruction takes two to the power of this many nanoseconds, wherever they are a clock. With 8 ns a stock kernel boots nearly as fast
/// as without counting, since its delay loops, which wait for time to pass, take less instructions; and its timer interrupt comes after half a
/// million of them.
pub const SHIFT: u32 = shift!();

/// The same in nanoseconds.
pub const INSTRUCTION_NS: NonZeroU32 = match NonZeroU32::new(1 << SHIFT) {
    Some(nanoseconds) => nanoseconds,
    None => NonZeroU32::MIN,
};

const TABLE: &[Entry] = &[
    Entry {
        name: QBOOT,
        arguments: &["-bios", "qboot.rom"],
        needs: &[],
        host: None,
        about: "starts the kernel without the services of a BIOS: the least firmware that QEMU has",
    },
    Entry {
        name: ICOUNT,
        arguments: &["-icount", concat!("shift=", shift!())],
        needs: &[],
        host: None,
        about: "time goes by executed instructions, 8 ns each; while nothing runs, by the time of this host",
    },
    Entry {
        name: "balloon",
        arguments: &["-device", "virtio-balloon-pci,id=balloon,free-page-reporting=on@"],
        needs: &[Need::Module("virtio_pci"), Need::Module("virtio_balloon")],
        host: None,
        about: "memory goes back to this host: virtio-balloon, with free page reporting",
    },
    Entry {
        name: "rng",
        arguments: &["-device", "virtio-rng-pci,id=rng@"],
        needs: &[Need::Module("virtio_pci"), Need::Module("virtio_rng")],
        host: None,
        about: "random numbers of this host: virtio-rng",
    },
    Entry {
        name: "watchdog",
        arguments: &["-device", "i6300esb,id=watchdog"],
        needs: &[Need::Module("i6300esb")],
        host: None,
        about: "a watchdog, whose end is a reset of the machine: Intel 6300ESB",
    },
    Entry {
        name: "sound",
        arguments: &[
            "-audiodev",
            "none,id=sound",
            "-device",
            "intel-hda,id=hda",
            "-device",
            "hda-duplex,audiodev=sound",
        ],
        needs: &[Need::Module("snd_hda_intel")],
        host: None,
        about: "a sound card that nobody hears: Intel HDA",
    },
    Entry {
        name: "display",
        arguments: &["-device", "bochs-display,id=display"],
        needs: &[Need::Module("bochs")],
        host: None,
        about: "a display that nobody sees: bochs-display",
    },
    Entry {
        name: "gpu",
        arguments: &["-device", "virtio-gpu-pci,id=gpu@"],
        needs: &[Need::Module("virtio_pci"), Need::Module("virtio_gpu")],
        host: None,
        about: "a display with a command queue: virtio-gpu",
    },
    Entry {
        name: "usb",
        arguments: &["-device", "qemu-xhci,id=xhci"],
        needs: &[Need::Module("xhci_pci")],
        host: None,
        about: "a USB controller: xHCI; devices are plugged into xhci.0",
    },
    Entry {
        name: "vsock",
        arguments: &["-device", "vhost-vsock-pci,id=vsock,guest-cid=3@"],
        needs: &[Need::Module("virtio_pci"), Need::Module("vmw_vsock_virtio_transport")],
        host: Some("/dev/vhost-vsock"),
        about: "sockets between guest and host: vhost-vsock, with the guest's number 3",
    },
    Entry {
        name: "edu",
        arguments: &["-device", "edu,id=edu"],
        needs: &[],
        host: None,
        about: "QEMU's device for teaching, which reads and writes memory as it is told",
    },
    Entry {
        name: "testdev",
        arguments: &["-device", "pci-testdev,id=testdev"],
        needs: &[],
        host: None,
        about: "QEMU's PCI test device",
    },
];

impl Part {
    /// The device of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        TABLE.iter().find(|entry| entry.name == name).map(Self)
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(Self)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What it is, in words.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// A file of this host without which QEMU cannot have it.
    #[must_use]
    pub fn host_file(self) -> Option<&'static str> {
        self.0.host
    }

    pub(crate) fn needs(self) -> Vec<Need<String>> {
        self.0.needs.iter().map(Need::owned).collect()
    }

    pub(crate) fn arguments(self, virtio: &str) -> Vec<String> {
        self.0.arguments.iter().map(|word| word.replace('@', virtio)).collect()
    }
}

impl TryFrom<String> for Part {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::find(&name).ok_or_else(|| format!("there is no device {name:?}"))
    }
}

impl From<Part> for String {
    fn from(part: Part) -> Self {
        part.name().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_is_found_by_its_name_and_only_there() {
        for part in Part::all() {
            assert_eq!(Part::find(part.name()), Some(part));
            assert!(!part.about().is_empty() && !part.arguments("").is_empty());
            assert_eq!(Part::all().filter(|other| other.name() == part.name()).count(), 1);
        }
        assert_eq!(Part::find("floppy"), None);
    }

    #[test]
    fn the_clock_of_instructions_is_what_it_is_said_to_be() {
        let part = Part::find(ICOUNT).expect("it is there");
        assert_eq!(part.arguments(""), ["-icount", &format!("shift={SHIFT}")]);
        assert!(part.about().contains(&format!(" {INSTRUCTION_NS} ns each")), "{}", part.about());
    }
}
