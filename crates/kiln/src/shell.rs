//! `kiln shell`: an interactive shell in the guest, or one command.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use judge::Judgement;
use lab::shell::{Action, Left, PreparedShell, Shell, Terminal};
use protocol::End;
use signal_hook::consts::SIGWINCH;

use crate::cli::ShellVerb;
use crate::find::preparing;
use crate::input::Input;
use crate::listeners::print;
use crate::signals;
use crate::terminal::{Progress, RawTerminal, size};
use judge::exit::INTERRUPTED;

/// What leaves the shell, after [`ESCAPE`]: QEMU's own keys.
const LEAVE: u8 = b'x';
const ESCAPE: u8 = 1;

/// The command for a script that is piped or redirected into kiln: it needs no terminal.
const SCRIPT: &str = "exec /bin/sh";

/// Runs a shell and gives the exit code.
#[expect(clippy::print_stderr, reason = "this is the command line")]
pub(crate) fn shell(args: &ShellVerb) -> Result<u8> {
    let request = args.request();
    let interrupt = signals::interrupt_flag().context("signals")?;
    let input = input(request.command.is_some())?;
    let command = request.command.as_deref().or_else(|| input.is_some().then_some(SCRIPT));
    let prepared = preparing(&interrupt, |context| PreparedShell::new(&request, context))?;
    let prepared = match input {
        Some(input) => prepared.with_input(input),
        None => prepared,
    };
    match (open(&prepared, &interrupt)?, command) {
        (Ok(shell), Some(command)) => one_command(shell, command, &interrupt),
        (Ok(shell), None) => {
            if io::stdin().is_terminal() {
                eprintln!("kiln: Ctrl-A x exits");
            }
            interactive(shell, &interrupt)
        }
        (Err(left), _) => exit_code(left),
    }
}

/// What is piped or redirected into the command; without one, it is a script.
#[expect(clippy::print_stderr, reason = "this is the command line")]
fn input(has_command: bool) -> Result<Option<Vec<u8>>> {
    match Input::read()? {
        Input::Bytes(bytes) => Ok(Some(bytes)),
        // A shell whose input has ended ends at once.
        Input::Nothing if !has_command && !io::stdin().is_terminal() => Ok(Some(Vec::new())),
        Input::Nothing => Ok(None),
        // Somebody types into it.
        Input::Silent if !has_command => Ok(None),
        Input::Silent => {
            eprintln!("kiln: standard input is a pipe with nothing in it yet: the command does not get it");
            Ok(None)
        }
    }
}

/// Opens a shell in the machine of a run, where `kiln-case` runs what waits there, and gives the exit code.
pub(crate) fn at_hand(prepared: &PreparedShell, greeting: &str) -> Result<u8> {
    let interrupt = signals::interrupt_flag().context("signals")?;
    match open(prepared, &interrupt)? {
        Ok(shell) => {
            print(greeting)?;
            interactive(shell, &interrupt)
        }
        Err(left) => exit_code(left),
    }
}

/// A machine that is up, while the user looks on.
#[expect(clippy::print_stderr, reason = "this is the command line")]
fn open(prepared: &PreparedShell, interrupt: &AtomicBool) -> Result<Result<Shell, Left>> {
    let mut progress = Progress::new();
    let opened = prepared.open(interrupt, &mut |line| progress.show(line))?;
    drop(progress);
    let note = opened.as_ref().ok().and_then(Shell::note);
    note.into_iter().for_each(|note| eprintln!("kiln: note: {}", report::safe(note)));
    Ok(opened)
}

/// Runs one command; its output is ours, and so is its exit status.
fn one_command(shell: Shell, command: &str, interrupt: &AtomicBool) -> Result<u8> {
    match shell.command(command, interrupt, &mut io::stdout().lock()) {
        // A reader that has gone away has seen what it wanted.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        left => exit_code(left?),
    }
}

/// The exit code; of the command itself, or of the shell, which is then named.
#[expect(clippy::print_stderr, reason = "this is the command line")]
fn exit_code(left: Left) -> Result<u8> {
    match left {
        Left::ByUser => Ok(INTERRUPTED),
        Left::Ended(end) => status_of(&end),
        Left::Died(judgement) => {
            let Judgement { evidence, reason, outcome, .. } = *judgement;
            evidence.iter().for_each(|line| eprintln!("{line}"));
            eprintln!("kiln: {reason}");
            Ok(outcome.exit_code())
        }
    }
}

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
fn interactive(mut shell: Shell, interrupt: &AtomicBool) -> Result<u8> {
    let resized = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGWINCH, Arc::clone(&resized)).context("signals")?;
    let leave = Arc::new(AtomicBool::new(false));
    let raw = RawTerminal::enter().context("terminal")?;
    let term = std::env::var("TERM").unwrap_or_else(|_| "vt100".to_string());
    let console = shell.interact(Terminal { screen: Box::new(io::stdout()), term, size: size() })?;
    pass_keys(console, Arc::clone(&leave));
    let left = shell.follow(&mut || {
        if interrupt.load(Ordering::Relaxed) || leave.load(Ordering::Relaxed) {
            return Action::Leave;
        }
        let (rows, columns) = size();
        if resized.swap(false, Ordering::Relaxed) { Action::Resize(rows, columns) } else { Action::Continue }
    });
    drop(raw);
    match left {
        Left::ByUser if !interrupt.load(Ordering::Relaxed) => {
            // The user's own prompt begins on a line of its own.
            print("\n")?;
            return Ok(0);
        }
        Left::Ended(_) => shell.close(),
        Left::ByUser | Left::Died(_) => {}
    }
    exit_code(left)
}

/// Passes what is typed on to the console, until the keys for leaving.
fn pass_keys(mut console: UnixStream, leave: Arc<AtomicBool>) {
    let is_terminal = io::stdin().is_terminal();
    std::thread::spawn(move || {
        let mut keys = Keys::default();
        let mut buffer = [0; 1024];
        while let Ok(count @ 1..) = io::stdin().read(&mut buffer) {
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
