//! A disk: what is in it, how it is attached, and how it misbehaves.
//!
//! * [`bus`](mod@bus): the controllers that disks are attached to
//! * [`faults`]: the time that it takes, limits of its speed, errors, and a log of its writes
//! * [`blocks`]: the layers of QEMU between the file and the device

pub mod blocks;
pub mod bus;
pub mod faults;

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::backing::Backing;
use crate::error::Error;
use crate::overlay;
use crate::size;
use crate::words::{Words, Writer, parts};

pub use bus::Bus;
pub use faults::Faults;

/// What it is called.
pub(crate) const NAME: &str = "disk";

/// Its options; the first part without a key is its size.
const KEYS: [&str; 16] = [
    "size",
    "image",
    "file",
    "bus",
    "sector",
    "serial",
    "readonly",
    "writethrough",
    "shared",
    "latency",
    "iops",
    "rate",
    "fail",
    "bad-sector",
    "once",
    "writes",
];

/// Longest serial number: ATA and SCSI have 20 bytes for it.
const SERIAL_MAX: usize = 20;

/// What is in a disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Zeros: so many bytes, which take memory of this host as they are written.
    Empty(u64),
    /// An image of this host, which stays as it is: each machine has its writes in memory.
    Image(PathBuf),
    /// A file of this host: what machines write to it stays.
    File(PathBuf),
}

/// A disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// What is in it.
    pub content: Content,
    /// How it is attached.
    #[serde(default)]
    pub bus: Bus,
    /// Bytes of a sector: 512 or 4096.
    #[serde(default)]
    pub sector: Option<u32>,
    /// Its serial number.
    #[serde(default)]
    pub serial: Option<String>,
    /// It refuses writes.
    #[serde(default)]
    pub readonly: bool,
    /// It has no write cache: what it has accepted is safe. Otherwise only a flush makes it so.
    #[serde(default)]
    pub writethrough: bool,
    /// Other machines use the same file at the same time.
    #[serde(default)]
    pub shared: bool,
    /// How it misbehaves.
    #[serde(default)]
    pub faults: Faults,
}

impl Content {
    /// Its bytes; none if there is no such file, which is found when it is opened.
    fn size(&self) -> u64 {
        // The metadata of a block device has no length.
        let end = |path: &PathBuf| File::open(path)?.seek(SeekFrom::End(0));
        match self {
            Self::Empty(bytes) => *bytes,
            Self::Image(path) | Self::File(path) => end(path).unwrap_or(0),
        }
    }
}

impl Disk {
    /// A disk with this in it, attached by virtio.
    #[must_use]
    pub fn new(content: Content) -> Self {
        Self {
            content,
            bus: Bus::default(),
            sector: None,
            serial: None,
            readonly: false,
            writethrough: false,
            shared: false,
            faults: Faults::default(),
        }
    }

    /// Reads `4G,bus=nvme,sector=4096`.
    ///
    /// # Errors
    ///
    /// When no disk is like that.
    pub fn read(text: &str) -> Result<Self, Error> {
        let mut parts = parts(text);
        // A size needs no key.
        if let Some(first) = parts.first_mut().filter(|first| size::bytes(first).is_some()) {
            first.insert_str(0, "size=");
        }
        let words = Words::new(NAME, &parts, &KEYS)?;
        let disk = Self {
            content: content(&words)?,
            bus: words.one_of("bus", bus::EXPECTED)?.unwrap_or_default(),
            sector: words.one_of("sector", "512 or 4096")?,
            serial: words.text("serial"),
            readonly: words.flag("readonly")?,
            writethrough: words.flag("writethrough")?,
            shared: words.flag("shared")?,
            faults: Faults::read(&words)?,
        };
        disk.check()?;
        Ok(disk)
    }

    /// The form that [`Disk::read`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        let (size, image, file) = match &self.content {
            Content::Empty(bytes) => (Some(size::text(*bytes)), None, None),
            Content::Image(path) => (None, Some(path), None),
            Content::File(path) => (None, None, Some(path)),
        };
        let writer = Writer::new("")
            .option("size", size)
            .option("image", image.map(|path| path.display()))
            .option("file", file.map(|path| path.display()))
            .option("bus", (self.bus != Bus::default()).then_some(self.bus))
            .option("sector", self.sector)
            .option("serial", self.serial.as_ref())
            .flag("readonly", self.readonly)
            .flag("writethrough", self.writethrough)
            .flag("shared", self.shared);
        self.faults.write(writer).finish().trim_start_matches(',').to_string()
    }

    /// What cannot be.
    ///
    /// # Errors
    ///
    /// When options exclude each other, or a value is out of range.
    pub fn check(&self) -> Result<(), Error> {
        let conflict = |text: &str| Err(Error::Conflict(format!("disk: {text}")));
        if !matches!(self.sector, None | Some(512 | 4096)) {
            return conflict("a sector has 512 or 4096 bytes");
        }
        let is_plain = |serial: &String| {
            (1..=SERIAL_MAX).contains(&serial.len())
                && serial.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        if self.serial.as_ref().is_some_and(|serial| !is_plain(serial)) {
            return conflict("a serial number has 1 to 20 letters, digits, dashes and underscores");
        }
        if self.shared && !matches!(self.content, Content::File(_)) {
            return conflict("machines can share only a disk with file=PATH");
        }
        if self.bus == Bus::Ahci && (self.sector == Some(4096) || self.readonly) {
            return conflict("QEMU's SATA disks have sectors of 512 bytes and take writes: use another bus");
        }
        self.faults.check()
    }

    /// What has to be opened for it, the content first.
    pub(crate) fn backings(&self) -> Vec<Backing> {
        let mut all = match &self.content {
            Content::Empty(bytes) => vec![Backing::Empty(*bytes)],
            Content::Image(path) if self.readonly => vec![Backing::Read(path.clone())],
            Content::Image(path) => {
                vec![Backing::Read(path.clone()), Backing::Content(overlay::empty(self.content.size()))]
            }
            Content::File(path) if self.readonly => vec![Backing::Read(path.clone())],
            Content::File(path) => vec![Backing::Write(path.clone())],
        };
        all.extend(self.faults.writes.clone().map(Backing::New));
        all
    }
}

fn content(words: &Words) -> Result<Content, Error> {
    let size = words.read("size", "a size such as 512M or 4G", size::bytes)?.map(Content::Empty);
    let image = words.text("image").map(|path| Content::Image(path.into()));
    let file = words.text("file").map(|path| Content::File(path.into()));
    let mut given = [size, image, file].into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(content), None) => Ok(content),
        (None, _) => {
            Err(Error::Missing { device: NAME, expected: "a size such as 4G, image=PATH or file=PATH" })
        }
        _ => Err(Error::Conflict("disk: a size, image=PATH and file=PATH exclude each other".to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn disk() -> impl Strategy<Value = Disk> {
        let path = "/[a-z]{1,8}(,[a-z]{1,4})?";
        let content = prop_oneof![
            (1..=1_u64 << 40).prop_map(Content::Empty),
            path.prop_map(|path| Content::Image(path.into())),
            path.prop_map(|path| Content::File(path.into())),
        ];
        let bus = prop::sample::select(bus::ALL.to_vec());
        (content, bus, any::<[bool; 3]>(), prop::option::of("[A-Za-z0-9]{1,20}"), faults::any_faults())
            .prop_map(|(content, bus, [readonly, writethrough, large], serial, faults)| Disk {
                bus,
                sector: (large && bus != Bus::Ahci).then_some(4096),
                serial,
                readonly: readonly && bus != Bus::Ahci,
                writethrough,
                faults,
                ..Disk::new(content)
            })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(disk in disk()) {
            prop_assert_eq!(Disk::read(&disk.text()), Ok(disk.clone()), "{}", disk.text());
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = Disk::read(&text);
        }
    }

    #[test]
    fn a_size_is_enough() {
        assert_eq!(Disk::read("4G"), Ok(Disk::new(Content::Empty(4 << 30))));
        assert_eq!(Disk::read("4G,bus=nvme").unwrap().text(), "size=4G,bus=nvme");
        for (text, error) in [
            ("", "disk needs a size such as 4G, image=PATH or file=PATH"),
            ("bus=nvme", "disk needs a size such as 4G, image=PATH or file=PATH"),
            ("4G,image=/x", "disk: a size, image=PATH and file=PATH exclude each other"),
            ("4X", "disk has no option \"4X\""),
            ("4G,sector=1000", "disk: a sector has 512 or 4096 bytes"),
            ("4G,shared", "disk: machines can share only a disk with file=PATH"),
            ("4G,latency=5", "disk: latency=5 is wrong: write a time from 1us to 10s, such as 5ms"),
            ("4G,latency=11s", "disk: latency=11s is wrong"),
            ("4G,latency=5ms,fail=discard", "disk: with a latency, discards do nothing and cannot fail"),
            ("4G,serial=a b", "disk: a serial number has"),
            ("4G,bus=floppy", "disk: bus=floppy is wrong: write virtio, scsi, nvme, ahci or usb"),
            ("4G,bus=ahci,sector=4096", "disk: QEMU's SATA disks have sectors of 512 bytes"),
            ("4G,bus=ahci,readonly", "disk: QEMU's SATA disks have sectors of 512 bytes and take writes"),
        ] {
            let found = Disk::read(text).expect_err(text).to_string();
            assert!(found.starts_with(error), "{text}: {found}");
        }
    }
}
