//! `kiln observe`: what processes of this host do.
//!
//! * [`job`]: a program and all that it starts
//! * [`forks`]: all processes, through the process connector
//! * [`look`]: processes that run already

mod forks;
mod job;
mod look;

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;

use crate::cli::{Observe, ObserveVerb};
use crate::failure::WrongUsage;

/// Observes and gives the exit code.
pub(crate) fn observe(args: &Observe) -> Result<u8> {
    match &args.verb {
        None => job::observe(&args.job),
        Some(ObserveVerb::Forks(forks)) => forks::forks(forks),
        Some(ObserveVerb::Stacks(process)) => look::stacks(process),
        Some(ObserveVerb::Locks(process)) => look::locks(process),
        Some(ObserveVerb::Deadlocks(deadlocks)) => look::deadlocks(deadlocks),
    }
}

/// A program or a process that is not there is a mistake of the user.
fn refused(error: observe::Error) -> anyhow::Error {
    match error {
        observe::Error::Program(..) | observe::Error::NoProcess(_) => WrongUsage(error.to_string()).into(),
        other => other.into(),
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
