//! The instrument of a machine that measures, started by the agent.

use std::process::ExitCode;

use agent::micro::EXIT_AT_ONCE;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first.as_encoded_bytes() == EXIT_AT_ONCE.to_bytes()) {
        return ExitCode::SUCCESS;
    }
    // The agent says when user space began.
    let began = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    agent::micro::program::run(began).map_or_else(|why| complain(&why), |()| ExitCode::SUCCESS)
}

#[expect(clippy::print_stderr, reason = "the agent passes it on")]
fn complain(text: &str) -> ExitCode {
    eprintln!("{text}");
    ExitCode::FAILURE
}
