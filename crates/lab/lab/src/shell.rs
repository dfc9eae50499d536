//! A shell in a machine: for a person at a terminal, or for one command.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use judge::boot::boot_judgement;
use judge::parameters;
use judge::{Dialect, Ending, Judgement, Seen, judge};
use kernel::Kernel;
use machine::{BootFailure, BootTrouble, Death, Event, Machine, Spec, Vmm};
use protocol::waiting::FOREGROUND;
use protocol::{Command, End, FromAgent, RunRequest, ToAgent, Work};

use crate::backend::store;
use crate::bundle;
use crate::plan::{Plan, directory};
use crate::prepare::{Alone, Context, Error, user_space};
use crate::request::ShellRequest;
use crate::source::{BootEvent, VmmSource};
use crate::userland;

/// How often the user's actions are looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// A command of the user has all the time it wants: a hundred days.
const LIMIT_MS: u64 = 100 * 24 * 3600 * 1000;

/// Where a command finds its standard input in the machine.
const INPUT: &str = "/kiln/input";

/// A person's shell; the agent takes the first where a root lacks the second.
const SHELL: &str = "/bin/sh";
const SHELL_OF_ROOTS: &str = "/bin/bash";

/// Lines of the console that are shown when the machine dies under a command.
const TAIL: usize = 30;

/// The machine of a shell.
#[derive(Debug)]
pub struct PreparedShell {
    kernel: Kernel,
    spec: Spec,
    has_input: bool,
}

/// A machine that is up, and has a shell.
pub struct Shell {
    machine: Vmm,
    /// What a person talks to.
    program: &'static str,
    /// Where it begins, if not in the usual directory.
    directory: String,
    has_input: bool,
    note: Option<String>,
}

impl std::fmt::Debug for Shell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell").finish_non_exhaustive()
    }
}

/// How a shell was left.
#[derive(Debug)]
pub enum Left {
    /// The user wants to stop.
    ByUser,
    /// The shell or the command ended.
    Ended(End),
    /// The machine did not come up, or died.
    Died(Box<Judgement>),
}

/// The user's terminal.
pub struct Terminal {
    /// Gets what the console says.
    pub screen: Box<dyn Write + Send>,
    /// What kind it is, as `TERM` names it.
    pub term: String,
    /// Its lines and columns.
    pub size: (u16, u16),
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("term", &self.term).field("size", &self.size).finish_non_exhaustive()
    }
}

/// What the user wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Continue,
    /// The terminal has so many lines and columns now.
    Resize(u16, u16),
    /// To leave.
    Leave,
}

impl PreparedShell {
    /// Finds or builds the Kernel.
    ///
    /// # Errors
    ///
    /// When there is none, or the host cannot make its machine.
    pub fn new(request: &ShellRequest, context: &mut Context<'_>) -> Result<Self, Error> {
        let kernel = context.backend.kernel(&request.kernel, &mut context.waiting)?;
        let machine = &request.machine;
        let engine = machine.engine(&kernel)?;
        let mut plan = Plan::nothing("shell", machine.fixed(engine, None)?);
        if let Some(why) = plan.give_devices(&kernel, engine, &machine.hardware)? {
            return Err(Error::Usage(why));
        }
        match user_space::find(machine, context)? {
            Some(root) => {
                if let Some(why) = plan.give_root(&kernel, engine, &root)? {
                    return Err(Error::Usage(why));
                }
            }
            None => drop(userland::ship(&mut plan.payload)?),
        }
        let spec = machine.spec(&plan, engine);
        Ok(Self { kernel, spec, has_input: false })
    }

    /// The same with standard input for a command.
    #[must_use]
    pub fn with_input(mut self, input: Vec<u8>) -> Self {
        self.spec.payload.file(INPUT, input);
        Self { has_input: true, ..self }
    }

    /// A shell in the machine of a Run, where `kiln-case` runs the case.
    ///
    /// # Errors
    ///
    /// When the host has no shell to bring along.
    pub fn beside(alone: Alone) -> Result<Self, Error> {
        let Alone { kernel, mut spec, item, run, settle, .. } = alone;
        spec.payload.file(FOREGROUND, bundle::request(&item, run.seed, item.limit, settle)?);
        if spec.root.is_none() {
            userland::ship(&mut spec.payload)?;
        }
        Ok(Self { kernel, spec, has_input: false })
    }

    /// Starts the machine; `emit` gets lines about that.
    ///
    /// # Errors
    ///
    /// When the host cannot start it. A machine that does not come up is the inner error.
    pub fn open(
        &self,
        interrupt: &AtomicBool,
        emit: &mut dyn FnMut(&str),
    ) -> Result<Result<Shell, Left>, Error> {
        let source = VmmSource::new(&self.spec, &self.kernel, store(), false)?;
        let mut unknown = Vec::new();
        let booted = source.machine(interrupt, &mut |event| match event {
            BootEvent::CommandLine(_) => emit(&format!("booting {}", self.kernel.provenance)),
            BootEvent::Console(line) => {
                unknown.extend(parameters::unknown([line], &self.spec.append));
                emit(line);
            }
        })?;
        let (has_input, note) = (self.has_input, parameters::note(&unknown));
        let program = if self.spec.root.is_some() { SHELL_OF_ROOTS } else { SHELL };
        let directory = self.spec.root.as_deref().map(directory).unwrap_or_default();
        Ok(match booted {
            Ok(booted) => Ok(Shell { machine: booted.machine, program, directory, has_input, note }),
            Err(BootFailure { trouble: BootTrouble::Interrupted, .. }) => Err(Left::ByUser),
            Err(failure) => Err(Left::Died(Box::new(boot_judgement(&failure)))),
        })
    }
}

impl Shell {
    /// What is worth knowing about its machine.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Runs one command and writes what it says to `out`.
    ///
    /// # Errors
    ///
    /// When `out` does not take it.
    pub fn command(mut self, command: &str, interrupt: &AtomicBool, out: &mut dyn Write) -> io::Result<Left> {
        self.machine.send(&ToAgent::Run(request(command, self.directory.clone(), self.has_input)));
        while !interrupt.load(Ordering::Relaxed) {
            match self.machine.next(Instant::now() + INTERVAL) {
                Event::Agent(FromAgent::Output { text, .. }) => {
                    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
                }
                Event::Agent(FromAgent::Finished { end, .. }) => {
                    self.close();
                    return Ok(Left::Ended(end));
                }
                Event::Ended(death) => {
                    return Ok(Left::Died(Box::new(died(death, &self.machine.console_tail(TAIL)))));
                }
                Event::Agent(_)
                | Event::Console(_)
                | Event::Stranger(_)
                | Event::Stopped
                | Event::Hazard(_)
                | Event::Quiet => {}
            }
        }
        Ok(Left::ByUser)
    }

    /// Starts a shell for a person, and gives where to write what is typed.
    ///
    /// # Errors
    ///
    /// When the host refuses.
    pub fn interact(&mut self, terminal: Terminal) -> io::Result<UnixStream> {
        let Terminal { screen, term, size: (rows, columns) } = terminal;
        self.machine.show_console(screen);
        let directory = self.directory.clone();
        let command = Command { directory, ..Command::new(vec![self.program.to_string()]) };
        self.machine.send(&ToAgent::Shell { command, term, rows, columns });
        self.machine.console_input()
    }

    /// Waits for the end of the shell; asks for the user's next `action` all the while.
    pub fn follow(&mut self, action: &mut dyn FnMut() -> Action) -> Left {
        loop {
            match action() {
                Action::Continue => {}
                Action::Resize(rows, columns) => self.machine.send(&ToAgent::Resize { rows, columns }),
                Action::Leave => return Left::ByUser,
            }
            match self.machine.next(Instant::now() + INTERVAL) {
                Event::Agent(FromAgent::ShellEnded { end }) => {
                    self.machine.kill_and_drain();
                    return Left::Ended(end);
                }
                // The console has been seen.
                Event::Ended(death) => return Left::Died(Box::new(died(death, &[]))),
                Event::Agent(_)
                | Event::Console(_)
                | Event::Stranger(_)
                | Event::Stopped
                | Event::Hazard(_)
                | Event::Quiet => {}
            }
        }
    }

    /// Lets the machine power off.
    pub fn close(self) {
        Box::new(self.machine).stop();
    }
}

fn request(command: &str, directory: String, has_input: bool) -> RunRequest {
    let with_input = format!("exec /bin/sh -c \"$1\" <{INPUT}");
    let argv = match has_input {
        true => vec!["/bin/sh", "-c", &with_input, "sh", command],
        false => vec!["/bin/sh", "-c", command],
    };
    let argv = argv.into_iter().map(str::to_string).collect::<Vec<_>>();
    RunRequest {
        run: 1,
        work: Work::Program(Command { directory, ..Command::new(argv) }),
        limit_ms: LIMIT_MS,
        output_max: u64::MAX,
        seed: 0,
        modules: Vec::new(),
        unsure: Vec::new(),
        needs: Vec::new(),
        settle_ms: 0,
        trace: None,
    }
}

/// How the machine died under the command or the shell.
fn died(death: Death, console: &[String]) -> Judgement {
    let ending = Ending::Died(death);
    judge(&Seen {
        dialect: Dialect::Program,
        limit: Duration::MAX,
        starved: false,
        output: "",
        expects: &[],
        ending: &ending,
        reports: &[],
        log: &[],
        lacking: &[],
        kernel_reports: &[],
        console,
    })
}
