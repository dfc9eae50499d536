//! A machine in QEMU.
//!
//! * [`args`]: its command line
//! * [`monitor`]: what it is asked, and says of itself; [`qmp`] is the form of that
//! * [`snapshot`]: its state, kept and restored
//! * [`symbol`]: the names of functions
//! * [`processors`]: its registers; [`tasks`]: its tasks; [`hazard`]: where a CPU waits for too long; [`sleepers`]: who sleeps for a lock
//! * [`mod@watch`]: who writes to what is watched, through its stub for debuggers, [`gdb`]

mod args;
mod gdb;
mod hazard;
mod monitor;
mod processors;
mod qmp;
mod sleepers;
mod snapshot;
mod symbol;
mod tasks;
mod watch;

use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use ::hazard::Loop;
use console::Console;
use introspect::{Sleeper, Task};
use serde_json::Value;

use crate::Death;
use crate::accel::Accel;
use crate::error::Error;
use crate::hazards::{Spin, Variable, Wait, Write};
use crate::host::QemuProgram;
use crate::spec::Spec;
use crate::tcg;
use crate::vmm::launch::{Launch, Numbers, Origin, Parts, quote};
use crate::vmm::process::{Exit, Process, end_with_kiln};
use crate::vmm::start::Files;
use crate::vmm::{Driver, Provocation, Raw};
use args::Executor;
use monitor::Monitor;
use symbol::Symbols;
use watch::Watch;

/// Where a machine that is started by hand has its parts, in the folder where QEMU is started.
pub mod files {
    /// The kernel.
    pub const IMAGE: &str = "vmlinuz";
    /// The initramfs.
    pub const INITRAMFS: &str = "initramfs.cpio";
    /// The first serial port.
    pub const CONSOLE: &str = "console";
    /// The second serial port.
    pub const CONTROL: &str = "control";
    /// The disk, if it has one.
    pub const DISK: &str = "disk";
    /// The image of its root, if it has one.
    pub const ROOT: &str = "root";

    /// What is behind the device with this number: the file with this number of those that it has.
    #[must_use]
    pub fn device(device: usize, number: usize) -> String {
        format!("device{device}-{number}")
    }
}

/// What a shell starts QEMU with for the machine of `spec` out of [`files`].
#[must_use]
pub fn command_line_from_files(spec: &Spec, accel: Accel) -> String {
    let mut command = Command::new(crate::host::QEMU);
    let keeps_flags = QemuProgram::locate().is_ok_and(|program| keeps_flags(accel, &program));
    command.args(args::from_files(spec, Executor { accel, keeps_flags }));
    quote(&command)
}

/// The number of the monitor's descriptor in a command line that is only shown.
const EXAMPLE: i32 = 6;

/// A QEMU for `spec` that is only shown.
pub(crate) fn example(spec: &Spec, accel: Accel, files: Files<'_>, numbers: &Numbers) -> Command {
    command(spec, accel, files, numbers, EXAMPLE)
}

/// A QEMU for `spec` that is ready to be started.
pub(crate) fn launch(
    spec: &Spec,
    accel: Accel,
    files: Files<'_>,
    parts: Parts,
    events: &SyncSender<Raw>,
) -> Result<Launch, Error> {
    let (mut monitor, its_monitor) = Monitor::new(events.clone())?;
    let mut command = command(spec, accel, files, &parts.numbers(), its_monitor.as_raw_fd());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    end_with_kiln(&mut command);
    if let Origin::Clone { state, .. } = parts.numbers().origin {
        monitor.load(state).map_err(|source| Error::host("monitor", source))?;
    }
    let memory = parts.memory()?;
    let symbols = files.system_map.map(|map| Symbols::new(map, memory));
    let inherited = parts.into_inherited().into_iter().chain([its_monitor]).collect();
    Ok(Launch {
        command,
        inherited,
        driver: Box::new(Qemu { monitor, symbols, sleepers: None, watch: None }),
    })
}

fn command(spec: &Spec, accel: Accel, files: Files<'_>, numbers: &Numbers, monitor: i32) -> Command {
    let mut command = Command::new(files.program);
    let executor = Executor { accel, keeps_flags: keeps_flags(accel, files.program) };
    command.args(args::arguments(spec, executor, files.image, numbers, monitor));
    command
}

fn keeps_flags(accel: Accel, program: &Path) -> bool {
    accel != Accel::Tcg || tcg::keeps_flags(program)
}

/// What is known of a running QEMU beside its console and control port.
#[derive(Debug)]
struct Qemu {
    monitor: Monitor,
    symbols: Option<Symbols>,
    sleepers: Option<sleepers::Found>,
    watch: Option<Watch>,
}

impl Driver for Qemu {
    fn death(&mut self, console: &Console, exit: &Exit) -> Death {
        match (console.last_words(), self.monitor.shutdown_reason()) {
            (Some(death), Some(_)) => death,
            (Some(death @ (Death::Panic(_) | Death::AgentDied(_))), None) => death,
            (None, Some("guest-reset")) => Death::Reset,
            (None, Some("guest-shutdown")) => Death::PoweredOff,
            (None, Some(reason)) => Death::Broken(format!("QEMU shut down: {reason}")),
            (_, None) => Death::Broken(format!("QEMU: {exit}")),
        }
    }

    fn runs_by(&mut self, deadline: Instant) -> Result<bool, String> {
        self.monitor.runs_by(deadline)
    }

    fn resume(&mut self, deadline: Instant) -> Result<(), String> {
        self.monitor.resume(deadline)
    }

    fn execute(&mut self, command: &str, arguments: &Value) -> Result<Value, String> {
        self.monitor.execute(command, arguments)
    }

    fn hold(&mut self, is_held: bool) -> Result<(), String> {
        if let Some(watch) = self.watch.as_mut().filter(|_| !is_held && self.monitor.is_held()) {
            // QEMU may have ended.
            let _ = watch.listen();
        }
        self.monitor.hold(is_held)
    }

    fn is_held(&self) -> bool {
        self.monitor.is_held()
    }

    fn save_snapshot(&mut self, name: &str, is_given_up: &AtomicBool) -> Result<(), String> {
        snapshot::save(&mut self.monitor, name, is_given_up)
    }

    fn load_snapshot(
        &mut self,
        name: &str,
        control: BorrowedFd<'_>,
        is_given_up: &AtomicBool,
    ) -> Result<(), String> {
        snapshot::load(&mut self.monitor, name, is_given_up)?;
        self.monitor.replace(args::CONTROL, control)
    }

    fn blocks_clones(&mut self) -> Option<String> {
        self.monitor.blocks_clones()
    }

    fn save(&mut self, state: BorrowedFd<'_>) -> Result<(), String> {
        self.monitor.save(state)
    }

    fn examine(&mut self, _process: &Process) -> Vec<String> {
        let registers = self.monitor.ask("info registers -a").unwrap_or_default();
        let wanted =
            |line: &&str| ["CPU#", "IP=", "SP=", "CR2=", "CR3="].iter().any(|name| line.contains(name));
        let lines = registers.lines().filter(wanted).map(str::to_string).collect();
        match &self.symbols {
            Some(symbols) => symbols.name_counters(lines, &mut |cpu, at| self.monitor.physical(cpu, at)),
            None => lines,
        }
    }

    fn shows_memory(&self) -> bool {
        true
    }

    fn tasks(&mut self, process: &Process) -> Result<Vec<Task>, String> {
        tasks::read(&mut self.monitor, process.id)
    }

    fn examine_spin(&mut self, process: &Process, code: &Loop, spin: &mut Spin) -> Result<(), String> {
        hazard::examine(&mut self.monitor, process.id, code, spin)
    }

    fn find_sleepers(&mut self, process: &Process) -> Result<(), String> {
        self.sleepers = Some(sleepers::Found::new(&mut self.monitor, process.id)?);
        Ok(())
    }

    fn sleepers(&mut self) -> Vec<Sleeper> {
        let Self { monitor, sleepers, .. } = self;
        sleepers.as_mut().map(|found| found.look(monitor)).unwrap_or_default()
    }

    fn examine_waits(&mut self, late: &[(Sleeper, Duration)]) -> Vec<Wait> {
        let Self { monitor, sleepers, .. } = self;
        sleepers.as_mut().map(|found| found.waits(monitor, late)).unwrap_or_default()
    }

    fn watch(&mut self, process: &Process, variables: &[&Variable]) -> Result<(), String> {
        let Self { monitor, watch, .. } = self;
        Watch::begin((monitor, process.id), variables, watch)?;
        self.monitor.stops_at_writes(true);
        Ok(())
    }

    fn end_watch(&mut self) -> Result<(), String> {
        self.monitor.stops_at_writes(false);
        self.watch.as_mut().map_or(Ok(()), Watch::end)
    }

    fn written(&mut self) -> Option<Write> {
        let Self { monitor, watch, .. } = self;
        watch.as_mut()?.hit(monitor)
    }

    fn provoke(&mut self, how: Provocation) -> bool {
        let command = match how {
            Provocation::Break => "chardev-send-break console",
            Provocation::Nmi => "nmi",
            Provocation::Stop => "stop",
        };
        // It prints only complaints.
        self.monitor.ask(command).is_some_and(|complaint| complaint.is_empty())
    }

    fn dump(&mut self, path: &Path) -> Result<(), String> {
        self.monitor.dump(path)
    }
}
