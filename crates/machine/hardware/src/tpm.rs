//! A TPM 2.0, and the interface by which the kernel speaks to it.

use std::fmt;
use std::str::FromStr;

use protocol::Need;
use serde::{Deserialize, Serialize};

use crate::backing::{Backing, Place};
use crate::error::Error;
use crate::words::{Words, Writer, parts};

/// What it is called.
pub(crate) const NAME: &str = "tpm";

const KEYS: [&str; 1] = ["interface"];

/// A TPM 2.0 that is new in each boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tpm {
    /// How the kernel speaks to it.
    pub interface: Interface,
}

/// How the kernel speaks to a TPM.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interface {
    /// Command and response buffers.
    #[default]
    Crb,
    /// FIFOs, after the TPM Interface Specification.
    Tis,
}

impl Tpm {
    /// Reads `interface=tis`.
    ///
    /// # Errors
    ///
    /// When there is none like that.
    pub fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(NAME, &parts(text), &KEYS)?;
        Ok(Self { interface: words.one_of("interface", "crb or tis")?.unwrap_or_default() })
    }

    /// The form that [`Tpm::read`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        let interface = (self.interface != Interface::default()).then_some(self.interface);
        Writer::new("").option("interface", interface).finish().trim_start_matches(',').to_string()
    }

    pub(crate) fn needs(&self) -> Vec<Need<String>> {
        vec![Need::Module(format!("tpm_{}", self.interface))]
    }

    /// Out of files there is no TPM, for there is no program beside QEMU.
    pub(crate) fn arguments(&self, places: &[Place]) -> Vec<String> {
        let [Place::Descriptor(socket)] = places else { return Vec::new() };
        let chardev = format!("socket,id=tpm-control,fd={socket}");
        let device = format!("tpm-{},tpmdev=tpm", self.interface);
        let words =
            ["-chardev", &chardev, "-tpmdev", "emulator,id=tpm,chardev=tpm-control", "-device", &device];
        words.map(str::to_string).to_vec()
    }

    pub(crate) fn backings() -> Vec<Backing> {
        vec![Backing::Tpm]
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crb => "crb",
            Self::Tis => "tis",
        })
    }
}

impl FromStr for Interface {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Crb, Self::Tis].into_iter().find(|interface| interface.to_string() == text).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["", "interface=tis"] {
            assert_eq!(Tpm::read(text).unwrap().text(), text);
        }
        assert!(Tpm::read("interface=spi").is_err());
        assert_eq!(
            Tpm::read("").unwrap().arguments(&[Place::Descriptor(9)]).join(" "),
            "-chardev socket,id=tpm-control,fd=9 -tpmdev emulator,id=tpm,chardev=tpm-control -device tpm-crb,tpmdev=tpm"
        );
        assert_eq!(Tpm::read("interface=tis").unwrap().needs(), [Need::Module("tpm_tis".to_string())]);
    }
}
