//! A shell and the usual programs inside the machine, where the host has them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use machine::program::Program;
use machine::{Error, Payload};

use crate::commands::{self, Commands};

/// Where it is in the machine.
const BUSYBOX: &str = "/bin/busybox";

/// Programs that busybox has in a lesser form than scripts of the kernel's world expect.
const LESSER: &[&str] = &[
    "bash",
    "blkid",
    "chrt",
    "fallocate",
    "ip",
    "losetup",
    "lspci",
    "nsenter",
    "ping",
    "setpriv",
    "sysctl",
    "taskset",
    "tc",
    "timeout",
    "unshare",
];

/// Programs that are shipped where there is no static busybox.
const PROGRAMS: &[&str] = &[
    "sh", "bash", "ls", "cat", "mount", "umount", "dmesg", "ps", "uname", "mkdir", "rm", "cp", "mv", "grep",
    "sleep", "id",
];

/// What there is in `/bin`.
#[derive(Debug, Clone, Default)]
pub struct Userland {
    /// Names of the programs.
    pub names: BTreeSet<String>,
    /// They are links to one busybox, `/bin/busybox`.
    pub is_busybox: bool,
}

/// Ships a shell and the usual programs: busybox where it is static, else the host's own.
///
/// # Errors
///
/// When one of the host's own cannot be shipped.
pub fn ship(payload: &mut Payload) -> Result<Userland, Error> {
    let mut userland = ship_busybox(payload);
    if userland.is_busybox {
        return Ok(userland);
    }
    for name in PROGRAMS {
        if let Some(path) = Program::find(name) {
            payload.program(Program::load(&path)?, &format!("/bin/{name}"));
            userland.names.insert((*name).to_string());
        }
    }
    Ok(userland)
}

/// Ships the programs of busybox, where the host has a static one.
pub(crate) fn ship_busybox(payload: &mut Payload) -> Userland {
    let Some((busybox, applets)) = busybox() else { return Userland::default() };
    payload.program(busybox, BUSYBOX);
    for applet in &applets {
        payload.link(&format!("/bin/{applet}"), BUSYBOX);
    }
    Userland { names: applets, is_busybox: true }
}

impl Userland {
    /// Programs of the host that a script names and that are not here, or only in a lesser form, with their paths.
    pub(crate) fn lacking(&self, script: &[u8]) -> BTreeMap<String, PathBuf> {
        let Commands { names, directories } = commands::read(script);
        let is_wanted = |name: &String| !self.names.contains(name) || LESSER.contains(&name.as_str());
        let own =
            |name: &str| directories.iter().map(|place| Path::new(place).join(name)).find(|it| it.is_file());
        let found = |name: String| Some((name.clone(), own(&name).or_else(|| Program::find(&name))?));
        names.into_iter().filter(is_wanted).filter_map(found).collect()
    }
}

/// A busybox that needs no libraries, and its applets.
fn busybox() -> Option<(Program, BTreeSet<String>)> {
    let path = Program::find("busybox")?;
    let program = Program::load(&path).ok().filter(|program| program.libraries.is_empty())?;
    let output = Command::new(path).arg("--list").output().ok()?;
    let applets = String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect();
    Some((program, applets))
}
