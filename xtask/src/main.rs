//! What developers and CI run: `cargo xtask VERB`.
//!
//! * [`ci`]: all that must pass before a change lands
//! * [`proof`]: what takes longer
//! * [`step`]: a thing that must pass, and what it took
//! * [`suite`]: runs the tests
//! * [`measured`]: the CPU time of each test, and which took too much
//! * [`cpu`]: CPU time of other programs
//! * [`dependencies`]: what kiln may depend on
//! * [`tidy`]: what this repository demands of itself beyond rustc and clippy
//! * [`fuzz`]: builds and runs the fuzz targets
//! * [`manual`]: the page that is generated from `--help`
//! * [`program`]: runs other programs

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command line")]

mod ci;
mod cpu;
mod dependencies;
mod fuzz;
mod manual;
mod measured;
mod program;
mod proof;
mod step;
mod suite;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask VERB

  ci                           all checks that must pass before a change lands
  proof                        ci, and the checks that take longer
  proof --resume [STEP...]     those that have not passed on this commit: all, or those whose names begin so
  configurations               kiln build's configurations on two kernels, with planted faults: over an hour
  ltp                          LTP on three kernels, against the tables of docs/ltp.md: over an hour
  tidy                         the rules of this repository
  bench [ROUNDS|checking|comparing|mails|memory|pages|roots|wires]
                               the promises about kiln's own speed and size
  fuzz [TARGET|all [SECONDS]]  the fuzz targets, each for 60 seconds
  manual                       regenerate docs/command-line.md";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<ExitCode> {
    match words {
        ["measured", record, command @ ..] => return measured::run(record, command),
        ["ci"] => ci::ci(),
        ["proof"] => proof::proof(),
        ["proof", "--resume", steps @ ..] => proof::resume(steps),
        ["configurations"] => suite::run_configurations(),
        ["ltp"] => suite::run_ltp(""),
        ["tidy"] => tidy::tidy(),
        ["bench", rounds @ ..] => proof::bench(rounds),
        ["fuzz"] | ["fuzz", "all"] => fuzz::all(fuzz::SECONDS),
        ["fuzz", "all", seconds] => fuzz::all(seconds.parse()?),
        ["fuzz", target] => fuzz::one(target, fuzz::SECONDS),
        ["fuzz", target, seconds] => fuzz::one(target, seconds.parse()?),
        ["manual"] => manual::write(),
        _ => bail!("{USAGE}"),
    }?;
    Ok(ExitCode::SUCCESS)
}
