//! Gives the console to a shell.

use std::os::unix::process::CommandExt;
use std::path::Path;

use protocol::{Command, End, FromAgent, ToAgent};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::session::Session;
use crate::system::power_off;
use crate::{processes, root, work};
use harness::child::{exit, fork};

const CONSOLE: &str = "/dev/ttyS0";

/// What every machine should have.
const SHELL: &str = "/bin/sh";

/// Where a shell begins unless another directory was asked for; a root may lack it.
const HOME: &str = "/root";

/// The size of a terminal.
pub(crate) fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Runs a shell on the console until it ends.
pub(crate) fn run(session: &mut Session, shell: &Command, term: &str, size: Winsize) {
    let end = match start(shell, term, size) {
        Ok((pid, console)) => follow(session, pid, &console),
        Err(error) => End::NotStarted(format!("{CONSOLE}: {error}")),
    };
    processes::kill_all();
    session.forward_whole_log();
    session.send(&FromAgent::ShellEnded { end });
}

fn follow(session: &mut Session, pid: rustix::process::Pid, console: &OwnedFd) -> End {
    loop {
        if let Some(end) = work::reap(pid) {
            // The last words must have left the machine before its end is announced.
            let _ = rustix::termios::tcdrain(console);
            return end;
        }
        for message in session.wait(&[], None).messages {
            match message {
                ToAgent::Resize { rows, columns } => {
                    // A size that the console does not take leaves the old one.
                    let _ = tcsetwinsize(console, self::size(rows, columns));
                }
                ToAgent::PowerOff => power_off(),
                ToAgent::Ping { .. }
                | ToAgent::Start { .. }
                | ToAgent::Unpack { .. }
                | ToAgent::Run(_)
                | ToAgent::TimeUp { .. }
                | ToAgent::Do { .. }
                | ToAgent::Shell { .. } => {}
            }
        }
    }
}

fn start(shell: &Command, term: &str, size: Winsize) -> std::io::Result<(rustix::process::Pid, OwnedFd)> {
    let console = rustix::fs::open(CONSOLE, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    tcsetwinsize(&console, size)?;
    let mut mode = tcgetattr(&console)?;
    // The machine's end of the line starts raw; a person expects echo and line editing.
    mode.local_modes.insert(cooked_local());
    mode.input_modes.insert(rustix::termios::InputModes::ICRNL);
    mode.output_modes.insert(rustix::termios::OutputModes::OPOST | rustix::termios::OutputModes::ONLCR);
    tcsetattr(&console, OptionalActions::Now, &mode)?;
    match fork()? {
        Some(pid) => Ok((pid, console)),
        None => exit(in_child(shell, term, &console)),
    }
}

fn cooked_local() -> rustix::termios::LocalModes {
    use rustix::termios::LocalModes as Local;
    Local::ECHO | Local::ECHOE | Local::ECHOK | Local::ICANON | Local::ISIG | Local::IEXTEN
}

fn in_child(shell: &Command, term: &str, console: &OwnedFd) -> i32 {
    let taken = rustix::process::setsid()
        .and_then(|_| rustix::process::ioctl_tiocsctty(console))
        .and_then(|()| rustix::stdio::dup2_stdin(console))
        .and_then(|()| rustix::stdio::dup2_stdout(console))
        .and_then(|()| rustix::stdio::dup2_stderr(console));
    let Some((program, arguments)) = shell.argv.split_first() else { return processes::NOT_FOUND };
    if taken.is_err() {
        return processes::NOT_EXECUTABLE;
    }
    if let Err(stop) = root::enter() {
        // There is nobody else whom it could be shown to.
        let _ = rustix::io::write(console, format!("{}\n", stop.0.text).as_bytes());
        return processes::NOT_EXECUTABLE;
    }
    processes::unblock_signals();
    let program = if Path::new(program).exists() { program } else { SHELL };
    let error = std::process::Command::new(program)
        .args(arguments)
        .env("TERM", term)
        .env("PS1", "\\w # ")
        .current_dir(first_directory([&shell.directory, HOME]))
        .exec();
    processes::status_of(&error)
}

/// The first of these that is there.
fn first_directory(wanted: [&str; 2]) -> &str {
    wanted.into_iter().find(|path| Path::new(path).is_dir()).unwrap_or("/")
}
