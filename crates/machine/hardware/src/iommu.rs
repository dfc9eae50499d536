//! What translates the addresses of devices.

use std::fmt;
use std::str::FromStr;

use protocol::Need;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::words::{Words, Writer, parts};

/// What it is called.
pub(crate) const NAME: &str = "iommu";

const KEYS: [&str; 3] = ["kind", "caching", "virtio"];

/// An IOMMU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iommu {
    /// Whose it is.
    pub kind: Kind,
    /// The guest must announce each new mapping, too: what a guest that has guests needs. Only Intel's can ask for that.
    #[serde(default)]
    pub caching: bool,
    /// Devices of virtio use it; without this they see the memory of the guest as it is.
    #[serde(default)]
    pub virtio: bool,
}

/// Whose IOMMU it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Intel's VT-d.
    Intel,
    /// AMD's.
    Amd,
    /// `virtio-iommu`.
    Virtio,
}

const KINDS: [Kind; 3] = [Kind::Intel, Kind::Amd, Kind::Virtio];

impl Iommu {
    /// Reads `kind=intel,caching`; `intel` alone is enough.
    ///
    /// # Errors
    ///
    /// When there is none like that.
    pub fn read(text: &str) -> Result<Self, Error> {
        let mut parts = parts(text);
        if let Some(first) = parts.first_mut().filter(|first| first.parse::<Kind>().is_ok()) {
            first.insert_str(0, "kind=");
        }
        let words = Words::new(NAME, &parts, &KEYS)?;
        let kind = words.one_of("kind", "intel, amd or virtio")?;
        let kind = kind.ok_or(Error::Missing { device: NAME, expected: "a kind: intel, amd or virtio" })?;
        let iommu = Self { kind, caching: words.flag("caching")?, virtio: words.flag("virtio")? };
        if iommu.caching && kind != Kind::Intel {
            return Err(Error::Conflict("iommu: only intel has a caching mode".to_string()));
        }
        Ok(iommu)
    }

    /// The form that [`Iommu::read`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        let writer = Writer::new(&format!("kind={}", self.kind));
        writer.flag("caching", self.caching).flag("virtio", self.virtio).finish()
    }

    pub(crate) fn needs(&self) -> Vec<Need<String>> {
        match self.kind {
            Kind::Intel => vec![Need::Config("INTEL_IOMMU".to_string())],
            Kind::Amd => vec![Need::Config("AMD_IOMMU".to_string())],
            Kind::Virtio => {
                vec![Need::Module("virtio_pci".to_string()), Need::Module("virtio_iommu".to_string())]
            }
        }
    }

    /// It must stand before all devices that it translates for.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let words: &[&str] = match self.kind {
            // Its remapping of interrupts does not work with all of KVM's interrupt controller.
            Kind::Intel if self.caching => {
                &["-machine", "kernel-irqchip=split", "-device", "intel-iommu,intremap=on,caching-mode=on"]
            }
            Kind::Intel => &["-machine", "kernel-irqchip=split", "-device", "intel-iommu,intremap=on"],
            Kind::Amd => &["-device", "amd-iommu"],
            Kind::Virtio => &["-device", "virtio-iommu-pci"],
        };
        words.iter().map(ToString::to_string).collect()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Intel => "intel",
            Self::Amd => "amd",
            Self::Virtio => "virtio",
        })
    }
}

impl FromStr for Kind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        KINDS.into_iter().find(|kind| kind.to_string() == text).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (text, written) in [
            ("intel", "kind=intel"),
            ("kind=intel,caching,virtio", "kind=intel,caching,virtio"),
            ("amd", "kind=amd"),
            ("virtio", "kind=virtio"),
        ] {
            let iommu = Iommu::read(text).unwrap();
            assert_eq!(iommu.text(), written);
            assert_eq!(Iommu::read(written), Ok(iommu));
        }
        assert_eq!(Iommu::read("").unwrap_err().to_string(), "iommu needs a kind: intel, amd or virtio");
        assert!(Iommu::read("amd,caching").is_err() && Iommu::read("arm").is_err());
    }
}
