//! What sampling a program takes, beside perf.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::compiler::compile;
use crate::kiln::{PROGRAM, run};
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// Calls itself some hundred million times: seconds in calls upon calls.
const SOURCE: &str = "__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n\
    int main(void) { return fib(41) == 0; }\n";

/// Nanoseconds from sample to sample: kiln's own.
const PERIOD: &str = "1003009";

/// Times and promises, in so many rounds. perf only records; kiln names the functions, too.
pub(crate) fn measure(rounds: usize) -> Result<(String, Vec<Promise>)> {
    let place = tempfile::tempdir()?;
    let program = compile(place.path(), "calling", SOURCE, &[])?;
    let data = place.path().join("perf.data");
    let mut racers = [
        Racer::new("a program that calls, not sampled", || run(&mut Command::new(&program))),
        Racer::new("kiln sample", || {
            let mut command = Command::new(PROGRAM);
            run(command.args(["sample", "--exec"]).arg(&program).stdout(Stdio::null()))
        }),
        Racer::new("perf record, with copies of the stack", || perf(&program, &data)),
    ];
    race(&mut racers, rounds)?;
    let [alone, kiln, perf] = &racers;
    let promises = vec![
        Promise::ratio(kiln, perf, Some(1.0)),
        Promise::ratio(kiln, alone, None),
        Promise::ratio(perf, alone, None),
    ];
    Ok((table(&racers), promises))
}

fn perf(program: &Path, data: &Path) -> Result<()> {
    let mut command = Command::new("perf");
    command.args(["record", "--quiet", "--event", "cpu-clock", "--count", PERIOD]);
    run(command.args(["--call-graph", "dwarf,8192", "--output"]).arg(data).arg(program))
}
