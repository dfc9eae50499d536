//! A machine goes over to another kernel by kexec_file_load(2), in the same QEMU.

use std::time::Duration;

use kernel::Kernel;
use machine::{Booted, Engine, Event, Successor};
use protocol::ToAgent;
use script::id::KernelIndex;
use script::{Answer, ErrorName, Trouble};

use super::calling::Calling;
use super::describe::Making;
use super::guest::{Guest, host, of_boot};
use super::order::SOON;
use crate::request::MachineRequest;

/// The kernel's option for kexec_file_load(2).
const OPTION: &str = "KEXEC_FILE";

/// Goes over to a Kernel, or to its own again, with these parameters and within this time.
pub(super) fn call(
    guest: &Guest,
    (kernel, append, timeout): (Option<KernelIndex>, Option<&str>, Option<Duration>),
    calling: &Calling<'_>,
) -> Result<Answer, Trouble> {
    check(guest, &calling.subject.kernel)?;
    let number = kernel.unwrap_or_else(|| guest.subject());
    let subject = calling.setting.subject(number)?;
    let making = Making { setting: calling.setting, subject, folder: &calling.kept.folder };
    let (spec, _) = making.spec(&request(guest, append, calling))?;
    if spec.engine != guest.spec.engine {
        return Err(Trouble::new(ErrorName::Refused, "a kernel for QEMU cannot go over to User-Mode Linux"));
    }
    let spec = match timeout {
        Some(timeout) => guest.within(timeout, spec),
        None => spec,
    };
    let successor = Successor::new(&spec, &subject.kernel).map_err(|error| host(&error))?;
    guest.load(&successor, calling.cancelled)?;
    guest.go_over(&successor, (number, timeout), calling)?;
    Ok(Answer::Done)
}

/// Refuses what is known to be impossible before anything is copied.
fn check(guest: &Guest, running: &Kernel) -> Result<(), Trouble> {
    let missing = |text: String| Err(Trouble::new(ErrorName::Missing, text));
    if guest.spec.engine == Engine::Uml {
        return missing("User-Mode Linux has no kexec: use a kernel for QEMU".to_string());
    }
    match &running.config {
        Some(config) if !config.is_enabled(OPTION) => {
            missing(format!("the running kernel was built without CONFIG_{OPTION}"))
        }
        _ => Ok(()),
    }
}

/// The same machine, with other parameters in place of those that the script gave it.
fn request(guest: &Guest, append: Option<&str>, calling: &Calling<'_>) -> MachineRequest {
    let fixed = calling.setting.machine.append.iter().cloned();
    let append = append.map(|append| fixed.chain([append.to_string()]).collect());
    let append = append.unwrap_or_else(|| guest.request.append.clone());
    MachineRequest { append, ..guest.request.clone() }
}

impl Guest {
    /// Has the running kernel load another.
    fn load(&self, successor: &Successor<'_>, cancelled: &dyn Fn() -> bool) -> Result<(), Trouble> {
        self.ship(successor, cancelled)?;
        let loaded = self.order(successor.load(), cancelled);
        loaded.map(drop).map_err(|trouble| match trouble.name {
            ErrorName::Refused => refused(&trouble.text),
            _ => trouble,
        })
    }

    /// Copies its files into the machine: through the window in a moment, else over the control port in minutes.
    fn ship(&self, successor: &Successor<'_>, cancelled: &dyn Fn() -> bool) -> Result<(), Trouble> {
        let files = successor.files();
        let laid = self.work(move |machine| machine.fill_window(&files))?.map_err(|error| host(&error))?;
        let Some(ranges) = laid else {
            return successor
                .files()
                .iter()
                .try_for_each(|(path, content)| self.put((path, true), content, cancelled));
        };
        self.transcript.lock().unpacked = None;
        self.send(ToAgent::Unpack { ranges })?;
        let unpacked = self.transcript.wait(&self.limits(SOON, cancelled), |state| state.unpacked.take());
        unpacked.map_err(|failed| self.trouble(failed))?.map_err(|why| refused(&why))
    }

    /// Goes over to the kernel that is loaded, and waits for the agent there. A new conversation begins with it.
    fn go_over(
        &self,
        successor: &Successor<'_>,
        (number, timeout): (KernelIndex, Option<Duration>),
        calling: &Calling<'_>,
    ) -> Result<(), Trouble> {
        let interrupt = calling.setting.interrupt;
        let machine = self.hand_over()?;
        self.transcript.begin_again();
        self.snapshots.forget();
        let starting = successor.start_in(machine, self.number()).map_err(|error| host(&error))?;
        let booted = starting.wait_for_hello(interrupt, &mut |line| {
            self.transcript.take(Event::Console(line.to_string()));
        });
        let Booted { machine, .. } = booted.map_err(|failure| of_boot(failure, timeout))?;
        self.listen(machine, number, interrupt)
    }
}

fn refused(why: &str) -> Trouble {
    Trouble::new(ErrorName::Refused, format!("the next kernel cannot be loaded: {why}"))
}
