//! A machine of a script.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hardware::Backing;
use judge::boot::boot_judgement;
use judge::kernel_report::KernelReport;
use judge::{Blame, Outcome};
use kernel::Kernel;
use machine::{BootFailure, BootTrouble, Booted, Connections, Engine, Machine, Spec, TimeoutScale, Vmm};
use protocol::ToAgent;
use protocol::job::{Order, PIECE_MAX};
use script::{ErrorName, Trouble};

use super::disks::Disks;
use super::pump::Pump;
use super::recording::Recording;
use super::snapshot::{Snapshots, Surroundings};
use super::transcript::Transcript;
use super::wire::Plugs;
use crate::backend::store;
use crate::request::MachineRequest;
use crate::source::VmmSource;

/// A machine of a script.
#[derive(Debug)]
pub(super) struct Guest {
    /// The number of the Kernel that it boots in the experiment, and of the one that runs.
    subject: u32,
    running: AtomicU32,
    pub(super) request: MachineRequest,
    pub(super) spec: Spec,
    kernel: Arc<Kernel>,
    pub(super) timeouts: TimeoutScale,
    /// Nothing while it is between two boots.
    pump: Mutex<Option<Pump>>,
    pub(super) transcript: Arc<Transcript>,
    numbers: AtomicU32,
    /// Where programs begin.
    pub(super) directory: String,
    pub(super) plugs: Plugs,
    pub(super) disks: Arc<Disks>,
    pub(super) snapshots: Snapshots,
    pub(super) recording: Recording,
}

/// What a machine is made of.
pub(super) struct Parts {
    pub(super) request: MachineRequest,
    pub(super) spec: Spec,
    pub(super) kernel: Arc<Kernel>,
    pub(super) directory: String,
    pub(super) plugs: Plugs,
}

impl Guest {
    /// Starts a machine with the Kernel of this number: a clone, where there can be one and `may_be_clone`.
    ///
    /// # Errors
    ///
    /// When the kernel does not come up, or the host cannot start it.
    pub(super) fn start(
        parts: Parts,
        (subject, may_be_clone): (u32, bool),
        interrupt: &AtomicBool,
    ) -> Result<Self, Trouble> {
        let Parts { request, spec, kernel, directory, plugs } = parts;
        let timeouts = TimeoutScale::new(spec.engine);
        let disks = Arc::<Disks>::default();
        let connections = connections(plugs.clone(), Arc::clone(&disks));
        let guest = Self {
            subject,
            running: AtomicU32::new(subject),
            request,
            disks,
            snapshots: Snapshots::default(),
            recording: Recording::default(),
            spec: Spec { connections, ..spec },
            timeouts,
            kernel,
            pump: Mutex::default(),
            transcript: Arc::default(),
            numbers: AtomicU32::new(1),
            directory,
            plugs,
        };
        guest.boot(None, may_be_clone, interrupt)?;
        Ok(guest)
    }

    /// Starts it again: a boot with the disks that it had, within `timeout` if the script sets one. What was left of it
    /// is gone.
    pub(super) fn start_again(
        &self,
        timeout: Option<Duration>,
        interrupt: &AtomicBool,
    ) -> Result<(), Trouble> {
        self.recording.end_before("kiln: power_cut");
        if let Some(pump) = self.pump().take() {
            pump.cut_power();
        }
        self.transcript.begin_again();
        self.snapshots.forget();
        self.boot(timeout, false, interrupt)
    }

    /// Takes its power away.
    pub(super) fn cut_power(&self) {
        self.end(Pump::cut_power);
    }

    /// Lets it power off.
    pub(super) fn power_off(&self) {
        self.end(Pump::power_off);
    }

    fn end(&self, end: impl FnOnce(Pump)) {
        self.recording.end_before("kiln: the machine ends");
        if let Some(pump) = self.pump().take() {
            end(pump);
        }
        self.transcript.take(machine::Event::Ended(machine::Death::PoweredOff));
    }

    fn boot(
        &self,
        timeout: Option<Duration>,
        may_be_clone: bool,
        interrupt: &AtomicBool,
    ) -> Result<(), Trouble> {
        let limited = timeout.map(|timeout| self.within(timeout, self.spec.clone()));
        let spec = limited.as_ref().unwrap_or(&self.spec);
        let source = VmmSource::new(spec, &self.kernel, store(), false).map_err(|error| host(&error))?;
        let booted = match may_be_clone {
            true => source.machine(interrupt, &mut |_| {}),
            false => source.boot_one(interrupt, &mut |_| {}),
        };
        let Booted { machine, .. } =
            booted.map_err(|error| host(&error))?.map_err(|failure| of_boot(failure, timeout))?;
        self.listen(machine, self.subject, interrupt)
    }

    /// The same with the time that a script gives the boot.
    pub(super) fn within(&self, timeout: Duration, spec: Spec) -> Spec {
        Spec { boot_limit: self.timeouts.stretch(timeout), ..spec }
    }

    /// Goes on with a machine whose agent has said hello, in the Kernel of this number.
    pub(super) fn listen(
        &self,
        mut machine: Vmm,
        subject: u32,
        interrupt: &AtomicBool,
    ) -> Result<(), Trouble> {
        self.running.store(subject, Ordering::Relaxed);
        machine.begin_hazards().map_err(|why| Trouble::new(ErrorName::Missing, why))?;
        *self.pump() = Some(Pump::start(machine, Arc::clone(&self.transcript)));
        self.configure(&|| interrupt.load(Ordering::Relaxed))
    }

    /// The number of the Kernel that runs in it.
    pub(super) fn subject(&self) -> u32 {
        self.running.load(Ordering::Relaxed)
    }

    /// Gives the machine out, to which nobody listens then.
    pub(super) fn hand_over(&self) -> Result<Vmm, Trouble> {
        self.recording.end_before("kiln: another kernel begins");
        let pump = self.pump().take().ok_or_else(is_off)?;
        pump.into_machine().ok_or_else(is_gone)
    }

    /// Gives its interfaces their addresses.
    fn configure(&self, cancelled: &dyn Fn() -> bool) -> Result<(), Trouble> {
        for interface in self.plugs.interfaces() {
            self.order(Order::Interface(interface), cancelled)?;
        }
        Ok(())
    }

    fn pump(&self) -> MutexGuard<'_, Option<Pump>> {
        self.pump.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Longest content in one message, in bytes. User-Mode Linux never reads a serial port again once 4 KiB wait there:
    /// `line_unthrottle` of its `line.c` does not switch on again what `line_throttle` switches off.
    pub(super) fn piece_max(&self) -> usize {
        match self.spec.engine {
            Engine::Qemu(_) => PIECE_MAX,
            Engine::Uml => 1024,
        }
    }

    /// What it is beside its program.
    pub(super) fn surroundings(&self) -> Surroundings {
        Surroundings { transcript: Arc::clone(&self.transcript), disks: Arc::clone(&self.disks) }
    }

    pub(super) fn number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn send(&self, message: ToAgent) -> Result<(), Trouble> {
        match &*self.pump() {
            Some(pump) => {
                pump.send(message);
                Ok(())
            }
            None => Err(is_off()),
        }
    }

    /// Does something with the machine itself.
    pub(super) fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Vmm) -> T + Send + 'static,
    ) -> Result<T, Trouble> {
        let pump = self.pump();
        let done = pump.as_ref().ok_or_else(is_off)?.work(work);
        done.ok_or_else(is_gone)
    }

    /// Does something with the machine itself that may take long, and learns by the flag that it is given up.
    pub(super) fn long_work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Vmm, &AtomicBool) -> T + Send + 'static,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<T, Trouble> {
        let pump = self.pump();
        let done = pump.as_ref().ok_or_else(is_off)?.long_work(work, cancelled);
        done.ok_or_else(is_gone)
    }

    /// What the kernel has reported of itself since this was asked last.
    pub(super) fn new_reports(&self) -> Vec<KernelReport> {
        self.transcript.lock().new_reports()
    }

    /// The reason for which a machine hangs, with what its processors do.
    pub(super) fn examined(&self, text: &str) -> String {
        let registers = self.work(Vmm::registers).unwrap_or_default();
        let counter = registers.iter().find(|line| line.contains("IP=")).cloned();
        counter.map_or_else(|| text.to_string(), |line| format!("{text}; {}", line.trim()))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // While its program is there: the recording is in the memory of that.
        self.recording.end_before("kiln: the machine ends");
    }
}

/// What is behind the devices of a machine and stays when it restarts.
fn connections(plugs: Plugs, disks: Arc<Disks>) -> Connections {
    Connections::new(move |place, backing| match backing {
        Backing::Empty(bytes) => Some(disks.open(place, *bytes)),
        Backing::Segment(name) => Some(plugs.attach(name)),
        Backing::Lab(name) => Some(plugs.serial(name)),
        _ => None,
    })
}

fn is_off() -> Trouble {
    Trouble::new(ErrorName::Stopped, "the machine is off")
}

fn is_gone() -> Trouble {
    Trouble::broken(Blame::Kiln, "the thread of a machine is gone")
}

/// What an error of the host means to a script.
pub(super) fn host(error: &machine::Error) -> Trouble {
    match error.is_usage() {
        true => Trouble::new(ErrorName::Missing, error.to_string()),
        false => Trouble::broken(Blame::Host, error.to_string()),
    }
}

/// What a boot that failed means to a script, which may have set its `timeout`.
pub(super) fn of_boot(mut failure: BootFailure, timeout: Option<Duration>) -> Trouble {
    if let BootTrouble::NotStarted(_) = failure.trouble {
        return Trouble::new(ErrorName::Refused, format!("{}; the machine is off now", failure.trouble));
    }
    if let (BootTrouble::Late { remedy, .. }, Some(_)) = (&mut failure.trouble, timeout) {
        *remedy = "timeout =";
    }
    let judgement = boot_judgement(&failure);
    let text = format!("the machine did not come up: {}", judgement.reason);
    match judgement.outcome {
        Outcome::Crash => Trouble::new(ErrorName::Crash, text),
        Outcome::Hang => Trouble::new(ErrorName::Hang, text),
        Outcome::Fail => Trouble::new(ErrorName::Report, text),
        _ => Trouble::broken(judgement.blame.unwrap_or(Blame::Machine), text),
    }
}
