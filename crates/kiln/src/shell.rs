//! `kiln shell`: an interactive shell in the guest, or one command.

use std::io::{IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use judge::{Dialect, Ending, Seen, judge};
use kernel::{Kernel, Store};
use lab::source::{Heard, VmmSource};
use lab::{Plan, userland};
use machine::{BootFailure, BootTrouble, Death, Event, Machine, Spec, Vmm};
use protocol::{Command, End, FromAgent, RunRequest, ToAgent, Work};
use signal_hook::consts::SIGWINCH;

use crate::cli::ShellVerb;
use crate::failure::INTERRUPTED;
use crate::find::find;
use crate::listeners::print;
use crate::terminal::{RawTerminal, size};
use crate::{signals, terminal};

/// What leaves the shell, after [`ESCAPE`]: QEMU's own keys.
const LEAVE: u8 = b'x';
const ESCAPE: u8 = 1;

/// How often the flags of signals are looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// A command of the user has all the time it wants: a hundred days.
const LIMIT_MS: u64 = 100 * 24 * 3600 * 1000;

/// Runs a shell and gives the exit code.
pub(crate) fn shell(said: &ShellVerb) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let kernel = find(&said.build.kernel(&said.kernel), &interrupt)?;
    let machine = said.machine.request();
    let engine = machine.engine(&kernel)?;
    let mut plan = Plan::nothing("shell", machine.fixed(engine, None)?);
    userland::ship(&mut plan.payload)?;
    let spec = machine.spec(&plan, engine);
    let machine = match boot(&spec, &kernel, &interrupt)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    match &said.command {
        Some(command) => one_command(machine, command, &interrupt),
        None => interactive(machine, &interrupt),
    }
}

/// Opens a shell in the machine of a run, where `kiln-case` runs what waits there, and gives the exit code.
pub(crate) fn at_hand(spec: &Spec, kernel: &Kernel, greeting: &str) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    let mut spec = spec.clone();
    userland::ship(&mut spec.payload)?;
    match boot(&spec, kernel, &interrupt)? {
        Ok(machine) => {
            print(greeting)?;
            interactive(machine, &interrupt)
        }
        Err(code) => Ok(code),
    }
}

/// A machine that is up, or the exit code.
fn boot(spec: &Spec, kernel: &Kernel, interrupt: &AtomicBool) -> Result<Result<Vmm, u8>> {
    let source = VmmSource::new(spec, kernel, Store::new(Store::default_dir()), false)?;
    let mut progress = terminal::Progress::new();
    let booted = source.machine(interrupt, &mut |heard| match heard {
        Heard::CommandLine(_) => progress.show(&format!("booting {}", kernel.provenance)),
        Heard::Console(line) => progress.show(line),
    })?;
    drop(progress);
    match booted {
        Ok(booted) => Ok(Ok(booted.machine)),
        Err(BootFailure { trouble: BootTrouble::Interrupted, .. }) => Ok(Err(INTERRUPTED)),
        Err(failure) => did_not_boot(&failure).map(Err),
    }
}

#[expect(clippy::print_stderr, reason = "this is the command line")]
fn did_not_boot(failure: &BootFailure) -> Result<u8> {
    for line in failure.facts.around(&failure.console) {
        eprintln!("{line}");
    }
    eprintln!("kiln: {}", failure.trouble);
    Ok(judge::boot::boot_outcome(&failure.trouble).0.exit_code())
}

/// Runs one command; its output is ours, and so is its exit status.
fn one_command(mut machine: Vmm, command: &str, interrupt: &AtomicBool) -> Result<u8> {
    let argv = ["/bin/sh", "-c", command].map(str::to_string).to_vec();
    let request = RunRequest {
        run: 1,
        work: Work::Program(Command::new(argv)),
        limit_ms: LIMIT_MS,
        output_max: u64::MAX,
        seed: 0,
        modules: Vec::new(),
        unsure: Vec::new(),
        needs: Vec::new(),
    };
    machine.tell(&ToAgent::Run(request));
    let mut out = std::io::stdout().lock();
    while !interrupt.load(Ordering::Relaxed) {
        match machine.next(Instant::now() + INTERVAL) {
            Event::Agent(FromAgent::Output { text, .. }) => {
                match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                    // A reader that has gone away has seen what it wanted.
                    Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(0),
                    other => other?,
                }
            }
            Event::Agent(FromAgent::Finished { end, .. }) => {
                Box::new(machine).stop();
                return status_of(&end);
            }
            Event::Ended(death) => return Ok(died(death, &machine.console_tail(30))),
            Event::Agent(_) | Event::Console(_) | Event::Stranger(_) | Event::Stopped | Event::Quiet => {}
        }
    }
    Ok(INTERRUPTED)
}

/// Says how the machine died under the command or the shell, and gives the exit code.
#[expect(clippy::print_stderr, reason = "this is the command line")]
fn died(death: Death, console: &[String]) -> u8 {
    let ending = Ending::Died(death);
    let seen = Seen {
        dialect: Dialect::Program,
        limit: Duration::MAX,
        starved: false,
        output: "",
        expects: &[],
        ending: &ending,
        reports: &[],
        kernel_reports: &[],
        console,
    };
    let judgement = judge(&seen);
    for line in &judgement.evidence {
        eprintln!("{line}");
    }
    eprintln!("kiln: {}", judgement.reason);
    judgement.outcome.exit_code()
}

/// The exit code of the command itself, which is then named.
#[expect(clippy::print_stderr, reason = "this is the command line")]
fn status_of(end: &End) -> Result<u8> {
    let code = match end {
        End::Exited(code) => *code,
        // As a shell gives it: 128 and the signal.
        End::Signalled(signal) => 128 + signal,
        End::TimedOut { .. } | End::NotStarted(_) => bail!("the command could not be run: {end:?}"),
    };
    if code != 0 {
        eprintln!("kiln: exit status {code} is the command's");
    }
    Ok(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Connects the user's terminal with the console until the shell ends.
fn interactive(mut machine: Vmm, interrupt: &AtomicBool) -> Result<u8> {
    let resized = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGWINCH, Arc::clone(&resized)).context("signals")?;
    let leave = Arc::new(AtomicBool::new(false));
    let raw = RawTerminal::enter().context("terminal")?;
    machine.show_console(Box::new(std::io::stdout()));
    let (rows, columns) = size();
    let term = std::env::var("TERM").unwrap_or_else(|_| "vt100".to_string());
    machine.tell(&ToAgent::Shell { argv: vec!["/bin/sh".to_string()], term, rows, columns });
    pass_keys(machine.console_input()?, Arc::clone(&leave));
    let end = follow(&mut machine, interrupt, &resized, &leave);
    drop(raw);
    match end {
        Left::Ended(end) => {
            Box::new(machine).stop();
            status_of(&end)
        }
        // The console has been seen.
        Left::Died(death) => Ok(died(death, &[])),
        Left::ByUser if interrupt.load(Ordering::Relaxed) => Ok(INTERRUPTED),
        Left::ByUser => {
            // The user's own prompt begins on a line of its own.
            print("\n")?;
            Ok(0)
        }
    }
}

/// How a shell was left.
enum Left {
    ByUser,
    Ended(End),
    Died(Death),
}

/// Waits for the end of the shell.
fn follow(machine: &mut Vmm, interrupt: &AtomicBool, resized: &AtomicBool, leave: &AtomicBool) -> Left {
    while !interrupt.load(Ordering::Relaxed) && !leave.load(Ordering::Relaxed) {
        if resized.swap(false, Ordering::Relaxed) {
            let (rows, columns) = size();
            machine.tell(&ToAgent::Resize { rows, columns });
        }
        match machine.next(Instant::now() + INTERVAL) {
            Event::Agent(FromAgent::ShellEnded { end }) => return Left::Ended(end),
            Event::Ended(death) => return Left::Died(death),
            Event::Agent(_) | Event::Console(_) | Event::Stranger(_) | Event::Stopped | Event::Quiet => {}
        }
    }
    Left::ByUser
}

/// Passes what is typed on to the console, until the keys for leaving.
fn pass_keys(mut console: UnixStream, leave: Arc<AtomicBool>) {
    let is_terminal = std::io::stdin().is_terminal();
    std::thread::spawn(move || {
        let mut keys = Keys::default();
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = std::io::stdin().read(&mut buffer) {
            let (passed, left) = keys.feed(&buffer[..count]);
            if console.write_all(&passed).is_err() || left {
                leave.store(left, Ordering::Relaxed);
                return;
            }
        }
        if !is_terminal {
            // The end of a file is the end of the terminal's input: Ctrl-D.
            let _ = console.write_all(&[4]);
        }
    });
}

/// Finds the keys for leaving in what is typed.
#[derive(Debug, Default)]
struct Keys {
    escaped: bool,
}

impl Keys {
    /// What goes to the console, and whether the user leaves.
    fn feed(&mut self, bytes: &[u8]) -> (Vec<u8>, bool) {
        let mut passed = Vec::new();
        for &byte in bytes {
            match (std::mem::take(&mut self.escaped), byte) {
                (false, ESCAPE) => self.escaped = true,
                (true, LEAVE) => return (passed, true),
                (true, b'a' | ESCAPE) => passed.push(ESCAPE),
                (true, _) => passed.extend([ESCAPE, byte]),
                (false, _) => passed.push(byte),
            }
        }
        (passed, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_for_leaving_are_found_also_when_typed_slowly() {
        let mut keys = Keys::default();
        assert_eq!(keys.feed(b"ls\r\x01"), (b"ls\r".to_vec(), false));
        assert_eq!(keys.feed(b"x"), (Vec::new(), true));
    }

    #[test]
    fn other_keys_are_passed_on() {
        let mut keys = Keys::default();
        assert_eq!(keys.feed(b"\x01a\x01\x01\x01bx"), (b"\x01\x01\x01bx".to_vec(), false));
    }
}
