//! What can be said of a load.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{OUTPUT, Place};
use crate::units;

/// `kiln stress`.
#[derive(Debug, Args)]
pub(crate) struct Stress {
    /// Stressors with workers and options, such as vm=2,bytes=25% matrix=0,method=mult,ops=1000 (0: a worker for each CPU)
    #[arg(value_name = "STRESSOR[=WORKERS][,OPTION=VALUE]")]
    pub(crate) stressors: Vec<String>,
    /// A job file: these options one a line, without dashes; or a class, for the example that kiln has of it
    #[arg(long, value_name = "FILE|CLASS")]
    pub(crate) job: Option<PathBuf>,
    /// Ignore what a job file says of stressors that kiln does not have
    #[arg(long, requires = "job")]
    pub(crate) skip_unknown: bool,
    /// All stressors of a class: cpu, cpu-cache, memory, vm, filesystem, io, network, scheduler, interrupt, ipc, os, security or device
    #[arg(long, value_name = "CLASS")]
    pub(crate) class: Option<String>,
    /// Workers of each stressor of the class, or of all if there is none; 0 for one on each CPU
    #[arg(long, value_name = "WORKERS")]
    pub(crate) all: Option<u32>,
    /// The same, one stressor after the other
    #[arg(long, value_name = "WORKERS", conflicts_with = "all")]
    pub(crate) seq: Option<u32>,
    /// How long; one after the other, how long each [default: 10s, or the timeout of the job file]
    #[arg(short = 't', long, value_name = "TIME", value_parser = units::duration)]
    pub(crate) duration: Option<Duration>,
    /// Also verify what costs much: whole contents rather than results of calls
    #[arg(long)]
    pub(crate) verify: bool,
    /// Give options the highest value of their range
    #[arg(long, conflicts_with = "minimize")]
    pub(crate) maximize: bool,
    /// Give options the lowest value of their range
    #[arg(long)]
    pub(crate) minimize: bool,
    /// CPUs that workers may run on, such as 1,3,5-7
    #[arg(long, value_name = "LIST")]
    pub(crate) taskset: Option<String>,
    /// Scheduling policy of the workers: other, batch, idle, fifo, rr or deadline
    #[arg(long, value_name = "POLICY")]
    pub(crate) sched: Option<String>,
    /// Their priority, 1 to 99, for fifo and rr
    #[arg(long, value_name = "NUMBER", requires = "sched")]
    pub(crate) sched_prio: Option<u32>,
    /// Their nice value, -20 to 19
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) nice: Option<i32>,
    /// Report thermal zones and throttling
    #[arg(long)]
    pub(crate) thermal: bool,
    /// Report how much of the kernel is reached: functions and lines, of each stressor and of all; with --in and a kernel of `kiln build --config cov`
    #[arg(long)]
    pub(crate) coverage: bool,
    /// What random numbers come from: the same seed, the same numbers
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
    /// Write what is asked for as a job file, and run nothing
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) save_job: Option<PathBuf>,
    /// Show what would run, as a job file or with --json as a request, and run nothing
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) dry_run: bool,
    /// List the stressors, or those of --class, instead of running any
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) list: bool,
    /// One JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

impl Stress {
    /// The same as a job file says it.
    pub(crate) fn job_lines(&self) -> String {
        let mut lines: String = self.stressors.iter().map(|text| stressor_lines(text)).collect();
        let mut line = |name: &str, value: &str| {
            // Writing into a text cannot fail.
            let _ = writeln!(lines, "{name} {value}");
        };
        let text = |value: &Option<u32>| value.map(|value| value.to_string());
        for (name, value) in [
            ("timeout", self.duration.map(|time| format!("{:.3}s", time.as_secs_f64()))),
            ("class", self.class.clone()),
            ("all", text(&self.all)),
            ("seq", text(&self.seq)),
            ("taskset", self.taskset.clone()),
            ("sched", self.sched.clone()),
            ("sched-prio", text(&self.sched_prio)),
            ("nice-value", self.nice.map(|nice| nice.to_string())),
            ("seed", self.seed.map(|seed| seed.to_string())),
        ] {
            if let Some(value) = value {
                line(name, &value);
            }
        }
        for (name, is_on) in [
            ("verify", self.verify),
            ("maximize", self.maximize),
            ("minimize", self.minimize),
            ("thermal", self.thermal),
            ("coverage", self.coverage),
        ] {
            if is_on {
                line(name, "");
            }
        }
        lines
    }
}

/// A stressor with its workers and options, `vm=2,bytes=25%`, as a job file says it.
pub(crate) fn stressor_lines(text: &str) -> String {
    let mut parts = text.split(',');
    let first = parts.next().unwrap_or_default();
    let (name, workers) = first.split_once('=').unwrap_or((first, "1"));
    let options = parts.map(|part| {
        let (option, value) = part.split_once('=').unwrap_or((part, ""));
        format!("{name}-{option} {value}\n")
    });
    format!("{name} {workers}\n") + &options.collect::<String>()
}
