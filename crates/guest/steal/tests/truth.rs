//! Loads whose true cost is known, and what the instrument makes of them.
//!
//! ```text
//! cargo test --release --package steal --test truth -- --ignored --nocapture
//! ```

use std::os::unix::process::CommandExt;
use std::process::Command;

use protocol::instrument::Line;
use protocol::steal::{Pass, StealReport, StealRequest};

/// Measurements of each load, with one of the idle load before and after.
const ROUNDS: usize = 31;

/// How long a pass takes, in milliseconds.
const DURATION_MS: u64 = 500;

/// A load with its set-up.
type Loaded = (&'static str, &'static str);

/// Loads that are hardly busy, and the same with a known busy time: what an interrupt or a packet costs besides is in both.
/// Interrupts are few and long, since under a hypervisor their own cost differs by some microseconds.
const LOADS: [(Loaded, Loaded); 4] = [
    (("timer:hz=200,busy=1ns", "rps=1"), ("timer:hz=200,busy=1000us", "rps=1")),
    (("timer:hz=400,busy=1ns", "rps=1"), ("timer:hz=400,busy=1000us", "rps=1")),
    (("net:udp,pps=400", "xdp=busy:1ns"), ("net:udp,pps=400", "xdp=busy:500us")),
    (("net:udp,pps=800", "xdp=busy:1ns"), ("net:udp,pps=800", "xdp=busy:500us")),
];

/// The true cost may be missed by so much of it.
const ERROR: f64 = 0.02;

#[test]
#[ignore = "needs root and real-time priority, and takes minutes"]
fn compared_with_the_known_cost() {
    println!("{:<40}  {:>8}  {:>8}  {:>8}", "load", "true", "gaps", "ratio");
    for (idle, busy) in LOADS {
        let name = format!("{} {}", busy.0, busy.1);
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            let (truth, gaps) = costs(idle, busy);
            println!("{name:<40}  {truth:>8.4}  {gaps:>8.4}  {:>8.4}", gaps / truth);
            ratios.push(gaps / truth);
        }
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        println!("{name:<40}  {:>8}  {:>8}  {median:>8.4}", "", "median");
        assert!((median - 1.0).abs() <= ERROR, "{name}: {ratios:?}");
    }
}

/// The true cost of a busy load, and what gaps say, as shares of the CPU.
fn costs(idle: Loaded, busy: Loaded) -> (f64, f64) {
    let stolen = |pass: &Pass| pass.stolen_by_gaps().expect("it is the probe's");
    let known = |pass: &Pass| pass.load_busy().expect("the load knows it");
    let (before, with, after) = (pass(idle), pass(busy), pass(idle));
    let base = f64::midpoint(stolen(&before), stolen(&after));
    let truth = known(&with) - f64::midpoint(known(&before), known(&after));
    // What the load takes while another thread runs is taken from that.
    (truth, (stolen(&with) - base) / (1.0 - base))
}

/// A pass of the probe before which no ordinary thread runs.
fn pass((load, setup): Loaded) -> Pass {
    let request = StealRequest {
        load: load.parse().ok(),
        setup: setup.parse().expect("it is one"),
        duration_ms: DURATION_MS,
        trace: false,
        ..StealRequest::default()
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_steal"));
    command.arg(serde_json::to_string(&request).expect("plain data"));
    // SAFETY: between fork and exec only a system call is made.
    unsafe { command.pre_exec(real_time) };
    let output = command.output().expect("the program starts");
    let line = output.stdout.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).expect("it reports");
    match serde_json::from_slice(line).expect("it is valid") {
        Line::<StealReport>::Done(report) => report.sides[0].passes[0].clone(),
        other => panic!("{other:?}"),
    }
}

fn real_time() -> std::io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 50 };
    // SAFETY: the parameters are valid; 0 is this process.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
