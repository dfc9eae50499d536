//! Figures that were measured earlier, as sides of a comparison.

use anyhow::Result;
use lab::suites::select::operations;
use measure::{Candidate, Kind, Measurement, procedure};

use crate::cli::{Figures, Wanted};
use crate::failure::WrongUsage;

/// Figures with their places among all sides, in the order of these.
#[derive(Debug)]
pub(crate) struct Earlier(Vec<(usize, Measurement)>);

/// How the figures of one side came about, or are going to.
#[derive(Debug)]
struct Way<'a> {
    label: &'a str,
    machine: &'a str,
    procedure: &'a str,
    operations: Vec<&'a str>,
}

impl Earlier {
    /// Reads those that are wanted, and forgets of them what is not.
    pub(crate) fn read(wanted: &[Wanted], said: &Figures) -> Result<Self> {
        let places = wanted.iter().enumerate();
        let one = |(place, wanted): (usize, &Wanted)| match wanted {
            Wanted::Kernel(_) => None,
            Wanted::Measured(name) => Some(said.measured(name).map(|measured| (place, measured))),
        };
        places.filter_map(one).collect::<Result<_>>().map(Self)
    }

    /// Refuses what cannot be compared, before anything is measured.
    pub(crate) fn check(&self, candidates: &[Candidate<'_>]) -> Result<()> {
        let earlier = self.0.iter().map(|(_, measured)| Way {
            label: &measured.subject.label,
            machine: &measured.subject.machine,
            procedure: &measured.procedure,
            operations: measured.operations().collect(),
        });
        let is_asked = !self.0.is_empty() && !candidates.is_empty();
        let procedure = if is_asked { procedure()? } else { String::new() };
        let new = candidates.iter().map(|candidate| Way {
            label: &candidate.subject.label,
            machine: &candidate.subject.machine,
            procedure: &procedure,
            operations: candidate.jobs.iter().map(|job| job.name.as_str()).collect(),
        });
        let mut ways = earlier.chain(new);
        let Some(first) = ways.next().filter(|_| !self.0.is_empty()) else { return Ok(()) };
        Ok(ways.try_for_each(|other| first.check(&other))?)
    }

    /// Puts them in their places among what was measured now.
    pub(crate) fn among(self, measured: &mut Vec<Measurement>) {
        for (place, one) in self.0 {
            measured.insert(place, one);
        }
    }
}

impl Way<'_> {
    fn check(&self, other: &Way<'_>) -> Result<(), WrongUsage> {
        let (label, others) = (self.label, other.label);
        if self.procedure != other.procedure {
            let text = "another version of kiln or of QEMU measured it: measure it again";
            return Err(WrongUsage(format!("{label} cannot be compared with {others}: {text}")));
        }
        if self.machine != other.machine {
            let (machine, others_machine) = (self.machine, other.machine);
            let text = format!("{label} is of another machine ({machine}) than {others} ({others_machine})");
            return Err(WrongUsage(format!("{text}: measure both with the same options")));
        }
        if !self.operations.iter().any(|name| other.operations.contains(name)) {
            let text = format!("{label} and {others} have no operation in common");
            return Err(WrongUsage(format!(
                "{text}: measure one of them again, with the same --exec or --metric"
            )));
        }
        Ok(())
    }
}

impl Figures {
    /// The figures of this name, of the operations that are asked for.
    fn measured(&self, name: &str) -> Result<Measurement> {
        let label = Wanted::Measured(name.to_string()).to_string();
        if self.timed {
            let text =
                "--timed boots the kernels in turns and cannot use a stored measurement: name the kernel";
            return Err(WrongUsage(format!("{label}: {text}")).into());
        }
        let found = ledger::measurement(&self.root(), name);
        let mut measured = found.map_err(|error| WrongUsage(format!("{label}: {error}")))?;
        if measured.kind != Kind::Exact {
            let text = "its figures are times, which cannot be compared with those of another hour";
            return Err(WrongUsage(format!("{label}: {text}: compare the kernels with --timed")).into());
        }
        measured.subject.label = label;
        if !self.metric.is_empty() {
            let wanted = operations(&self.metric).map_err(lab::suites::Error::from)?;
            measured.narrow(|name| wanted.iter().any(|operation| operation.name == name));
        }
        Ok(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way<'a>(label: &'a str) -> Way<'a> {
        Way { label, machine: "QEMU with TCG, 1 CPU, 1024 MiB", procedure: "1", operations: vec!["a", "b"] }
    }

    fn refused(other: &Way<'_>) -> String {
        way("measured:last").check(other).unwrap_err().to_string()
    }

    #[test]
    fn what_came_about_in_the_same_way_is_compared() {
        assert!(way("measured:last").check(&way("host")).is_ok());
        assert!(way("measured:last").check(&Way { operations: vec!["b", "c"], ..way("host") }).is_ok());
    }

    #[test]
    fn another_way_is_refused_with_what_to_do() {
        let error = refused(&Way { procedure: "2", ..way("host") });
        assert!(error.starts_with("measured:last cannot be compared with host: another version"), "{error}");
        let error = refused(&Way { machine: "QEMU with TCG, 1 CPU, 512 MiB", ..way("host") });
        assert!(
            error.contains("1024 MiB) than host (QEMU with TCG, 1 CPU, 512 MiB): measure both"),
            "{error}"
        );
        let error = refused(&Way { operations: vec!["workload"], ..way("host") });
        assert!(error.starts_with("measured:last and host have no operation in common: "), "{error}");
    }
}
