//! What a machine's program is started with.
//!
//! * [`tpm`]: the program behind a TPM; [`plugin`]: what rides in QEMU

pub(crate) mod plugin;
pub(super) mod tpm;

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use hardware::{Backing, Hardware, Place};
use rustix::fs::MemfdFlags;
use rustix::net::{AddressFamily, SocketType, sockopt};

use super::Driver;
use crate::error::Error;
use crate::instrument;
use crate::memory::Memory;

/// A program that is ready to be started.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) command: Command,
    /// What it inherits, by the numbers that its arguments name.
    pub(crate) inherited: Vec<OwnedFd>,
    pub(crate) driver: Box<dyn Driver>,
}

/// The program's side of what every machine has.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) console: OwnedFd,
    pub(crate) control: OwnedFd,
    pub(crate) disk: Option<OwnedFd>,
    /// The image of its root, if that is one.
    pub(crate) root: Option<OwnedFd>,
    /// What is behind each of its other devices.
    pub(crate) devices: Vec<Vec<OwnedFd>>,
    pub(crate) origin: Origin<OwnedFd>,
    /// Those of a machine that measures.
    pub(crate) instrument: Option<instrument::Files<OwnedFd>>,
    /// The plugin of one that needs it and does not measure.
    pub(crate) plugin: Option<plugin::Files<OwnedFd>>,
}

/// Their numbers, which are the same in both processes.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    pub(crate) console: i32,
    pub(crate) control: i32,
    pub(crate) disk: Option<i32>,
    pub(crate) root: Option<i32>,
    pub(crate) devices: Vec<Vec<i32>>,
    pub(crate) origin: Origin<i32>,
    pub(crate) instrument: Option<instrument::Files<i32>>,
    pub(crate) plugin: Option<plugin::Files<i32>>,
}

/// The first number of what is behind devices in a command line that is only shown.
const EXAMPLE_DEVICES: i32 = 11;

/// How a machine begins, and the files for it.
#[derive(Debug, Clone)]
pub(crate) enum Origin<F> {
    /// It boots. What it has in memory can be read where there are files for that; others may be cloned from it, and look
    /// through a window.
    Boot { initramfs: F, memory: Vec<F>, window: Option<F> },
    /// It goes on where a template stopped, in a private copy of its memory.
    Clone { memory: Vec<F>, state: F, window: Option<F> },
}

impl<F> Origin<F> {
    pub(crate) fn as_ref(&self) -> Origin<&F> {
        match self {
            Self::Boot { initramfs, memory, window } => {
                Origin::Boot { initramfs, memory: memory.iter().collect(), window: window.as_ref() }
            }
            Self::Clone { memory, state, window } => {
                Origin::Clone { memory: memory.iter().collect(), state, window: window.as_ref() }
            }
        }
    }

    fn map<G>(self, change: impl Fn(F) -> G) -> Origin<G> {
        match self {
            Self::Boot { initramfs, memory, window } => Origin::Boot {
                initramfs: change(initramfs),
                memory: memory.into_iter().map(&change).collect(),
                window: window.map(change),
            },
            Self::Clone { memory, state, window } => Origin::Clone {
                memory: memory.into_iter().map(&change).collect(),
                state: change(state),
                window: window.map(change),
            },
        }
    }

    fn into_files(self) -> impl Iterator<Item = F> {
        let (Self::Boot { initramfs: other, memory, window } | Self::Clone { memory, state: other, window }) =
            self;
        memory.into_iter().chain([other]).chain(window)
    }

    /// The window through which programs come, if there is one.
    pub(crate) fn window(&self) -> Option<&F> {
        match self {
            Self::Boot { window, .. } | Self::Clone { window, .. } => window.as_ref(),
        }
    }

    /// What it boots from, if it does.
    pub(crate) fn initramfs(&self) -> Option<&F> {
        match self {
            Self::Boot { initramfs, .. } => Some(initramfs),
            Self::Clone { .. } => None,
        }
    }
}

impl Parts {
    pub(crate) fn numbers(&self) -> Numbers {
        Numbers {
            console: self.console.as_raw_fd(),
            control: self.control.as_raw_fd(),
            disk: self.disk.as_ref().map(AsRawFd::as_raw_fd),
            root: self.root.as_ref().map(AsRawFd::as_raw_fd),
            devices: self
                .devices
                .iter()
                .map(|files| files.iter().map(AsRawFd::as_raw_fd).collect())
                .collect(),
            origin: self.origin.as_ref().map(AsRawFd::as_raw_fd),
            instrument: self.instrument.as_ref().map(|files| files.as_ref().map(AsRawFd::as_raw_fd)),
            plugin: self.plugin.as_ref().map(|files| files.as_ref().map(AsRawFd::as_raw_fd)),
        }
    }

    /// What is its memory.
    pub(crate) fn memory(&self) -> Result<Memory, Error> {
        let (Origin::Boot { memory, .. } | Origin::Clone { memory, .. }) = &self.origin;
        let copy = |file: &OwnedFd| file.try_clone().map(File::from);
        let files = memory.iter().map(copy).collect::<Result<_, _>>();
        files.map(Memory::of).map_err(|source| Error::host("memory", source))
    }

    pub(crate) fn into_inherited(self) -> Vec<OwnedFd> {
        let instrument = self.instrument.into_iter().flat_map(instrument::Files::into_files);
        let disks = self.disk.into_iter().chain(self.root).chain(self.devices.into_iter().flatten());
        let own = [self.console, self.control].into_iter().chain(disks).chain(instrument);
        let plugin = self.plugin.into_iter().flat_map(plugin::Files::into_files);
        own.chain(plugin).chain(self.origin.into_files()).collect()
    }
}

impl Numbers {
    /// Some, for a command line that is only shown.
    pub(crate) fn example(has_disk: bool, measures: bool) -> Self {
        let origin = Origin::Boot { initramfs: 3, memory: vec![9], window: None };
        let instrument = measures.then_some(instrument::Files { exchange: 8, plugin: None });
        let disk = has_disk.then_some(7);
        Self {
            console: 4,
            control: 5,
            disk,
            root: None,
            devices: Vec::new(),
            origin,
            instrument,
            plugin: None,
        }
    }

    /// The same with made-up numbers for what is behind these devices, and for the memory of NUMA nodes.
    pub(crate) fn with_devices(mut self, hardware: &Hardware) -> Self {
        let mut numbers = EXAMPLE_DEVICES..;
        let files = hardware.backings().into_iter().map(|backings| backings.len());
        self.devices = files.map(|count| numbers.by_ref().take(count).collect()).collect();
        let (Origin::Boot { memory, .. } | Origin::Clone { memory, .. }) = &mut self.origin;
        memory.extend(numbers.take(hardware.nodes().len().saturating_sub(memory.len())));
        self
    }

    /// Where the machine finds what is behind its devices.
    pub(crate) fn places(&self) -> Vec<Vec<Place>> {
        let of = |files: &Vec<i32>| files.iter().copied().map(Place::Descriptor).collect();
        self.devices.iter().map(of).collect()
    }
}

/// The path by which a program finds what it inherits under this number.
pub(crate) fn inherited(number: i32) -> String {
    format!("/proc/self/fd/{number}")
}

pub(crate) fn socket_pair() -> Result<(UnixStream, UnixStream), Error> {
    UnixStream::pair().map_err(|source| Error::host("socketpair", source))
}

/// UML drops what its console does not take at once, so a reader on a busy host needs room for much: as
/// much as root may give, else as much as the host's limit allows (net.core.wmem_max).
pub(crate) fn hold_much(socket: &UnixStream) {
    const BYTES: usize = 16 << 20;
    if sockopt::set_socket_send_buffer_size_force(socket, BYTES).is_err() {
        // The limit is applied without an error; there is nothing else that could be tried.
        let _ = sockopt::set_socket_send_buffer_size(socket, BYTES);
    }
}

/// A file without a name that holds `content`.
pub(crate) fn in_memory(name: &str, content: &[u8]) -> Result<OwnedFd, Error> {
    let file = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)
        .map_err(|source| Error::host("memfd_create", source))?;
    let mut file = File::from(file);
    file.write_all(content).map_err(|source| Error::host(name, source))?;
    Ok(file.into())
}

/// An empty disk: a sparse file without a name, so that nothing is left of it.
pub(crate) fn disk(mib: u64) -> Result<OwnedFd, Error> {
    empty(mib << 20)
}

fn empty(bytes: u64) -> Result<OwnedFd, Error> {
    let file = in_memory("disk", &[])?;
    rustix::fs::ftruncate(&file, bytes).map_err(|source| Error::host("disk", source))?;
    Ok(file)
}

/// The image of a root, for reading.
pub(crate) fn image(path: &Path) -> Result<OwnedFd, Error> {
    let file = File::open(path).map_err(|source| Error::host("image of the root", source))?;
    Ok(file.into())
}

/// Opens, or makes, what is behind a device.
pub(crate) fn open(backing: &Backing) -> Result<OwnedFd, Error> {
    let mut options = File::options();
    let options = options.read(true);
    let (opened, name) = match backing {
        Backing::Empty(bytes) => return empty(*bytes),
        Backing::Content(content) => return in_memory("content", content),
        Backing::Copy(path) => {
            return in_memory("copy", &std::fs::read(path).map_err(|source| of_device(path, source))?);
        }
        Backing::Read(path) => (options.open(path), path.clone()),
        Backing::Write(path) => (options.write(true).open(path), path.clone()),
        Backing::New(path) => (options.write(true).create(true).truncate(true).open(path), path.clone()),
        // Nobody is at the other end.
        Backing::Segment(_) => return Ok(datagrams()?.1),
        Backing::Lab(_) => return Ok(socket_pair()?.1.into()),
        Backing::Tpm => return tpm::start(),
    };
    opened.map(OwnedFd::from).map_err(|source| of_device(&name, source))
}

/// A pair of sockets for frames.
fn datagrams() -> Result<(OwnedFd, OwnedFd), Error> {
    let flags = rustix::net::SocketFlags::CLOEXEC;
    let pair = rustix::net::socketpair(AddressFamily::UNIX, SocketType::DGRAM, flags, None);
    pair.map_err(|source| Error::host("socketpair", source))
}

/// What a user has named cannot be opened.
fn of_device(path: &Path, source: std::io::Error) -> Error {
    Error::Device { path: path.to_path_buf(), source }
}

/// The command line as a shell reads it.
pub(crate) fn quote(command: &Command) -> String {
    let plain = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_=+,./:@%".contains(&b))
    };
    let quoted = |word: &OsStr| match word.to_string_lossy() {
        word if plain(&word) => word.into_owned(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_pasted_into_a_shell() {
        let mut command = Command::new("qemu");
        command.args(["-append", "a b", "", "it's"]);
        assert_eq!(quote(&command), r"qemu -append 'a b' '' 'it'\''s'");
    }
}
