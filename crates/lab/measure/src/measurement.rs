//! The figures of one Kernel, from several boots.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{BootSamples, Code, Value};

/// The metric of the time to user space.
pub const BOOT: &str = "boot/user-space";

/// The name of a program in figures of several that have other names each; earlier versions gave it to all programs.
pub const PROGRAM: &str = "workload";

/// Whether this is the name of a program: operations have an area.
#[must_use]
pub fn is_program(name: &str) -> bool {
    !name.contains('/')
}

/// What was measured on one Kernel in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// On what.
    pub subject: Subject,
    /// Which kind of figures these are.
    pub kind: Kind,
    /// By what they came about, as a hash: see [`procedure`](crate::procedure()).
    pub procedure: String,
    /// The boots: what differs between them is what the kernel itself draws at random.
    pub boots: Vec<Boot>,
    /// In the order of the suite.
    #[serde(deserialize_with = "derived")]
    pub metrics: Vec<Metric>,
    /// The code of the functions that were executed, by their names, where a plugin watched.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub code: BTreeMap<String, Code>,
    /// Worth knowing, a line each.
    pub notes: Vec<String>,
}

impl Measurement {
    /// The operations that it is about; neither the boot nor what else was counted is one.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        let names = self.metrics.iter().map(|metric| metric.name.as_str());
        names.filter(|&name| name != BOOT && operation(name) == name)
    }

    /// Calls the program that was measured, if one was, by this name.
    pub fn name_program(&mut self, name: &str) {
        for metric in self.metrics.iter_mut().filter(|metric| is_program(operation(&metric.name))) {
            let counted = metric.name.split_off(operation(&metric.name).len());
            metric.name = format!("{name}{counted}");
        }
    }

    /// Forgets the operations that are not `wanted`.
    pub fn narrow(&mut self, wanted: impl Fn(&str) -> bool) {
        self.metrics.retain(|metric| metric.name == BOOT || wanted(operation(&metric.name)));
    }
}

/// Metrics with the statistics that are made of samples today: those of a document may be of an earlier version.
fn derived<'de, D: Deserializer<'de>>(document: D) -> Result<Vec<Metric>, D::Error> {
    let mut metrics = Vec::<Metric>::deserialize(document)?;
    for metric in metrics.iter_mut().filter(|metric| !metric.samples.is_empty()) {
        metric.values = metric.samples.iter().filter_map(BootSamples::value).collect();
    }
    Ok(metrics)
}

/// The operation of a metric, which may be something that is counted in it.
fn operation(metric: &str) -> &str {
    metric.split_once(':').map_or(metric, |(operation, _)| operation)
}

impl Measurement {
    /// What a typical repetition of each operation executed, by the names of the operations, where a plugin watched.
    #[must_use]
    pub fn details(&self) -> BTreeMap<&str, &Detail> {
        let metrics = self.metrics.iter();
        metrics.filter_map(|metric| Some((metric.name.as_str(), metric.detail.as_ref()?))).collect()
    }

    /// Adds later boots of the same Kernel, in which some of the same metrics were measured.
    pub fn add(&mut self, later: Self) {
        let before = u32::try_from(self.boots.len()).unwrap_or(u32::MAX);
        self.boots.extend(later.boots);
        for new in later.metrics {
            let Some(metric) = self.metrics.iter_mut().find(|metric| metric.name == new.name) else {
                continue;
            };
            let number = |boot: u32| boot.saturating_add(before);
            let values = new.values.into_iter();
            metric.values.extend(values.map(|value| Value { boot: number(value.boot), ..value }));
            let samples = new.samples.into_iter();
            metric.samples.extend(samples.map(|of| BootSamples { boot: number(of.boot), ..of }));
            // What worked in some boots only says nothing.
            if new.not_measured.is_some() {
                metric.not_measured = new.not_measured;
                metric.forget();
            }
        }
        for (name, code) in later.code {
            self.code.entry(name).or_default().merge(&code);
        }
        let is_new = |note: &String| !self.notes.contains(note);
        let notes: Vec<String> = later.notes.into_iter().filter(is_new).collect();
        self.notes.extend(notes);
    }

    /// The same without who called whom.
    #[must_use]
    pub fn without_stacks(mut self) -> Self {
        let details = self.metrics.iter_mut().filter_map(|metric| metric.detail.as_mut());
        details.for_each(|detail| detail.stacks.clear());
        self
    }
}

/// A Kernel with everything that makes it this one and no other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What people call it in tables: the locator, or what tells it from the others.
    pub label: String,
    /// The locator that the user gave.
    pub locator: String,
    /// The locator by which the very same Kernel is found later.
    pub kernel: String,
    /// Where it comes from, for people.
    pub provenance: String,
    /// `uname -r`.
    pub release: String,
    /// Hash over image, modules, configuration and parameters.
    pub identity: String,
    /// Kernel parameters, kiln's own and the user's.
    pub parameters: String,
    /// The machine, for people.
    pub machine: String,
    /// How large it is; earlier versions do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<kernel::Size>,
    /// Different warnings about all that it was compiled from, where kiln built it; earlier versions do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<u64>,
}

/// The kinds of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Counted: the same again each time, on any host.
    Exact,
    /// Sampled: true of this host, with an error that statistics bound.
    Timed,
    /// Recorded by an experiment, which says of each metric whether it is counted or sampled.
    Recorded,
}

/// One boot of the Kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Boot {
    /// What the machine drew its random numbers from.
    #[serde(with = "judge::json::seed")]
    pub seed: u64,
    /// From the start of its program to the agent's readiness.
    #[serde(with = "judge::json::seconds")]
    pub took: Duration,
    /// What else happened on the host while it was measured; only timed figures care.
    pub conditions: Option<host::Conditions>,
    /// How the run of the experiment ended that booted its machines; nothing where no experiment ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Ran>,
}

/// How a run of an experiment ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// `pass`, `fail`, `crash` or `hang`: other runs say nothing.
    pub outcome: judge::Outcome,
    /// Why it did not pass, one line.
    pub reason: String,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// `area/what-is-done`, and for what else is counted in it `area/what-is-done:event`.
    pub name: String,
    /// One line on what is measured.
    pub about: String,
    /// The unit; less is better, unless it says otherwise.
    pub unit: Unit,
    /// One for each boot in which it was measured.
    pub values: Vec<Value>,
    /// What those are made of, a boot after the other; earlier versions kept none, and what is counted beside has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<BootSamples>,
    /// Why there are none.
    pub not_measured: Option<NotMeasured>,
    /// What exactly was executed, where a plugin watched.
    pub detail: Option<Detail>,
}

impl Metric {
    /// Adds what a boot says.
    pub fn add(&mut self, samples: BootSamples) {
        if let Some(value) = samples.value() {
            self.values.push(value);
            self.samples.push(samples);
        }
    }

    /// Forgets what all boots said.
    pub(crate) fn forget(&mut self) {
        self.values.clear();
        self.samples.clear();
    }
}

/// Units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Executed instructions.
    Instructions,
    /// Time.
    Nanoseconds,
    /// How often something happened.
    Count,
    /// One that an experiment declares.
    Own(OwnUnit),
}

/// The unit of a metric that an experiment declares, with what else it says about its figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnUnit {
    /// Its name.
    pub name: String,
    /// More is better.
    pub more_is_better: bool,
    /// Figures are sampled, not counted.
    pub is_timed: bool,
}

impl Unit {
    /// Whether more is better.
    #[must_use]
    pub fn more_is_better(&self) -> bool {
        matches!(self, Self::Own(own) if own.more_is_better)
    }

    /// Whether figures are sampled, not counted.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        match self {
            Self::Nanoseconds => true,
            Self::Instructions | Self::Count => false,
            Self::Own(own) => own.is_timed,
        }
    }
}

/// Why an operation has no figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotMeasured {
    /// `skip`, `fail`, `broken` or `crash`.
    pub outcome: judge::Outcome,
    /// The reason, one line.
    pub reason: String,
}

/// What exactly one typical repetition executed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// Instructions outside the kernel.
    pub user: u64,
    /// Instructions in the kernel, all functions together.
    pub kernel: u64,
    /// Instructions of each function of the kernel, most first.
    pub functions: Vec<Function>,
    /// Folded stacks with their instructions: `outer;inner`.
    pub stacks: Vec<(String, u64)>,
}

/// A function of the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its symbol, with the module in brackets if it is in one: `ext4_lookup [ext4]`.
    pub name: String,
    /// Instructions of it in one repetition, without what it calls.
    pub instructions: u64,
    /// How often it was entered.
    pub calls: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::empty;

    #[test]
    fn later_boots_are_added_to_their_metrics() {
        let value =
            |boot, median| Value { boot, min: median, median, max: median, repetitions: 1, left_out: 0 };
        let measured = |metrics: &[(&str, f64)], note: &str| Measurement {
            subject: Subject::default(),
            kind: Kind::Exact,
            procedure: String::new(),
            boots: vec![Boot { seed: 7, took: Duration::ZERO, conditions: None, run: None }],
            metrics: metrics
                .iter()
                .map(|&(name, cost)| Metric {
                    values: vec![value(0, cost)],
                    ..empty(name, "", Unit::Instructions)
                })
                .collect(),
            code: BTreeMap::new(),
            notes: vec![note.to_string()],
        };
        let mut first = measured(&[("a", 1.0), ("b", 2.0), ("c", 3.0)], "x");
        let mut later = measured(&[("b", 5.0), ("c", 4.0), ("d", 6.0)], "y");
        let reason = NotMeasured { outcome: judge::Outcome::Crash, reason: "oops".to_string() };
        later.metrics[1].not_measured = Some(reason.clone());
        first.add(later);
        assert_eq!(
            (first.boots.len(), first.metrics.len(), first.notes.join(" ")),
            (2, 3, "x y".to_string())
        );
        assert_eq!(first.metrics[0].values, [value(0, 1.0)]);
        assert_eq!(first.metrics[1].values, [value(0, 2.0), value(1, 5.0)]);
        assert_eq!((first.metrics[2].values.len(), &first.metrics[2].not_measured), (0, &Some(reason)));
    }

    #[test]
    fn an_operation_is_kept_with_what_is_counted_in_it_and_the_boot_always() {
        let names =
            [BOOT, "fs/open", "fs/open:page-faults", "syscall/getppid", "syscall/getppid:page-faults"];
        let mut measured = Measurement {
            subject: Subject::default(),
            kind: Kind::Exact,
            procedure: String::new(),
            boots: Vec::new(),
            metrics: names.map(|name| empty(name, "", Unit::Instructions)).into(),
            code: BTreeMap::new(),
            notes: Vec::new(),
        };
        assert_eq!(measured.operations().collect::<Vec<_>>(), ["fs/open", "syscall/getppid"]);
        measured.name_program("it.sh");
        assert_eq!(measured.metrics[1].name, "fs/open", "no program");
        measured.narrow(|operation| operation.starts_with("fs/"));
        let left: Vec<&str> = measured.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(left, names[..3]);
        measured.metrics[1].name = PROGRAM.to_string();
        measured.metrics[2].name = format!("{PROGRAM}:page-faults");
        measured.name_program("it.sh");
        let left: Vec<&str> = measured.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(left, [BOOT, "it.sh", "it.sh:page-faults"]);
    }
}
