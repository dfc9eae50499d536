//! `/init` of the machine; under the name `kiln-report`, the reporter for scripts; under `kiln-checkpoint`, where they
//! wait for each other; under `kiln-case`, what runs a case in the foreground.
//!
//! * [`init`]: process 1, which serves the host
//! * [`session`]: waits for the control port ([`port`]), the kernel log ([`kernel_log`]) and children at once
//! * [`work`]: runs a case or a program; [`launch`] is its part in the child process, [`results`] its results page
//! * [`recording`]: what the kernel does meanwhile; [`marks`]: what is said there
//! * [`leftovers`]: removes what a case left behind; [`settle`]: lets the kernel do what a case has put off;
//!   [`processes`] lists and kills processes
//! * [`shell`]: gives the console to a shell
//! * [`instrument`]: a machine that measures
//! * [`standalone`]: a run without a host beside the machine, reported as [`text`]
//! * [`foreground`]: a case that a person runs in a shell
//! * [`mounts`]: what an init mounts; [`environment`]: what else programs expect of a machine; [`wake`] gives a clone a clock and random numbers of its own
//! * [`root`]: a user space that programs see instead of the agent's files; [`inside`]: files in it; [`services`]: its init
//! * [`window`]: makes the files that the host sends to a machine that is up
//! * [`system`]: facts of the running kernel, and the end of the machine

mod devices;
mod environment;
mod foreground;
mod init;
mod inside;
mod instrument;
mod interface;
mod jobs;
mod kernel_log;
mod launch;
mod leftovers;
mod marks;
mod mounts;
mod port;
mod processes;
mod recording;
mod results;
mod root;
mod services;
mod session;
mod settle;
mod shell;
mod standalone;
mod system;
mod text;
mod wake;
mod window;
mod work;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use protocol::{catalogue, measure};

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let (name, rest) = arguments.split_first().map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
    match Path::new(name).file_name().and_then(|name| name.to_str()) {
        Some("kiln-report") => return exit(harness::page::report_command(rest).map(|()| 0)),
        Some("kiln-checkpoint") => return exit(harness::checkpoint::command(rest).map(|()| 0)),
        Some("kiln-case") => return exit(foreground::command(rest)),
        _ => {}
    }
    if std::process::id() == 1 {
        init::run();
    }
    if rest.first().is_some_and(|first| first == catalogue::ARGUMENT) {
        return exit(write_catalogue().map(|()| 0));
    }
    complain("this program is process 1 of kiln's machines");
    ExitCode::from(2)
}

fn write_catalogue() -> Result<(), String> {
    let bytes = measure::encode(&cases::catalogue()).map_err(|error| error.to_string())?;
    std::io::stdout().write_all(&bytes).map_err(|error| error.to_string())
}

/// The exit code of a command, or that of wrong usage after a complaint.
fn exit(outcome: Result<u8, String>) -> ExitCode {
    outcome.map_or_else(
        |text| {
            complain(&text);
            ExitCode::from(2)
        },
        ExitCode::from,
    )
}

#[expect(clippy::print_stderr, reason = "this is the command line of the agent")]
fn complain(text: &str) {
    eprintln!("{text}");
}
