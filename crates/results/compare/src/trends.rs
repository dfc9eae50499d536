//! Figures that were kept, over the history of kernels.

use std::collections::BTreeSet;
use std::path::Path;

use kernel::Locator;
use lab::request::{FiguresRequest, KernelRequest, MachineRequest, MeasureRequest, Version};
use lab::suites::select::{Pattern, operations};
use measure::{BOOT, Kind, Measurement};
use script::nearest::nearest;
use verdict::trend::fact::Fact;
use verdict::trend::{Trend, trends as in_history};
use verdict::{Row, Verdict, compare_exact};

use crate::branch::{Branch, search};
use crate::environment::{Environment, Progress};
use crate::error::Error;
use crate::measuring::measure;

/// Stands in the name of a metric before what else is counted in an operation.
const EVENT: char = ':';

/// An operation that takes next to no time.
const ANY: &str = "syscall/getppid";

/// What figures did over the history of kernels.
#[derive(Debug, Clone)]
pub struct TrendsRequest {
    /// A pattern for the names of metrics.
    pub metric: String,
    /// A pattern for kernels: their release, or one of their locators; all without it.
    pub kernels: Option<String>,
    /// The commits of a branch instead.
    pub branch: Option<Branch>,
}

impl TrendsRequest {
    /// The trends of what is kept below `root`.
    ///
    /// # Errors
    ///
    /// When nothing that is kept has such a metric or kernel.
    pub fn trends(&self, root: &Path) -> Result<Vec<Trend>, Error> {
        let (of_kernels, others): (Vec<Measurement>, Vec<Measurement>) = match &self.branch {
            Some(branch) => (branch.kept(root), Vec::new()),
            None => measurements(root).into_iter().partition(|one| self.is_of(one)),
        };
        if of_kernels.is_empty() && others.is_empty() {
            let text = format!(
                "no figures in {}: `kiln measure` and `kiln compare` keep some, and --measure measures what is missing",
                root.display()
            );
            return Err(Error::Usage(text));
        }
        if of_kernels.is_empty() {
            let known = others.iter().map(|one| one.subject.release.as_str());
            return Err(unknown("kernel", self.kernels.as_deref().unwrap_or_default(), known));
        }
        let names: BTreeSet<&str> = names(&of_kernels).chain(facts(&of_kernels)).collect();
        let pattern = Pattern::new(&self.metric);
        // What else is counted in operations is shown where somebody asks for it.
        let is_asked = |name: &str| !name.contains(EVENT) || self.metric.contains(EVENT);
        let wanted: Vec<&str> =
            names.iter().copied().filter(|name| pattern.matches(name) && is_asked(name)).collect();
        let commits = self.branch.as_ref().map(Branch::commits).unwrap_or_default();
        let found = in_history(&wanted, &of_kernels, &commits);
        if found.is_empty() { Err(unknown("metric", &self.metric, names.into_iter())) } else { Ok(found) }
    }

    /// Measures those of `kernels` of which not all that is asked is kept below the environment's folder as it would be measured now.
    /// One that cannot be measured is a note. Gives how many those are.
    ///
    /// # Errors
    ///
    /// When the user asks for something that cannot be, or wants to stop.
    pub fn measure_missing(
        &self,
        kernels: &[Locator],
        environment: &Environment<'_>,
        on_event: &mut dyn FnMut(Progress),
    ) -> Result<usize, Error> {
        let kept = measurements(&environment.measurements);
        let wanted = self.wanted()?;
        let procedure = environment.backend.procedure()?;
        let is_kept = |kernel: &Locator| {
            let name = kernel.to_string();
            let is_of = |one: &&Measurement| one.subject.kernel == name || one.subject.locator == name;
            let is_alike = |one: &&Measurement| one.kind == Kind::Exact && one.procedure == procedure;
            let of_kernel = || kept.iter().filter(is_of);
            if let Some(fact) = Fact::named(&self.metric) {
                return of_kernel().any(|one| fact.of(&one.subject).is_some());
            }
            let metrics = || of_kernel().filter(is_alike).flat_map(|one| &one.metrics);
            wanted.iter().all(|name| metrics().any(|metric| metric.name == *name))
        };
        let mut failed = 0;
        for kernel in kernels.iter().filter(|kernel| !is_kept(kernel)) {
            let kernel = KernelRequest::named(kernel.clone());
            failed += usize::from(self.measured(kernel, environment, on_event)?.is_none());
        }
        Ok(failed)
    }

    /// Measures commits of a branch until all steps are between neighbours, but for what earlier calls have measured in the same way.
    /// One that cannot be built or measured is a note. Gives how many those are.
    ///
    /// # Errors
    ///
    /// When the user asks for something that cannot be, or wants to stop.
    pub fn measure_branch(
        &self,
        branch: &Branch,
        environment: &Environment<'_>,
        on_event: &mut dyn FnMut(Progress),
    ) -> Result<usize, Error> {
        let (wanted, commits) = (self.wanted()?, branch.commits());
        let fact = Fact::named(&self.metric);
        let procedure = environment.backend.procedure()?;
        let is_usable = |one: &Measurement| {
            if let Some(fact) = fact {
                return fact.of(&one.subject).is_some();
            }
            let has = |name: &&str| one.metrics.iter().any(|metric| metric.name == *name);
            one.kind == Kind::Exact && one.procedure == procedure && wanted.iter().all(has)
        };
        let kept = branch.kept(&environment.measurements).into_iter().filter(is_usable);
        let known = kept.filter_map(|one| Some((commits.place(&one.subject)?, one))).collect();
        let differ = |one: &Measurement, other: &Measurement| {
            if let Some(fact) = fact {
                return fact.of(&one.subject) != fact.of(&other.subject);
            }
            let is_step = |row: &Row| wanted.contains(&row.metric.as_str()) && row.verdict != Verdict::Same;
            compare_exact(one, other).rows.iter().any(is_step)
        };
        let mut failed = 0;
        search(branch.count(), known, differ, |place| {
            let Some(locator) = branch.locator(place) else { return Ok(None) };
            let kernel = KernelRequest { locator, build: branch.build.clone() };
            let measured = self.measured(kernel, environment, on_event)?;
            failed += usize::from(measured.is_none());
            Ok::<_, Error>(measured)
        })?;
        Ok(failed)
    }

    /// Measures a kernel; nothing, and a note, if that cannot be.
    fn measured(
        &self,
        kernel: KernelRequest,
        environment: &Environment<'_>,
        on_event: &mut dyn FnMut(Progress),
    ) -> Result<Option<Measurement>, Error> {
        let name = kernel.locator.to_string();
        on_event(Progress::Note(format!("{name} is measured")));
        match measure(&self.measuring(kernel), environment, on_event) {
            Ok(measured) => Ok(Some(measured.measurement)),
            Err(error) if error.is_interrupt() => Err(error),
            Err(error) => {
                on_event(Progress::Note(format!("{name}: {error}")));
                Ok(None)
            }
        }
    }

    /// The operation that is asked for: what is counted in it is measured with it, and what is no operation with any.
    fn operation(&self) -> &str {
        let operation = self.metric.split(EVENT).next().unwrap_or_default();
        let is_none = operation == BOOT || Fact::named(operation).is_some();
        if is_none { ANY } else { operation }
    }

    /// The names of the operations that are asked for.
    fn wanted(&self) -> Result<Vec<&'static str>, Error> {
        let found = operations(&[self.operation().to_owned()]).map_err(lab::suites::Error::from)?;
        Ok(found.into_iter().map(|operation| operation.name.as_str()).collect())
    }

    fn measuring(&self, kernel: KernelRequest) -> MeasureRequest {
        let figures =
            FiguresRequest { operations: vec![self.operation().to_owned()], ..FiguresRequest::default() };
        MeasureRequest {
            version: Version,
            kernel,
            program: None,
            figures,
            machine: MachineRequest::default(),
        }
    }

    fn is_of(&self, one: &Measurement) -> bool {
        let Some(pattern) = &self.kernels else { return true };
        let pattern = Pattern::new(pattern);
        let subject = &one.subject;
        [&subject.release, &subject.locator, &subject.kernel].into_iter().any(|name| pattern.matches(name))
    }
}

/// What is kept below `root`.
fn measurements(root: &Path) -> Vec<Measurement> {
    ledger::measurements(root).into_iter().map(|kept| kept.measurement).collect()
}

fn names(all: &[Measurement]) -> impl Iterator<Item = &str> {
    let metrics = all.iter().flat_map(|one| &one.metrics);
    metrics.filter(|metric| !metric.values.is_empty()).map(|metric| metric.name.as_str())
}

fn facts<'m>(all: &'m [Measurement]) -> impl Iterator<Item = &'m str> {
    let is_known = |fact: &Fact| all.iter().any(|one| fact.of(&one.subject).is_some());
    Fact::ALL.into_iter().filter(is_known).map(|fact| -> &'m str { fact.name() })
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let near = nearest(name, known).map(|near| format!("did you mean {near}?"));
    let hint = near.unwrap_or_else(|| "`kiln trend '*'` shows all".to_owned());
    Error::Usage(format!("no figures that were kept are of a {what} {name:?}; {hint}"))
}

#[cfg(test)]
mod tests {
    use measure::{Metric, Subject, Unit, Value};

    use super::*;

    fn keep(root: &Path, folder: &str, name: &str, release: &str, cost: f64) {
        let value = Value { boot: 0, min: cost, median: cost, max: cost, repetitions: 8, left_out: 0 };
        let measurement = Measurement {
            subject: Subject {
                release: release.to_owned(),
                locator: format!("deb:{release}"),
                kernel: format!("deb:{release}"),
                identity: release.to_owned(),
                ..Subject::default()
            },
            kind: Kind::Exact,
            procedure: String::new(),
            boots: Vec::new(),
            metrics: vec![Metric {
                name: "poll/wait".to_owned(),
                about: String::new(),
                unit: Unit::Instructions,
                values: vec![value; 3],
                samples: Vec::new(),
                not_measured: None,
                detail: None,
            }],
            code: std::collections::BTreeMap::new(),
            notes: Vec::new(),
        };
        ledger::Figures::at(root.join(folder)).keep(name, &measurement).expect("writable");
    }

    fn trends(root: &Path, metric: &str, kernels: Option<&str>) -> Result<Vec<Trend>, Error> {
        let kernels = kernels.map(str::to_owned);
        TrendsRequest { metric: metric.to_owned(), kernels, branch: None }.trends(root)
    }

    #[test]
    fn measurements_and_comparisons_have_one_history() {
        let root = tempfile::tempdir().expect("a directory");
        keep(root.path(), "2026-11-20T10-00-00Z-1", "measurement", "6.1.0-56-amd64", 1200.0);
        keep(root.path(), "2026-11-21T10-00-00Z-1", "base", "6.1.0-47-amd64", 1000.0);
        keep(root.path(), "2026-11-21T10-00-00Z-1", "new-1", "6.1.0-50-amd64", 1000.0);
        std::fs::write(root.path().join("2026-11-21T10-00-00Z-1/new-2.json"), "{").expect("writable");
        let found = trends(root.path(), "poll/*", None).expect("known");
        let series = &found[0].series[0];
        assert_eq!(
            series.points.iter().map(|point| point.median).collect::<Vec<_>>(),
            [1000.0, 1000.0, 1200.0]
        );
        assert_eq!(series.steps.iter().map(|step| step.at).collect::<Vec<_>>(), [2]);
        let some = trends(root.path(), "poll/wait", Some("deb:6.1.0-4*")).expect("known");
        assert_eq!(some[0].series[0].points.len(), 1);
    }

    #[test]
    fn what_the_files_of_kernels_are_has_a_history_too() {
        let root = tempfile::tempdir().expect("a directory");
        keep(root.path(), "1", "measurement", "6.1.0-56-amd64", 1200.0);
        assert!(trends(root.path(), "kernel/*", None).is_err(), "an older version measured it");
        let mut measured = measurements(root.path()).remove(0);
        measured.subject.size = Some(kernel::Size { image: 8_000_000, modules: None });
        ledger::Figures::at(root.path().join("2")).keep("measurement", &measured).expect("writable");
        let found = trends(root.path(), "kernel/*", None).expect("known");
        assert_eq!(
            found.iter().map(|trend| trend.metric.as_str()).collect::<Vec<_>>(),
            ["kernel/image-size"]
        );
        assert_eq!(trends(root.path(), "*", None).expect("known").len(), 2);
    }

    #[test]
    fn what_was_not_kept_is_one_clear_message() {
        let root = tempfile::tempdir().expect("a directory");
        let error = |metric: &str, kernels: Option<&str>| {
            let error = trends(root.path(), metric, kernels).expect_err("nothing such");
            assert!(error.is_usage());
            error.to_string()
        };
        assert!(error("poll/wait", None).starts_with("no figures in "));
        keep(root.path(), "1", "measurement", "6.1.0-56-amd64", 1200.0);
        assert!(error("poll/wat", None).ends_with("of a metric \"poll/wat\"; did you mean poll/wait?"));
        assert!(error("poll/wait", Some("6.1.0-57-amd64")).ends_with("did you mean 6.1.0-56-amd64?"));
    }
}
