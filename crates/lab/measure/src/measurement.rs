//! The figures of one Kernel, from several boots.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The metric of the time to user space.
pub const BOOT: &str = "boot/user-space";

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
    pub metrics: Vec<Metric>,
    /// Worth knowing, a line each.
    pub notes: Vec<String>,
}

impl Measurement {
    /// The operations that it is about; neither the boot nor what else was counted is one.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        let names = self.metrics.iter().map(|metric| metric.name.as_str());
        names.filter(|&name| name != BOOT && operation(name) == name)
    }

    /// Forgets the operations that are not `wanted`.
    pub fn narrow(&mut self, wanted: impl Fn(&str) -> bool) {
        self.metrics.retain(|metric| metric.name == BOOT || wanted(operation(&metric.name)));
    }
}

/// The operation of a metric, which may be something that is counted in it.
fn operation(metric: &str) -> &str {
    metric.split_once(':').map_or(metric, |(operation, _)| operation)
}

impl Measurement {
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
}

/// The two kinds of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Counted: the same again each time, on any host.
    Exact,
    /// Sampled: true of this host, with an error that statistics bound.
    Timed,
}

/// One boot of the Kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Boot {
    /// What the machine drew its random numbers from.
    pub seed: u64,
    /// From the start of its program to the agent's readiness.
    pub took: Duration,
    /// What else happened on the host while it was measured; only timed figures care.
    pub conditions: Option<host::Conditions>,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// `area/what-is-done`, and for what else is counted in it `area/what-is-done:event`.
    pub name: String,
    /// One line on what is measured.
    pub about: String,
    /// The unit; less is better.
    pub unit: Unit,
    /// One for each boot in which it was measured.
    pub values: Vec<Value>,
    /// Why there are none.
    pub not_measured: Option<NotMeasured>,
    /// What exactly was executed, where a plugin watched.
    pub detail: Option<Detail>,
}

/// Units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Executed instructions.
    Instructions,
    /// Time.
    Nanoseconds,
    /// How often something happened.
    Count,
}

/// What one boot says: its repetitions without those that were left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The boot, from 0.
    pub boot: u32,
    /// The smallest.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
    /// How many there were.
    pub repetitions: u32,
    /// How many were left out, since the timer interrupt came in them.
    pub left_out: u32,
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
    fn an_operation_is_kept_with_what_is_counted_in_it_and_the_boot_always() {
        let names =
            [BOOT, "fs/open", "fs/open:page-faults", "syscall/getppid", "syscall/getppid:page-faults"];
        let mut measured = Measurement {
            subject: Subject::default(),
            kind: Kind::Exact,
            procedure: String::new(),
            boots: Vec::new(),
            metrics: names.map(|name| empty(name, "", Unit::Instructions)).into(),
            notes: Vec::new(),
        };
        assert_eq!(measured.operations().collect::<Vec<_>>(), ["fs/open", "syscall/getppid"]);
        measured.narrow(|operation| operation.starts_with("fs/"));
        let left: Vec<&str> = measured.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(left, names[..3]);
    }
}
