//! The instrument of a machine that measures, started by the agent.

use std::io::Write;
use std::process::ExitCode;

use micro::EXIT_AT_ONCE;
use protocol::{catalogue, measure};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first.as_encoded_bytes() == EXIT_AT_ONCE.to_bytes() {
        return ExitCode::SUCCESS;
    }
    let done = match first.to_str() {
        Some(catalogue::ARGUMENT) => write_catalogue(),
        // The agent says when user space began, and of a root what keeps programs from it.
        began => {
            let hindrance = arguments.next().map(|text| text.to_string_lossy().into_owned());
            micro::program::run(began.and_then(|text| text.parse().ok()).unwrap_or(0), hindrance.as_deref())
        }
    };
    done.map_or_else(|why| complain(&why), |()| ExitCode::SUCCESS)
}

fn write_catalogue() -> Result<(), String> {
    let bytes = measure::encode(&micro::catalogue()).map_err(|error| error.to_string())?;
    std::io::stdout().write_all(&bytes).map_err(|error| error.to_string())
}

#[expect(clippy::print_stderr, reason = "the agent passes it on")]
fn complain(text: &str) -> ExitCode {
    eprintln!("{text}");
    ExitCode::FAILURE
}
