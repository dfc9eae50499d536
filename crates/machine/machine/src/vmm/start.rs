//! Starts the program of a machine.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use hardware::Backing;

use super::launch::{self, Origin, Parts, quote, socket_pair};
use super::process::Process;
use super::{Raw, Vmm, readers};
use crate::connections::Place;
use crate::engine::Engine;
use crate::error::Error;
use crate::spec::Spec;
use crate::{instrument, qemu, uml};

/// Events that may wait in the queue; each holds at most 16 KiB.
const QUEUE: usize = 256;

/// How long a machine may leave what is sent to it. One that has stopped reading is then found to be silent.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// The two ends of a control port.
pub(super) fn control_port() -> Result<(UnixStream, UnixStream), Error> {
    port(WRITE_LIMIT)
}

/// The two ends of a port; kiln's, the first, waits no longer than `limit` for room.
fn port(limit: Duration) -> Result<(UnixStream, UnixStream), Error> {
    let (own, its) = socket_pair()?;
    own.set_write_timeout(Some(limit)).map_err(|source| Error::host("socket", source))?;
    Ok((own, its))
}

/// The program of a machine, and the kernel that it gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<'a> {
    pub(crate) program: &'a Path,
    pub(crate) image: &'a Path,
    /// Where the symbols of the image stand.
    pub(crate) system_map: Option<&'a Path>,
}

/// Opens what is behind each of its devices.
fn devices(spec: &Spec) -> Result<Vec<Vec<OwnedFd>>, Error> {
    let open = |(place, backing): (Place, &Backing)| match spec.connections.connect(place, backing) {
        Some(connected) => connected.map_err(|source| Error::host("connecting a device", source)),
        None => launch::open(backing),
    };
    let of = |(device, backings): (usize, &Vec<Backing>)| {
        let places = (0..).map(|backing| Place { device, backing });
        places.zip(backings).map(open).collect()
    };
    spec.hardware.backings().iter().enumerate().map(of).collect()
}

/// Starts it; gives the machine, and its command line as a shell reads it.
pub(crate) fn start(
    spec: &Spec,
    files: Files<'_>,
    (origin, instrument): (Origin<OwnedFd>, Option<instrument::Files<OwnedFd>>),
) -> Result<(Vmm, String), Error> {
    let (console, its_console) = port(WRITE_LIMIT)?;
    launch::hold_much(&its_console);
    let (control, its_control) = control_port()?;
    let window = origin.window().map(OwnedFd::try_clone).transpose();
    let window = window.map_err(|source| Error::host("the window for programs", source))?;
    let (channel, plugin) = match instrument {
        None => launch::plugin::Files::open(spec, files.program)?,
        Some(_) => (None, None),
    };
    let parts = Parts {
        console: its_console.into(),
        control: its_control.into(),
        disk: (spec.disk_mib > 0).then(|| launch::disk(spec.disk_mib)).transpose()?,
        root: spec.image().map(|image| launch::image(&image.path)).transpose()?,
        devices: devices(spec)?,
        origin,
        instrument,
        plugin,
    };
    let (sender, events) = sync_channel(QUEUE);
    let launch = match spec.engine {
        Engine::Qemu(accel) => qemu::launch(spec, accel, files, parts, &sender)?,
        Engine::Uml => uml::launch(spec, files.image, parts)?,
    };
    let command_line = quote(&launch.command);
    let process = Process::start(launch.command, launch.inherited, sender.clone())?;
    let copy = |socket: &UnixStream| socket.try_clone().map_err(|source| Error::host("socket", source));
    readers::read_port(copy(&console)?, sender.clone(), Raw::Console);
    readers::read_port(copy(&control)?, sender.clone(), Raw::Control);
    let sender_of_plugin = sender.clone();
    let machine = Vmm::new(process, launch.driver, (sender, events), console, control);
    let machine = Vmm { window: window.map(File::from), ..machine };
    let machine = match channel {
        Some(channel) => {
            readers::read_port(copy(&channel)?, sender_of_plugin, Raw::Hazard);
            machine.with_plugin(channel)
        }
        None => machine,
    };
    let machine = machine.with_hazards(spec.hazards.clone());
    let machine = match &spec.dumps {
        Some(folder) => machine.dump_into(folder, spec.memory_mib),
        None => machine,
    };
    Ok((machine, command_line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_machine_that_does_not_read_stops_nobody() {
        let (mut own, _its) = port(Duration::from_millis(10)).expect("sockets");
        let error = own.write_all(&vec![0; 64 << 20]).expect_err("more than a socket holds");
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
}
