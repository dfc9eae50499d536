//! What runs before the kernel, and what it hands over: firmware, ACPI tables, the clock.

use std::path::PathBuf;

use protocol::Need;
use serde::{Deserialize, Serialize};

use crate::backing::{Backing, Place};
use crate::error::Error;
use crate::words::{Words, Writer, parts};

/// What UEFI firmware is called.
pub(crate) const UEFI: &str = "uefi";
/// What an ACPI table is called.
pub(crate) const ACPI: &str = "acpi";
/// What the clock is called.
pub(crate) const RTC: &str = "rtc";

const UEFI_KEYS: [&str; 2] = ["code", "variables"];
const ACPI_KEYS: [&str; 1] = ["table"];
const RTC_KEYS: [&str; 1] = ["base"];

/// Where Debian's package `ovmf` has the firmware, and its variables before anyone has set one.
const CODE: &str = "/usr/share/OVMF/OVMF_CODE_4M.fd";
const VARIABLES: &str = "/usr/share/OVMF/OVMF_VARS_4M.fd";

/// UEFI firmware: OVMF. Without it SeaBIOS starts the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firmware {
    /// Its code.
    pub code: PathBuf,
    /// Its variables, as they are at first; what is written to them is gone with the machine.
    pub variables: PathBuf,
}

/// An ACPI table beside the firmware's own, compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcpiTable {
    /// Where it is.
    pub table: PathBuf,
}

/// The time of the real-time clock when the machine starts, in UTC; it runs with the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rtc {
    /// As `2038-01-19T03:14:00`.
    pub base: String,
}

impl Firmware {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(UEFI, &parts(text), &UEFI_KEYS)?;
        let path = |key, usual: &str| words.text(key).map_or_else(|| usual.into(), PathBuf::from);
        Ok(Self { code: path("code", CODE), variables: path("variables", VARIABLES) })
    }

    pub(crate) fn text(&self) -> String {
        let unusual =
            |path: &PathBuf, usual: &str| (path != &PathBuf::from(usual)).then(|| path.display().to_string());
        let writer = Writer::new("").option("code", unusual(&self.code, CODE));
        let writer = writer.option("variables", unusual(&self.variables, VARIABLES));
        writer.finish().trim_start_matches(',').to_string()
    }

    pub(crate) fn needs(&self) -> Vec<Need<String>> {
        vec![Need::Config("EFI_STUB".to_string())]
    }

    pub(crate) fn backings(&self) -> Vec<Backing> {
        vec![Backing::Read(self.code.clone()), Backing::Copy(self.variables.clone())]
    }

    /// Two flash chips: <https://github.com/tianocore/edk2/blob/master/OvmfPkg/README>.
    pub(crate) fn arguments(places: &[Place]) -> Vec<String> {
        let [code, variables] = places else { return Vec::new() };
        let chip = |unit: u32, place: &Place, more: &str| {
            let path = place.path();
            [
                "-drive".to_string(),
                format!("if=pflash,unit={unit},format=raw,file={path},file.locking=off{more}"),
            ]
        };
        [chip(0, code, ",readonly=on"), chip(1, variables, "")].concat()
    }
}

impl AcpiTable {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(ACPI, &parts(text), &ACPI_KEYS)?;
        let table = words.text("table").filter(|path| !path.is_empty());
        let table =
            table.ok_or(Error::Missing { device: ACPI, expected: "table=PATH of a compiled table" })?;
        Ok(Self { table: table.into() })
    }

    pub(crate) fn text(&self) -> String {
        Writer::new("")
            .option("table", Some(self.table.display()))
            .finish()
            .trim_start_matches(',')
            .to_string()
    }

    pub(crate) fn backings(&self) -> Vec<Backing> {
        vec![Backing::Read(self.table.clone())]
    }

    pub(crate) fn arguments(places: &[Place]) -> Vec<String> {
        let table = |place: &Place| ["-acpitable".to_string(), format!("file={}", place.path())];
        places.iter().flat_map(table).collect()
    }
}

impl Rtc {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let words = Words::new(RTC, &parts(text), &RTC_KEYS)?;
        let base = words.read("base", "a time in UTC such as 2038-01-19T03:14:00", time)?;
        Ok(Self { base: base.ok_or(Error::Missing { device: RTC, expected: "base=TIME" })? })
    }

    pub(crate) fn text(&self) -> String {
        format!("base={}", self.base)
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        vec!["-rtc".to_string(), format!("base={},clock=vm", self.base)]
    }
}

/// The form of a time that QEMU reads: `-rtc` of qemu(1). Whether there is such a day, QEMU knows.
fn time(text: &str) -> Option<String> {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let fits = |(byte, form): (u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form };
    (text.len() == FORM.len() && text.bytes().zip(FORM).all(fits)).then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["", "code=/a", "code=/a,variables=/b"] {
            assert_eq!(Firmware::read(text).unwrap().text(), text);
        }
        assert_eq!(AcpiTable::read("table=/dock.aml").unwrap().text(), "table=/dock.aml");
        assert_eq!(Rtc::read("base=2038-01-19T03:14:00").unwrap().text(), "base=2038-01-19T03:14:00");
        for wrong in ["", "base=now", "base=2038-01-19", "base=2038-01-19T03:14:00Z"] {
            assert!(Rtc::read(wrong).is_err(), "{wrong}");
        }
        assert!(AcpiTable::read("").is_err());
    }
}
