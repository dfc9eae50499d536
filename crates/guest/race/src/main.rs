//! The instrument `race`: see [`protocol::instrument`].

use std::process::ExitCode;

fn main() -> ExitCode {
    harness::instrument::run(|request, listener| race::program::carry_out(&request, listener))
}
