//! Stressors beside those of `stress-ng` that do the same in one bogo operation, or a fixed number of times as much.
//!
//! ```text
//! cargo test --package kiln --test command stress_ng -- --ignored --nocapture
//! ```

use std::process::{Command, Stdio};

use protocol::stress::StressReport;

use crate::support::Place;

/// Rounds, in each of which both take turns.
const ROUNDS: usize = 3;

/// Of one measurement, in seconds.
const TIMEOUT: &str = "2s";

/// What is compared, with the same options.
struct Pair {
    stressor: &'static str,
    ours: &'static [(&'static str, &'static str)],
    theirs: &'static [&'static str],
    /// Operations of stress-ng in one of kiln.
    factor: f64,
}

impl Pair {
    /// As kiln takes it: `pipe=1,bytes=512`.
    fn call(&self) -> String {
        let options = self.ours.iter().map(|(name, value)| format!(",{name}={value}"));
        format!("{}=1{}", self.stressor, options.collect::<String>())
    }
}

const fn pair(
    stressor: &'static str,
    ours: &'static [(&'static str, &'static str)],
    theirs: &'static [&'static str],
) -> Pair {
    Pair { stressor, ours, theirs, factor: 1.0 }
}

const PAIRS: &[Pair] = &[
    pair("bsearch", &[("size", "65536")], &["--bsearch-size", "65536"]),
    pair("fork", &[("processes", "1")], &[]),
    pair("hsearch", &[("size", "8192")], &["--hsearch-size", "8192"]),
    pair("lsearch", &[("size", "2048")], &["--lsearch-size", "2048"]),
    pair(
        "matrix",
        &[("method", "prod"), ("size", "256")],
        &["--matrix-method", "prod", "--matrix-size", "256"],
    ),
    pair(
        "matrix",
        &[("method", "add"), ("size", "256")],
        &["--matrix-method", "add", "--matrix-size", "256"],
    ),
    pair("pipe", &[("bytes", "512")], &["--pipe-data-size", "512"]),
    pair("pthread", &[("threads", "16")], &["--pthread-max", "16"]),
    pair("sem", &[("processes", "2")], &["--sem-procs", "2"]),
    pair("sigfd", &[], &[]),
    pair("sigfpe", &[], &[]),
    pair("sigpending", &[], &[]),
    pair("sigsegv", &[], &[]),
    Pair { factor: 2.0, ..pair("switch", &[], &["--switch-method", "pipe"]) },
    pair("tree", &[("method", "avl"), ("size", "25000")], &["--tree-method", "avl", "--tree-size", "25000"]),
    pair("tsearch", &[("size", "65536")], &["--tsearch-size", "65536"]),
    pair("vfork", &[], &[]),
    pair("zombie", &[("processes", "8")], &["--zombie-max", "8"]),
];

#[test]
#[ignore = "needs stress-ng and a quiet machine, and takes minutes"]
fn compared_with_stress_ng() {
    println!("{:<32}  {:>14}  {:>14}  {:>6}", "operations per CPU second", "kiln", "stress-ng", "ratio");
    for pair in PAIRS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(kiln(pair));
            theirs.push(stress_ng(pair));
        }
        let (ours, theirs) = (middle(ours), middle(theirs));
        let name = pair.call();
        println!("{name:<32}  {ours:>14.1}  {theirs:>14.1}  {:>6.2}", ours / theirs);
        assert!(ours > 0.0 && theirs > 0.0, "{name}");
    }
}

fn kiln(pair: &Pair) -> f64 {
    let call = ["stress", &pair.call(), "-t", TIMEOUT, "--json"].map(str::to_string);
    let report: StressReport = Place::new().kiln(call).run().expect(0).stated();
    report.instances[0].per_cpu_second().expect("it took CPU time") * pair.factor
}

/// The last column but one of its line: `stress-ng: metrc: [PID] pipe OPS REAL USER SYSTEM PER-REAL PER-CPU ...`.
fn stress_ng(pair: &Pair) -> f64 {
    let mut command = Command::new("stress-ng");
    command.args([&format!("--{}", pair.stressor), "1"]).args(pair.theirs);
    let output = output(command.args(["--timeout", TIMEOUT, "--metrics-brief", "--stdout"]));
    let figures = output.lines().find_map(|line| {
        let (_, after) = line.split_once("metrc:")?;
        let (_, figures) = after.split_once(&format!("] {} ", pair.stressor))?;
        figures.split_whitespace().map(|figure| figure.parse().ok()).collect::<Option<Vec<f64>>>()
    });
    figures.and_then(|figures| figures.get(5).copied()).unwrap_or_else(|| panic!("{output}"))
}

fn output(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().expect("it is installed");
    String::from_utf8(output.stdout).expect("it is text")
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
