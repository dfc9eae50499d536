//! The program beside `cyclictest` of the package rt-tests, which has measured the same for twenty years.
//!
//! ```text
//! cargo test --release --package latency --test cyclictest -- --ignored --nocapture
//! ```

use std::io::Read;
use std::process::{Command, Stdio};

use protocol::instrument::Line;
use protocol::latency::{LatencyReport, LatencyRequest};

/// Rounds, in each of which all take turns.
const ROUNDS: usize = 15;

/// Rounds in which kiln's figure may be the larger one: with equal chances more of them come in one of 2,000 trials.
const LARGER: usize = 13;

/// Cycles of one measurement, and nanoseconds from one to the next: five seconds.
const SAMPLES: u64 = 5_000;
const INTERVAL_NS: u64 = 1_000_000;

const PRIORITY: u32 = 80;

/// Nanoseconds up to which `cyclictest` counts, the most that it takes.
const HISTOGRAM: &str = "1000000";

/// What one measurement came to, in nanoseconds; the CPU time is that of the whole process.
#[derive(Debug, Clone, Copy)]
struct Figures {
    minimum: u64,
    median: u64,
    maximum: u64,
    cpu_time: u64,
}

#[test]
#[ignore = "needs cyclictest, real-time priority and a quiet machine, and takes minutes"]
fn compared_with_cyclictest() {
    println!(
        "{:>6}  {:<10}  {:>9}  {:>9}  {:>9}  {:>9}",
        "round", "program", "minimum", "median", "maximum", "CPU time"
    );
    let mut all = [const { Vec::new() }; 2];
    for round in 1..=ROUNDS {
        // Who is first changes, so that neither always follows the other.
        let mut turns = [("kiln", 0, ours as fn() -> Figures), ("cyclictest", 1, theirs)];
        turns.rotate_left(round % 2);
        for (name, index, measure) in turns {
            let figures = measure();
            let Figures { minimum, median, maximum, cpu_time } = figures;
            let [minimum, median, maximum] = [minimum, median, maximum].map(microseconds);
            println!(
                "{round:>6}  {name:<10}  {minimum:>9}  {median:>9}  {maximum:>9}  {:>9}",
                microseconds(cpu_time)
            );
            all[index].push(figures);
        }
    }
    let ratio = |of: fn(&Figures) -> u64| {
        let [ours, theirs] = [&all[0], &all[1]].map(|figures| lower_quartile(figures.iter().map(of)));
        ours as f64 / theirs as f64
    };
    let (median, maximum, cpu_time) =
        (ratio(|it| it.median), ratio(|it| it.maximum), ratio(|it| it.cpu_time));
    println!(
        "lower quartiles of the rounds, kiln / cyclictest: median {median:.3}, maximum {maximum:.3}, CPU time {cpu_time:.3}"
    );
    let larger = |of: fn(&Figures) -> u64| {
        all[0].iter().zip(&all[1]).filter(|(ours, theirs)| of(ours) > of(theirs)).count()
    };
    let (larger_maxima, larger_times) = (larger(|it| it.maximum), larger(|it| it.cpu_time));
    println!(
        "of {ROUNDS} rounds, kiln has the larger maximum in {larger_maxima}, the larger CPU time in {larger_times}"
    );
    assert!((0.9..=1.1).contains(&median), "the medians differ");
    assert!(larger_times <= LARGER, "it takes more of the CPU");
    assert!(larger_maxima <= LARGER, "its maximum is above");
}

fn ours() -> Figures {
    let request = LatencyRequest {
        priority: PRIORITY,
        interval_ns: INTERVAL_NS,
        cpus: vec![0],
        cpu_dma_latency_us: Some(0),
        samples: Some(SAMPLES),
        duration_ms: 60_000,
        ..LatencyRequest::default()
    };
    let request = serde_json::to_string(&request).expect("plain data");
    let (output, cpu_time) = run(Command::new(env!("CARGO_BIN_EXE_latency")).arg(request));
    let last = output.lines().last().expect("there is a last line");
    let Ok(Line::<LatencyReport>::Done(report)) = serde_json::from_str(last) else { panic!("{last}") };
    let latencies = report.latencies();
    let median = latencies.percentile(50_000).expect("there are samples");
    Figures { minimum: latencies.minimum, median, maximum: latencies.maximum, cpu_time }
}

/// The histogram is written by a run of its own: writing it takes more CPU time than measuring.
fn theirs() -> Figures {
    let (_, cpu_time) = run(&mut cyclictest());
    let (output, _) = run(cyclictest().args(["-h", HISTOGRAM]));
    let lines = output
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(char::is_whitespace));
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let counts: Vec<(u64, u64)> = lines
        .filter_map(|(value, count)| Some((number(value)?, number(count)?)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let mut below = 0;
    let median = counts.iter().find(|(_, count)| {
        below += count;
        below >= SAMPLES / 2
    });
    let named = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(name)).expect("it ends with a summary");
        number(line.trim_start_matches(':')).expect("it is a number")
    };
    Figures {
        minimum: named("# Min Latencies"),
        median: median.expect("there are samples").0,
        maximum: named("# Max Latencies"),
        cpu_time,
    }
}

fn cyclictest() -> Command {
    let mut command = Command::new("cyclictest");
    command.args(["--quiet", "--nsecs", "--mlock", "--threads=1", "--affinity=0"]);
    command.arg(format!("--priority={PRIORITY}")).arg(format!("--interval={}", INTERVAL_NS / 1000));
    command.arg(format!("--loops={SAMPLES}"));
    command
}

/// The output of a program, and the CPU time that it took.
#[expect(clippy::zombie_processes, reason = "wait4 reaps it")]
fn run(command: &mut Command) -> (String, u64) {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut output = String::new();
    child.stdout.take().expect("it is a pipe").read_to_string(&mut output).expect("it is text");
    let process = i32::try_from(child.id()).expect("it is a process");
    // SAFETY: all zeroes is a valid value.
    let (mut status, mut usage): (i32, libc::rusage) = unsafe { std::mem::zeroed() };
    // SAFETY: both are valid for writing.
    let reaped = unsafe { libc::wait4(process, &raw mut status, 0, &raw mut usage) };
    assert_eq!((reaped, status), (process, 0), "{output}");
    let nanoseconds = |time: libc::timeval| {
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1_000
    };
    (output, nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime))
}

/// What is typical of the quiet half of the rounds: on a shared host the others show its load.
fn lower_quartile(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values[values.len() / 4]
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1_000, nanoseconds % 1_000)
}
