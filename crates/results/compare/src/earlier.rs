//! Figures that were measured earlier, as sides of a comparison.

use std::collections::BTreeSet;
use std::path::Path;

use lab::Backend;
use lab::suites::select::operations;
use measure::measurement::{PROGRAM, is_program};
use measure::{Candidate, Kind, Measurement};

use crate::error::Error;
use crate::request::{CompareRequest, MEASURED};

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
    /// Reads those that are wanted, which are kept below `root`, and forgets of them what is not.
    pub(crate) fn read(request: &CompareRequest, root: &Path) -> Result<Self, Error> {
        let kept = request.sides.kept().into_iter();
        let read = kept.map(|(place, name)| Ok((place, measured(request, root, name)?)));
        read.collect::<Result<_, Error>>().map(Self)
    }

    /// Gives the program of all sides one name, by which its figures are compared: its own, unless there are several.
    pub(crate) fn name_programs(&mut self, candidates: &mut [Candidate<'_>]) {
        let earlier = self.0.iter().flat_map(|(_, measured)| measured.operations());
        let jobs = candidates.iter().flat_map(|candidate| &candidate.jobs);
        let name = common_name(earlier.chain(jobs.map(|job| job.name.as_str())));
        self.0.iter_mut().for_each(|(_, measured)| measured.name_program(&name));
        let jobs = candidates.iter_mut().flat_map(|candidate| &mut candidate.jobs);
        jobs.filter(|job| is_program(&job.name)).for_each(|job| job.name.clone_from(&name));
    }

    /// Refuses what cannot be compared, before anything is measured.
    pub(crate) fn check(&self, candidates: &[Candidate<'_>], backend: &dyn Backend) -> Result<(), Error> {
        let earlier = self.0.iter().map(|(_, measured)| Way {
            label: &measured.subject.label,
            machine: &measured.subject.machine,
            procedure: &measured.procedure,
            operations: measured.operations().collect(),
        });
        let is_asked = !self.0.is_empty() && !candidates.is_empty();
        let procedure = if is_asked { backend.procedure()? } else { String::new() };
        let new = candidates.iter().map(|candidate| Way {
            label: &candidate.subject.label,
            machine: &candidate.subject.machine,
            procedure: &procedure,
            operations: candidate.jobs.iter().map(|job| job.name.as_str()).collect(),
        });
        let mut ways = earlier.chain(new);
        let Some(first) = ways.next().filter(|_| !self.0.is_empty()) else { return Ok(()) };
        ways.try_for_each(|other| first.check(&other)).map_err(Error::Usage)
    }

    /// Gives candidates that are a Kernel which was measured earlier other seeds than it had then.
    pub(crate) fn leave_seeds(&self, candidates: &mut [Candidate<'_>]) {
        for candidate in candidates {
            let same = self.0.iter().filter(|(_, one)| one.subject.identity == candidate.subject.identity);
            let last = same.flat_map(|(_, one)| &one.boots).map(|boot| boot.seed).max();
            candidate.first_seed = candidate.first_seed.saturating_add(last.unwrap_or(0));
        }
    }

    /// Puts them in their places among what was measured now.
    pub(crate) fn among(&self, mut measured: Vec<Measurement>) -> Vec<Measurement> {
        for (place, one) in &self.0 {
            measured.insert((*place).min(measured.len()), one.clone());
        }
        measured
    }
}

/// The only name of a program among these.
fn common_name<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let programs: BTreeSet<&str> = names.filter(|&name| is_program(name) && name != PROGRAM).collect();
    let only = programs.first().filter(|_| programs.len() == 1);
    only.map_or_else(|| PROGRAM.to_string(), |&name| name.to_string())
}

/// The figures of this name, of the operations that are asked for.
fn measured(request: &CompareRequest, root: &Path, name: &str) -> Result<Measurement, Error> {
    let label = format!("{MEASURED}{name}");
    let refused = |why: &dyn std::fmt::Display| Error::Usage(format!("{label}: {why}"));
    if request.figures.timed.is_some() {
        let why = "--timed boots the kernels in turns and cannot use a stored measurement: name the kernel";
        return Err(refused(&why));
    }
    let mut measured = ledger::measurement(root, name).map_err(|error| refused(&error))?;
    if measured.kind != Kind::Exact {
        let why = "its figures are times, which cannot be compared with those of another hour: compare the kernels \
                   with --timed";
        return Err(refused(&why));
    }
    measured.subject.label = label;
    let patterns = &request.figures.operations;
    if !patterns.is_empty() {
        let wanted = operations(patterns).map_err(lab::suites::Error::from)?;
        measured.narrow(|name| wanted.iter().any(|operation| operation.name == name));
    }
    Ok(measured)
}

impl Way<'_> {
    /// Why figures of another way cannot be compared with these.
    fn check(&self, other: &Way<'_>) -> Result<(), String> {
        let (label, others) = (self.label, other.label);
        if self.procedure != other.procedure {
            let text = "another version of kiln or of QEMU measured it: measure it again";
            return Err(format!("{label} cannot be compared with {others}: {text}"));
        }
        if self.machine != other.machine {
            let (machine, others_machine) = (self.machine, other.machine);
            let text = format!("{label} is of another machine ({machine}) than {others} ({others_machine})");
            return Err(format!("{text}: measure both with the same options"));
        }
        if !self.operations.iter().any(|name| other.operations.contains(name)) {
            let text = format!("{label} and {others} have no operation in common");
            return Err(format!("{text}: measure one of them again, with the same --exec or --metric"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way<'a>(label: &'a str) -> Way<'a> {
        Way { label, machine: "QEMU with TCG, 1 CPU, 1024 MiB", procedure: "1", operations: vec!["a", "b"] }
    }

    fn refused(other: &Way<'_>) -> String {
        way("measured:last").check(other).unwrap_err()
    }

    #[test]
    fn what_came_about_in_the_same_way_is_compared() {
        assert!(way("measured:last").check(&way("host")).is_ok());
        assert!(way("measured:last").check(&Way { operations: vec!["b", "c"], ..way("host") }).is_ok());
    }

    #[test]
    fn programs_of_several_names_have_a_common_one() {
        let common = |names: &[&str]| common_name(names.iter().copied());
        assert_eq!(common(&["sh1.sh", "boot/user-space", "sh1.sh"]), "sh1.sh");
        assert_eq!(common(&["workload", "sh1.sh"]), "sh1.sh", "figures of an earlier version");
        assert_eq!(common(&["old", "new"]), "workload");
        assert_eq!(common(&["pipe/round-trip"]), "workload", "which names nothing");
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
