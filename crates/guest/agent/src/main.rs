//! `/init` of the machine; under the name `kiln-report`, the reporter for scripts; under `kiln-case`, what runs a case
//! by hand.

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
        Some("kiln-case") => return exit(agent::init::by_hand::command(rest)),
        _ => {}
    }
    if std::process::id() == 1 {
        agent::init::run();
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
