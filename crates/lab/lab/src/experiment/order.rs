//! What the agent is asked for a script, and what becomes of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use console::Death;
use judge::Blame;
use protocol::job::{Order, Task};
use protocol::{Command, End, ToAgent};
use script::{CommandResult, ErrorName, Trouble};

use super::guest::Guest;
use super::transcript::{Failed, WaitLimits};

/// How long the agent may take for what it does at once, and for a file, on an idle host without emulation.
pub(super) const SOON: Duration = Duration::from_secs(30);

/// How long a command may take whose script does not say it.
pub(super) const USUAL: Duration = Duration::from_secs(600);

/// What a shell gives as its standard output and error, at most, in bytes.
const OUTPUT_MAX: u64 = 4 << 20;

/// SIGKILL of signal(7).
pub(super) const KILL: i32 = 9;

/// Permissions of files that a script makes.
pub(super) const PERMISSIONS: u32 = 0o755;

/// What a task takes of a message, about, in bytes.
fn length(task: &Task) -> usize {
    match task {
        Task::Program(command) => {
            let environment = command.environment.iter().map(|(name, value)| name.len() + value.len());
            command.argv.iter().map(String::len).chain(environment).sum()
        }
        Task::Read { path } | Task::Write { path, .. } => path.len(),
    }
}

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) output: Vec<u8>,
    pub(super) end: End,
    pub(super) duration: Duration,
}

impl Ended {
    /// How the command ended, or why it never began.
    pub(super) fn result(self) -> Result<CommandResult, Trouble> {
        let Self { output, end, duration } = self;
        let result = CommandResult { output, duration, ..CommandResult::default() };
        match end {
            End::Exited(status) => Ok(CommandResult { status: Some(status), ..result }),
            End::Signalled(signal) => Ok(CommandResult { signal: Some(signal), ..result }),
            End::NotStarted(why) => Err(Trouble::new(ErrorName::Stopped, why)),
            End::TimedOut { .. } => {
                Err(Trouble::broken(Blame::Kiln, "the agent sets no limit for commands of a script"))
            }
        }
    }
}

impl Guest {
    /// A command for the shell of the root, or busybox's.
    pub(super) fn shell(&self, command: &str, environment: &BTreeMap<String, String>) -> Command {
        let argv = ["/bin/sh", "-c", command].map(str::to_string).to_vec();
        let environment = environment.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Command { directory: self.directory.clone(), environment, ..Command::new(argv) }
    }

    /// Asks the agent for something; gives the number of its answer.
    pub(super) fn send_order(&self, order: Order) -> Result<u32, Trouble> {
        let number = self.number();
        self.send(ToAgent::Do { number, order }).map(|()| number)
    }

    /// Has the agent do something that it answers at once.
    pub(super) fn order(&self, order: Order, cancelled: &dyn Fn() -> bool) -> Result<u32, Trouble> {
        let number = self.send_order(order)?;
        let limits = self.limits(SOON, cancelled);
        let answer = self.transcript.wait(&limits, |state| state.history.commands.answers.remove(&number));
        match answer.map_err(|failed| self.trouble(failed))? {
            None => Ok(number),
            Some(why) => Err(Trouble::new(ErrorName::Refused, why)),
        }
    }

    /// Starts a command or a file; gives its number.
    pub(super) fn begin(
        &self,
        task: Task,
        input: Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<u32, Trouble> {
        let longest = self.piece_max();
        if input.len().max(length(&task)) > longest {
            let text = format!("a command has at most {} KiB, and so has its standard input", longest >> 10);
            return Err(Trouble::new(ErrorName::Refused, text));
        }
        let job = self.order(Order::Start { task, input, output_max: OUTPUT_MAX }, cancelled)?;
        // One that has said nothing yet ends with its machine, too.
        self.transcript.lock().history.commands.jobs.entry(job).or_default();
        Ok(job)
    }

    /// Waits for the end of a command. One that takes too long is still there afterwards.
    pub(super) fn end_of(
        &self,
        job: u32,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Ended, Trouble> {
        let began = Instant::now();
        let limits = self.limits(limit, cancelled);
        let ended = self.transcript.wait(&limits, |state| {
            let found = state.history.commands.jobs.get(&job)?;
            Some((found.output.clone(), found.end.clone()?))
        });
        let (output, end) = ended.map_err(|failed| match failed {
            Failed::Late => {
                let text = format!("the command did not end within {} s", limit.as_secs_f64());
                Trouble::new(ErrorName::Timeout, text)
            }
            failed => self.trouble(failed),
        })?;
        Ok(Ended { output, end, duration: began.elapsed() })
    }

    /// Runs a command to its end, and ends it when its time is over.
    pub(super) fn run(
        &self,
        command: Command,
        input: Vec<u8>,
        limit: Duration,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Ended, Trouble> {
        let job = self.begin(Task::Program(command), input, cancelled)?;
        let ended = self.end_of(job, limit, cancelled);
        if ended.as_ref().is_err_and(|trouble| trouble.name == ErrorName::Timeout) {
            // What it leaves behind would disturb what comes next.
            self.order(Order::Signal { job, signal: KILL }, cancelled)?;
        }
        ended
    }

    /// Reads a file, or writes one; an error of the file is one of the kernel's answers.
    pub(super) fn file(
        &self,
        task: Task,
        input: Vec<u8>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, Trouble> {
        let path = match &task {
            Task::Read { path } | Task::Write { path, .. } => path.clone(),
            Task::Program(_) => String::new(),
        };
        let job = self.begin(task, input, cancelled)?;
        let ended = self.end_of(job, SOON, cancelled)?;
        match ended.end {
            End::Exited(0) => Ok(ended.output),
            End::Exited(number) => {
                let why = std::io::Error::from_raw_os_error(number);
                Err(Trouble::new(ErrorName::Refused, format!("{path}: {why}")))
            }
            End::Signalled(signal) => {
                Err(Trouble::new(ErrorName::Signal, format!("{path}: signal {signal} ended it")))
            }
            End::NotStarted(why) => Err(Trouble::new(ErrorName::Stopped, why)),
            End::TimedOut { .. } => Err(Trouble::broken(Blame::Kiln, "a file has no limit of its own")),
        }
    }

    /// Writes a file in as many pieces as it takes.
    pub(super) fn put(
        &self,
        (path, for_agent): (&str, bool),
        content: &[u8],
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Trouble> {
        let mut append = false;
        let mut pieces = content.chunks(self.piece_max());
        loop {
            let piece = pieces.next();
            if piece.is_none() && append {
                return Ok(());
            }
            let task = Task::Write { path: path.to_string(), append, permissions: PERMISSIONS, for_agent };
            self.file(task, piece.unwrap_or_default().to_vec(), cancelled)?;
            append = true;
        }
    }

    pub(super) fn limits<'a>(&self, limit: Duration, is_cancelled: &'a dyn Fn() -> bool) -> WaitLimits<'a> {
        let deadline = Instant::now() + self.timeouts.stretch(limit);
        WaitLimits { deadline, silence: Some(self.timeouts.stretch(SILENCE)), is_cancelled }
    }

    /// The end of a machine whose program has ended.
    pub(super) fn death(&self, cancelled: &dyn Fn() -> bool) -> Trouble {
        let died = self.transcript.wait(&self.limits(SOON, cancelled), |_| None::<()>);
        died.map_or_else(|failed| self.trouble(failed), |()| of_death(Death::PoweredOff))
    }

    /// What a wait that failed means to a script.
    pub(super) fn trouble(&self, failed: Failed) -> Trouble {
        match failed {
            Failed::Late => Trouble::new(ErrorName::Timeout, "the agent takes too long, and answers"),
            Failed::Silent(silence) => {
                let text = format!("the machine has not answered for {} s", silence.as_secs());
                Trouble::new(ErrorName::Hang, self.examined(&text))
            }
            Failed::Dead(death @ (Death::Panic(_) | Death::Fault(_))) => {
                of_death(death).with_evidence(self.transcript.lock().last_words())
            }
            Failed::Dead(death) => of_death(death),
            Failed::Cancelled => Trouble::new(ErrorName::Stopped, "the experiment is stopped"),
        }
    }
}

/// A machine that is silent for longer does not answer, on an idle host without emulation.
const SILENCE: Duration = Duration::from_secs(10);

/// What the end of a machine means to a script.
pub(super) fn of_death(death: Death) -> Trouble {
    match death {
        Death::Panic(title) => Trouble::new(ErrorName::Crash, title),
        Death::AgentDied(why) => Trouble::broken(Blame::Case, format!("the agent was ended: {why}")),
        Death::Reset | Death::Restarted => Trouble::new(ErrorName::Reboot, "the machine restarted"),
        Death::PoweredOff => Trouble::new(ErrorName::Stopped, "the machine is off"),
        Death::Fault(signal) => {
            Trouble::new(ErrorName::Crash, format!("the kernel was ended by signal {signal}"))
        }
        Death::Broken(why) => Trouble::broken(Blame::Machine, why),
    }
}
