//! A machine for unit tests, whose program does nothing.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::sync_channel;

use console::{Console, Death};

use super::process::{Exit, Process, end_with_kiln};
use super::start::control_port;
use super::{Driver, Provocation, Raw, Vmm, readers};

/// The machine, and what a guest would have of it.
pub(super) struct Idle {
    pub(super) machine: Vmm,
    pub(super) agent: UnixStream,
    pub(super) console: UnixStream,
}

#[derive(Debug)]
struct Nothing;

impl Driver for Nothing {
    fn death(&mut self, _console: &Console, _exit: &Exit) -> Death {
        Death::PoweredOff
    }

    fn examine(&mut self, _process: &Process) -> Vec<String> {
        Vec::new()
    }

    fn provoke(&mut self, _how: Provocation) -> bool {
        false
    }

    fn dump(&mut self, _path: &Path) -> Result<(), String> {
        Err("it has no memory".to_string())
    }
}

impl Idle {
    pub(super) fn start() -> Self {
        let mut command = Command::new("sleep");
        command.arg("1000");
        end_with_kiln(&mut command);
        let (sender, events) = sync_channel(9);
        let process = Process::start(command, Vec::new(), sender.clone()).unwrap();
        let ((control, agent), (screen, console)) = (control_port().unwrap(), control_port().unwrap());
        readers::read_port(screen.try_clone().unwrap(), sender.clone(), Raw::Console);
        readers::read_port(control.try_clone().unwrap(), sender.clone(), Raw::Control);
        let machine = Vmm::new(process, Box::new(Nothing), (sender, events), screen, control);
        Self { machine, agent, console }
    }
}
