//! `kiln observe`: what processes of this host do.
//!
//! * [`job`]: a program and all that it starts
//! * [`forks`]: all processes, through the process connector
//! * [`look`]: processes that run already
//! * [`tasks`]: those of a kernel in a dump of its memory

mod forks;
mod job;
mod look;
mod tasks;

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;
use observe::Job;

use crate::cli::{AtTheEnd, Observe, ObserveVerb};
use crate::failure::{WrongUsage, complain};

/// Observes and gives the exit code.
pub(crate) fn observe(args: &Observe) -> Result<u8> {
    match &args.verb {
        None => job::observe(&args.job),
        Some(ObserveVerb::Forks(forks)) => forks::forks(forks),
        Some(ObserveVerb::Stacks(process)) => look::stacks(process),
        Some(ObserveVerb::Locks(process)) => look::locks(process),
        Some(ObserveVerb::Deadlocks(deadlocks)) => look::deadlocks(deadlocks),
        Some(ObserveVerb::Tasks(args)) => tasks::tasks(args),
    }
}

/// A program or a process that is not there is a mistake of the user.
fn refused(error: observe::Error) -> anyhow::Error {
    match error {
        observe::Error::Program(..) | observe::Error::NoProcess(_) => WrongUsage(error.to_string()).into(),
        other => other.into(),
    }
}

/// Shows what the user wants to see at the end.
fn show(wanted: &AtTheEnd, job: &Job) {
    if wanted.tree {
        complain(&format!("processes\n{}", report::observe::job::tree(job)));
    }
    if wanted.stats {
        complain(&format!("programs{}", report::observe::job::statistics(job)));
    }
}

/// A program and its arguments.
fn command(program: &[OsString]) -> Result<Command> {
    let Some((program, arguments)) = program.split_first() else {
        return Err(WrongUsage("name a program after --".to_owned()).into());
    };
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}
