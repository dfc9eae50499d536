//! Options that concern all stressors.

use std::collections::{BTreeMap, BTreeSet};

use protocol::stress::{Catalogue, Class, Extreme, Instance, Mode, Scheduler, StressRequest};
use script::nearest::suggestion;

use super::units;

/// All of them.
pub(super) const NAMES: &[&str] = &[
    "all",
    "class",
    "coverage",
    "grace",
    "maximize",
    "metrics",
    "metrics-brief",
    "minimize",
    "nice-value",
    "run",
    "sched",
    "sched-deadline",
    "sched-period",
    "sched-prio",
    "sched-runtime",
    "seed",
    "seq",
    "sequential",
    "taskset",
    "thermal",
    "thermalstat",
    "timeout",
    "times",
    "tz",
    "verbose",
    "verify",
];

/// Those that say how a run is shown: `stress` always reports all.
const SHOWN: &[&str] = &["metrics", "metrics-brief", "times", "verbose"];

/// Those without a value.
const FLAGS: &[&str] = &["coverage", "maximize", "minimize", "thermal", "tz", "verify"];

const POLICIES: [&str; 6] = ["other", "batch", "idle", "fifo", "rr", "deadline"];

/// What was said, each with its value.
#[derive(Debug, Default)]
pub(super) struct Globals {
    values: BTreeMap<&'static str, String>,
    /// What was said before, and may be said anew.
    settled: BTreeSet<&'static str>,
}

impl Globals {
    /// Takes an option of [`NAMES`].
    pub(super) fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let Some(name) = NAMES.iter().copied().find(|known| *known == name) else {
            return Err(format!("there is no option {name}"));
        };
        if SHOWN.contains(&name) {
            return Ok(());
        }
        // Other names of the same.
        let name = match name {
            "tz" | "thermalstat" => "thermal",
            "sequential" => "seq",
            name => name,
        };
        let value = match value {
            None if FLAGS.contains(&name) => "",
            Some(_) if FLAGS.contains(&name) && name != "thermal" => {
                return Err(format!("{name} takes no value"));
            }
            None => return Err(format!("{name} wants a value")),
            Some(value) => value,
        };
        check(name, value)?;
        match self.values.insert(name, value.to_string()) {
            Some(before) if before != value && !self.settled.remove(name) => {
                Err(format!("{name} is {before} already"))
            }
            _ => Ok(()),
        }
    }

    /// What is said from now on may differ from what was said before.
    pub(super) fn settle(&mut self) {
        self.settled = self.values.keys().copied().collect();
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// Stressors that are asked for by their class, or all.
    pub(super) fn add_classes(&self, catalogue: &Catalogue, instances: &mut Vec<Instance>) {
        let Some(workers) = self.number("all").or_else(|| self.number("seq")) else { return };
        let classes: Vec<Class> = self.text("class").and_then(|text| classes(text).ok()).unwrap_or_default();
        let is_wanted = |of: &[Class]| classes.is_empty() || of.iter().any(|class| classes.contains(class));
        let wanted = catalogue.stressors.iter().filter(|stressor| is_wanted(&stressor.classes));
        instances.extend(wanted.map(|stressor| Instance {
            stressor: stressor.name.clone(),
            workers,
            ..Instance::default()
        }));
    }

    /// The request without its stressors.
    pub(super) fn request(&self) -> Result<StressRequest, String> {
        let default = StressRequest::default();
        let is_sequential = self.text("run") == Some("sequential") || self.text("seq").is_some();
        let extreme = match (self.text("maximize"), self.text("minimize")) {
            (Some(_), Some(_)) => return Err("maximize and minimize exclude each other".to_string()),
            (Some(_), None) => Some(Extreme::Maximize),
            (None, minimize) => minimize.map(|_| Extreme::Minimize),
        };
        Ok(StressRequest {
            instances: Vec::new(),
            mode: if is_sequential { Mode::Sequential } else { Mode::Parallel },
            timeout_ms: self.text("timeout").and_then(units::milliseconds),
            grace_ms: self.text("grace").and_then(units::milliseconds).unwrap_or(default.grace_ms),
            verify: self.text("verify").is_some(),
            extreme,
            cpus: self.text("taskset").and_then(units::cpus).unwrap_or_default(),
            scheduler: self.scheduler()?,
            nice: self.number("nice-value"),
            thermal: self.text("thermal").is_some(),
            coverage: self.text("coverage").is_some(),
            seed: self.number("seed").unwrap_or(default.seed),
        })
    }

    fn scheduler(&self) -> Result<Option<Scheduler>, String> {
        let priority = self.number("sched-prio").unwrap_or(1);
        let time =
            |name| self.number(name).ok_or_else(|| format!("sched deadline wants {name}, in nanoseconds"));
        Ok(Some(match self.text("sched") {
            None => return Ok(None),
            Some("batch") => Scheduler::Batch,
            Some("idle") => Scheduler::Idle,
            Some("fifo") => Scheduler::Fifo(priority),
            Some("rr") => Scheduler::Rr(priority),
            Some("deadline") => Scheduler::Deadline {
                runtime_ns: time("sched-runtime")?,
                deadline_ns: time("sched-deadline")?,
                period_ns: time("sched-period")?,
            },
            Some(_) => Scheduler::Other,
        }))
    }
}

/// Whether an option takes a value.
fn check(name: &str, value: &str) -> Result<(), String> {
    let wrong = |allowed: &str| Err(format!("{name} {value}: write {allowed}"));
    let is_number = |from: i64, to: i64| value.parse().is_ok_and(|number| (from..=to).contains(&number));
    match name {
        "run" if !["sequential", "parallel"].contains(&value) => wrong("sequential or parallel"),
        "timeout" | "grace" if units::milliseconds(value).is_none() => wrong("60s, 1m, 2h, 1d or 1y"),
        "taskset" if units::cpus(value).is_none() => wrong("a list of CPUs such as 1,3,5-7"),
        "class" => classes(value).map(drop),
        "sched" if !POLICIES.contains(&value) => wrong(&POLICIES.join(", ")),
        "sched-prio" if !is_number(1, 99) => wrong("a number from 1 to 99"),
        "nice-value" if !is_number(-20, 19) => wrong("a number from -20 to 19"),
        "all" | "seq" if value.parse::<u32>().is_err() => wrong("a number of workers, 0 for one on each CPU"),
        "seed" | "sched-runtime" | "sched-deadline" | "sched-period" if value.parse::<u64>().is_err() => {
            wrong("a number")
        }
        _ => Ok(()),
    }
}

/// Reads `vm` or `vm,io`.
fn classes(text: &str) -> Result<Vec<Class>, String> {
    let class = |name: &str| {
        let known = Class::ALL.iter().find(|class| class.name() == name);
        known.copied().ok_or_else(|| {
            format!("there is no class {name}; {}", suggestion(name, Class::ALL.map(Class::name)))
        })
    };
    text.split(',').map(class).collect()
}
