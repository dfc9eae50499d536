//! What developers and CI run: `cargo xtask VERB`.
//!
//! * [`ci`]: all that must pass before a change lands; [`proof`](ci::proof): what takes longer
//! * [`tidy`]: what this repository demands of itself beyond rustc and clippy
//! * [`fuzz`]: builds and runs the fuzz targets
//! * [`manual`]: the page that is generated from `--help`
//! * [`program`]: runs other programs

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a command line")]

mod ci;
mod fuzz;
mod manual;
mod program;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask VERB

  ci                       all that must pass before a change lands
  proof                    ci, and what takes longer
  tidy                     what this repository demands of itself
  bench [ROUNDS|comparing] what kiln promises about its own speed and size
  fuzz [TARGET [SECONDS]]  the fuzz targets, each for 60 seconds
  manual                   write docs/command-line.md anew";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        ["ci"] => ci::ci(),
        ["proof"] => ci::proof(),
        ["tidy"] => tidy::tidy(),
        ["bench", rounds @ ..] => ci::bench(rounds),
        ["fuzz"] => fuzz::all(fuzz::SECONDS),
        ["fuzz", target] => fuzz::one(target, fuzz::SECONDS),
        ["fuzz", target, seconds] => fuzz::one(target, seconds.parse()?),
        ["manual"] => manual::write(),
        _ => bail!("{USAGE}"),
    }
}
