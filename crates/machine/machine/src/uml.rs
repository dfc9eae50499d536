//! A machine that is User-Mode Linux: the kernel as a program of this host.
//!
//! * [`args`]: its command line
//! * [`facts`]: what its processes do; [`mconsole`] asks the kernel itself
//! * [`check`]: whether it can work here; [`fpu`]: hosts that it needs help on

mod args;
pub mod check;
mod facts;
mod fpu;
mod mconsole;

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use console::Console;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::Death;
use crate::error::Error;
use crate::spec::Spec;
use crate::vmm::launch::{Launch, Numbers, Parts};
use crate::vmm::process::{Exit, Process};
use crate::vmm::{Driver, Provocation};

/// What a restart would execute; nothing has this name, and what comes after a restart is another boot,
/// which kiln makes itself. Kernels before 6.1 do not know the parameter for that.
const NAME: &str = "kiln-uml";

/// The program for `spec`, which is `image` itself.
pub(crate) fn command(spec: &Spec, image: &Path, numbers: &Numbers) -> Command {
    let mut command = Command::new(image);
    // Where nobody said otherwise it takes a file of the current directory for a disk.
    command.arg0(NAME).args(args::arguments(spec, numbers)).current_dir("/");
    // Its memory is a file where these say, or in the scratch, which is gone with it.
    for variable in ["TMPDIR", "TMP", "TEMP"] {
        command.env_remove(variable);
    }
    command
}

/// The program for `spec`, ready to be started.
pub(crate) fn launch(spec: &Spec, image: &Path, parts: Parts) -> Result<Launch, Error> {
    let mut command = command(spec, image, &parts.numbers());
    let console = |descriptor: &OwnedFd| {
        descriptor.try_clone().map(Stdio::from).map_err(|source| Error::host("console", source))
    };
    // What it says before it has a console comes on these, and so in order.
    command.stdin(console(&parts.console)?).stdout(console(&parts.console)?).stderr(console(&parts.console)?);
    ::host::contain(&mut command);
    ::host::give_scratch(&mut command, Path::new(args::SCRATCH_PLACE), args::SCRATCH_DIRECTORY)
        .map_err(|source| Error::host(args::SCRATCH_PLACE, source))?;
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe { command.pre_exec(|| leave_no_core().and_then(|()| stay_in_place())) };
    let library = fpu::complete_state(&mut command)?;
    let inherited = parts.into_inherited().into_iter().chain(library).collect();
    Ok(Launch { command, inherited, driver: Box::new(Uml) })
}

/// Whether it can have this device.
pub(crate) fn can_have(device: &hardware::Device) -> bool {
    args::can_have(device)
}

/// A panic ends it by abort(3), which would write the whole memory of the machine into a file.
fn leave_no_core() -> std::io::Result<()> {
    Ok(setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?)
}

/// Where the host puts the program at random, UML takes what lies before it for memory of the machine, and
/// has up to twice what was asked for.
fn stay_in_place() -> std::io::Result<()> {
    const ADDR_NO_RANDOMIZE: libc::c_ulong = 0x0004_0000;
    // SAFETY: the call takes a number and changes only this process.
    match unsafe { libc::personality(ADDR_NO_RANDOMIZE) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Signals by which a process dies of what it did itself.
const FAULTS: &[i32] = &[libc::SIGILL, libc::SIGTRAP, libc::SIGABRT, libc::SIGFPE, libc::SIGSEGV];

/// Lines among which the last words of a program that gave up are looked for.
const LAST_LINES: usize = 20;

#[derive(Debug)]
struct Uml;

impl Driver for Uml {
    fn death(&mut self, console: &Console, exit: &Exit) -> Death {
        match (console.last_words(), exit.code, exit.signal) {
            (Some(death @ (Death::Panic(_) | Death::AgentDied(_))), _, _) => death,
            (_, _, Some(signal)) if FAULTS.contains(&signal) => Death::Fault(signal),
            // It exits with 0 after a restart as well, or with 1 if it tried one.
            (Some(death), Some(_), _) => death,
            (None, Some(0), _) => Death::PoweredOff,
            (None, Some(_), _) => Death::Broken(format!("UML: {}", with_reason(exit, console))),
            (_, _, _) => Death::Broken(format!("UML: {exit}")),
        }
    }

    fn examine(&mut self, process: &Process) -> Vec<String> {
        let processes = facts::processes_below(process.id);
        let asked = processes.first().map(|first| mconsole::running_task(first.id)).unwrap_or_default();
        processes.iter().map(ToString::to_string).chain(asked).collect()
    }

    fn provoke(&mut self, _how: Provocation) -> bool {
        // To ask its management console for stacks can kill the kernel.
        false
    }

    fn dump(&mut self, _path: &Path) -> Result<(), String> {
        Err("User-Mode Linux has none".to_string())
    }
}

/// A program that gives up says why in the last line before.
fn with_reason(exit: &Exit, console: &Console) -> Exit {
    let lines = console.tail(LAST_LINES);
    let message = lines.into_iter().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Exit { message, ..exit.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn death(console: &str, code: Option<i32>, signal: Option<i32>) -> Death {
        let mut message = Console::default();
        message.feed(console.as_bytes());
        Uml.death(&message, &Exit { code, signal, message: String::new() })
    }

    #[test]
    fn an_end_that_was_ordered_is_told_from_one_that_was_not() {
        assert_eq!(death("reboot: Power down\n", Some(0), None), Death::PoweredOff);
        assert_eq!(death("", Some(0), None), Death::PoweredOff);
        assert_eq!(death("reboot: Restarting system\n", Some(0), None), Death::Restarted);
        assert_eq!(death("sysrq: Resetting\nFailed to exec kernel\n", Some(1), None), Death::Restarted);
    }

    #[test]
    fn a_panic_is_one_however_the_program_ends() {
        let console = "Kernel panic - not syncing: sysrq triggered crash\n";
        for (code, signal) in [(None, Some(6)), (Some(127), None), (None, Some(9))] {
            assert_eq!(death(console, code, signal), Death::Panic("sysrq triggered crash".into()));
        }
    }

    #[test]
    fn a_fault_is_the_kernels_and_a_kill_is_not() {
        assert_eq!(death("[ 0.1] something\n", None, Some(11)), Death::Fault(11));
        assert_eq!(death("", None, Some(9)), Death::Broken("UML: ended by signal 9".into()));
        assert_eq!(
            death("reboot: Power down\n", None, Some(9)),
            Death::Broken("UML: ended by signal 9".into())
        );
    }

    #[test]
    fn why_it_gave_up_is_said_in_its_words() {
        let console =
            "Checking that ptrace can change system call numbers...ptrace: Operation not permitted\n\n";
        let Death::Broken(text) = death(console, Some(1), None) else { panic!("it gave up") };
        assert!(text.starts_with("UML: Checking that ptrace"), "{text}");
        assert!(text.ends_with("Operation not permitted (exit status 1)"), "{text}");
    }
}
