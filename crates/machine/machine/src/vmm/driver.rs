//! What QEMU and UML do each in their own way.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use console::Console;
use hazard::Loop;
use introspect::{Sleeper, Task};
use serde_json::Value;

use super::Provocation;
use super::process::{Exit, Process};
use crate::Death;
use crate::hazards::{Spin, Variable, Wait, Write};

/// What machines say that nobody knows how to clone.
const CANNOT_BE_CLONED: &str = "it cannot be cloned";

/// What machines say whose memory is not at hand.
const NO_MEMORY: &str = "only QEMU shows the memory of a machine";

/// What QEMU and UML do each in their own way.
pub(crate) trait Driver: std::fmt::Debug + Send {
    /// Why the machine is no more, from what was on its console and how its program ended.
    fn death(&mut self, console: &Console, exit: &Exit) -> Death;

    /// Whether a clone has gone on where its template stopped, waiting for it until `deadline`; the error says
    /// why it never will.
    fn runs_by(&mut self, _deadline: Instant) -> Result<bool, String> {
        Err(CANNOT_BE_CLONED.to_string())
    }

    /// Has a clone go on whose template had stopped itself.
    fn resume(&mut self, _deadline: Instant) -> Result<(), String> {
        Err(CANNOT_BE_CLONED.to_string())
    }

    /// Why its state can never be written, as far as is known at its start.
    fn blocks_clones(&mut self) -> Option<String> {
        None
    }

    /// Executes a command of the machine's monitor.
    fn execute(&mut self, _command: &str, _arguments: &Value) -> Result<Value, String> {
        Err("User-Mode Linux has no such monitor: use a kernel for QEMU".to_string())
    }

    /// Stops all CPUs, or lets them go on; the machine is not over.
    fn hold(&mut self, _is_held: bool) -> Result<(), String> {
        Err("User-Mode Linux cannot be paused: use a kernel for QEMU".to_string())
    }

    /// Whether all CPUs are stopped on purpose.
    fn is_held(&self) -> bool {
        false
    }

    /// Keeps the state of a machine that is held, in its program, unless that is given up.
    fn save_snapshot(&mut self, _name: &str, _is_given_up: &AtomicBool) -> Result<(), String> {
        Err(CANNOT_BE_CLONED.to_string())
    }

    /// Restores it. From then on this is at the other end of its control port, and what was on the way to the old one is lost.
    fn load_snapshot(
        &mut self,
        _name: &str,
        _control: BorrowedFd<'_>,
        _is_given_up: &AtomicBool,
    ) -> Result<(), String> {
        Err(CANNOT_BE_CLONED.to_string())
    }

    /// Stops the machine and writes the state of its devices.
    fn save(&mut self, _state: BorrowedFd<'_>) -> Result<(), String> {
        Err(CANNOT_BE_CLONED.to_string())
    }

    /// The state of a machine that stopped answering.
    fn examine(&mut self, process: &Process) -> Vec<String>;

    /// Whether the memory of a machine can be read from outside.
    fn shows_memory(&self) -> bool {
        false
    }

    /// The tasks of its kernel, by its memory, while it is held; or why they are not known.
    fn tasks(&mut self, _process: &Process) -> Result<Vec<Task>, String> {
        Err(NO_MEMORY.to_string())
    }

    /// Fills in what the memory of a machine that is held in this loop shows of the CPU that waits; or why it shows nothing.
    fn examine_spin(&mut self, _process: &Process, _code: &Loop, _spin: &mut Spin) -> Result<(), String> {
        Err(NO_MEMORY.to_string())
    }

    /// Finds how its kernel shows who sleeps for a lock; or why it does not.
    fn find_sleepers(&mut self, _process: &Process) -> Result<(), String> {
        Err(NO_MEMORY.to_string())
    }

    /// Who seems to sleep for a lock now.
    fn sleepers(&mut self) -> Vec<Sleeper> {
        Vec::new()
    }

    /// What those wait for, while the machine is held.
    fn examine_waits(&mut self, _late: &[(Sleeper, Duration)]) -> Vec<Wait> {
        Vec::new()
    }

    /// Stops at each write to these variables of its kernel from here on, while the machine is held; or why it does not.
    fn watch(&mut self, _process: &Process, _variables: &[&Variable]) -> Result<(), String> {
        Err(NO_MEMORY.to_string())
    }

    /// Stops there no more; the machine is held.
    fn end_watch(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// The write at which the machine stands, if it does at one.
    fn written(&mut self) -> Option<Write> {
        None
    }

    /// Makes the kernel print back traces on the console; false where that cannot be done.
    fn provoke(&mut self, how: Provocation) -> bool;

    /// Writes the machine's memory into a file; the error says why it could not.
    fn dump(&mut self, path: &Path) -> Result<(), String>;
}
