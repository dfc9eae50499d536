//! What kiln's own tools take that look into the kernel, beside the same in bpftrace's language.

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::kiln::{Kiln, PROGRAM, run};
use crate::promise::Promise;
use crate::race::{Racer, race, table};

/// Opens a file and reads it byte by byte, again and again.
const LOAD: &str = "i=0; while [ $i -lt 300 ]; do read x < /proc/version; i=$((i+1)); done";

/// The same functions, counted by both.
const FUNCCOUNT: [&str; 4] = ["--tool", "funccount", "--functions", "vfs_*"];
const FUNCTIONS: [&str; 2] = ["-e", "kprobe:vfs_* { @[func] = count(); }"];

/// The same files, listed by both: the second by the script of bpftrace's package.
const OPENSNOOP: [&str; 2] = ["--tool", "opensnoop"];
const OPENS: [&str; 2] = ["--script", "/usr/sbin/opensnoop.bt"];

/// Times and promises, in so many rounds. A machine boots for each: the difference is what compiling and attaching takes.
pub(crate) fn measure(kiln: &Kiln, rounds: usize) -> Result<(String, Vec<Promise>)> {
    let inside = ["--in", kiln.locator()];
    let mut racers = [
        Racer::new("kiln probe, opensnoop", || probe(&OPENSNOOP, &[])),
        Racer::new("bpftrace, opensnoop.bt", || probe(&OPENS, &[])),
        Racer::new("kiln probe, funccount in a machine", || probe(&FUNCCOUNT, &inside)),
        Racer::new("bpftrace, kprobe:vfs_* in a machine", || probe(&FUNCTIONS, &inside)),
    ];
    race(&mut racers, rounds)?;
    let [opensnoop, opens, funccount, functions] = &racers;
    let promises =
        vec![Promise::ratio(opensnoop, opens, Some(1.0)), Promise::ratio(funccount, functions, Some(1.0))];
    Ok((table(&racers), promises))
}

fn probe(what: &[&str], place: &[&str]) -> Result<()> {
    let mut command = Command::new(PROGRAM);
    command.arg("probe").args(what).args(place).args(["--exec", "sh", "--", "-c", LOAD]);
    run(command.stdout(Stdio::null()))
}
