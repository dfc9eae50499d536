//! A shell and the usual programs inside the machine, where the host has them.

use std::collections::BTreeSet;
use std::process::Command;

use machine::program::Program;
use machine::{Error, Payload};

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
    if let Some((busybox, applets)) = busybox() {
        payload.program(busybox, "/bin/busybox");
        for applet in &applets {
            payload.link(&format!("/bin/{applet}"), "/bin/busybox");
        }
        return Ok(Userland { names: applets, is_busybox: true });
    }
    let mut userland = Userland::default();
    for name in PROGRAMS {
        if let Some(path) = Program::find(name) {
            payload.program(Program::load(&path)?, &format!("/bin/{name}"));
            userland.names.insert((*name).to_string());
        }
    }
    Ok(userland)
}

/// A busybox that needs no libraries, and its applets.
fn busybox() -> Option<(Program, BTreeSet<String>)> {
    let path = Program::find("busybox")?;
    let program = Program::load(&path).ok().filter(|program| program.libraries.is_empty())?;
    let output = Command::new(path).arg("--list").output().ok()?;
    let applets = String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect();
    Some((program, applets))
}
