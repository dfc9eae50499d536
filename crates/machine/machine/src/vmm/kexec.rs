//! A machine goes over to another kernel: its program, its devices and what is in its window stay.

use std::sync::Arc;
use std::time::Instant;

use kernel::Kernel;
use protocol::ToAgent;
use protocol::job::{KEXEC_IMAGE, KEXEC_INITRAMFS, Order};

use super::boot::Starting;
use super::own::Own;
use super::{Frames, Vmm};
use crate::error::Error;
use crate::initramfs::Archive;
use crate::spec::Spec;
use crate::window::Window;
use crate::{Machine, required_config};

/// A kernel that a machine goes over to.
#[derive(Debug)]
pub struct Successor<'a> {
    spec: &'a Spec,
    kernel: &'a Kernel,
    files: Arc<[(&'static str, Vec<u8>)]>,
}

impl<'a> Successor<'a> {
    /// Reads all that the agent needs for it.
    ///
    /// # Errors
    ///
    /// When the kernel cannot come up here, or something cannot be read.
    pub fn new(spec: &'a Spec, kernel: &'a Kernel) -> Result<Self, Error> {
        required_config::check(spec.engine, kernel.config.as_ref())?;
        let path = &kernel.image;
        let image = std::fs::read(path).map_err(|source| Error::host(&path.display().to_string(), source))?;
        let files = [(KEXEC_IMAGE, image), (KEXEC_INITRAMFS, spec.payload.initramfs()?)];
        Ok(Self { spec, kernel, files: Arc::new(files) })
    }

    /// The files that the agent needs, by their paths.
    #[must_use]
    pub fn files(&self) -> Arc<[(&'static str, Vec<u8>)]> {
        Arc::clone(&self.files)
    }

    /// What the agent is asked before [`Successor::start_in`].
    #[must_use]
    pub fn load(&self) -> Order {
        Order::LoadKernel { parameters: self.spec.parameters() + "\0" }
    }

    /// Has the agent of a machine go over to it, as the order of this number; another agent says hello then.
    ///
    /// # Errors
    ///
    /// When the host gives no random numbers.
    pub fn start_in(&self, mut machine: Vmm, number: u32) -> Result<Starting<'a>, Error> {
        machine.send(&ToAgent::Do { number, order: Order::Kexec });
        let now = Instant::now();
        Ok(Starting {
            // What it has waited before does not count.
            start: now.checked_sub(machine.waited()).unwrap_or(now),
            machine: machine.succeeded(),
            command_line: String::new(),
            spec: self.spec,
            console: self.spec.engine.console_support(self.kernel.config.as_ref()),
            memory: None,
            template: None,
            channel: None,
            own: Own::new(true)?,
        })
    }
}

impl Vmm {
    /// The same machine with the agent of another kernel, which has said nothing yet. The one before it still says if it stays.
    fn succeeded(self) -> Self {
        Self { predecessor: Some(self.decoder.clone()), ..self.after(Frames { received: 0, sent: 0 }) }
    }

    /// Lays files into the machine's window; gives the ranges that the agent unpacks, or nothing where there is no window, or
    /// not enough room.
    ///
    /// # Errors
    ///
    /// When the host cannot write it.
    pub fn fill_window(&self, files: &[(&str, Vec<u8>)]) -> Result<Option<Vec<(u32, u32)>>, Error> {
        let Some(file) = &self.window else { return Ok(None) };
        let file = file.try_clone().map_err(|source| Error::host("the window for programs", source))?;
        let mut archive = Archive::default();
        for (path, content) in files {
            archive.file(path, content.clone(), 0o600);
        }
        Ok(Window::filled(file, &archive)?.map(|window| window.ranges(None)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use protocol::{Encoder, FromAgent};

    use super::super::testing::Idle;
    use super::*;
    use crate::Event;

    /// What the next agent's message is, or that of the one that was to go.
    fn message(machine: &mut Vmm) -> FromAgent {
        loop {
            match machine.next(Instant::now() + Duration::from_secs(60)) {
                Event::Agent(message) => return message,
                Event::Stranger(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn both_agents_are_heard_until_the_next_one_is_there() {
        let Idle { mut machine, mut agent, console: _console } = Idle::start();
        let start = |key| ToAgent::Start { key, now_us: 0, entropy: None };
        let (mut first, mut second) = (Encoder::default(), Encoder::default());
        machine.send(&start(7));
        first.set_key(7);
        let mut machine = machine.succeeded();
        let mut say = |encoder: &mut Encoder, number: u32| {
            let message = FromAgent::Answer { number, trouble: None };
            agent.write_all(&encoder.encode(&message).unwrap()).unwrap();
            message
        };
        assert_eq!(say(&mut first, 1), message(&mut machine));
        assert_eq!(say(&mut second, 2), message(&mut machine));
        machine.send(&start(8));
        second.set_key(8);
        say(&mut first, 3);
        assert_eq!(say(&mut second, 4), message(&mut machine), "nobody else is heard");
    }
}
