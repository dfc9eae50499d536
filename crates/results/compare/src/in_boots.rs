//! Counted comparisons: how many boots there are, and with which seeds.

use std::collections::BTreeSet;

use measure::count::BOOTS_MAX;
use measure::{BOOT, Candidate, Measurement, Profiling, Unit};
use verdict::{Row, Verdict, compare_exact};

use crate::earlier::Earlier;
use crate::environment::{Environment, Listener};
use crate::error::Error;
use crate::request::{CompareRequest, SidesRequest};

/// Boots of each Kernel at first: a second one shows which metrics vary.
const FIRST_BOOTS: u32 = 2;

/// Names of operations in a line about what is done.
const NAMES: usize = 5;

/// What is counted.
pub(crate) struct InBoots<'a> {
    pub(crate) request: &'a CompareRequest,
    pub(crate) environment: &'a Environment<'a>,
    pub(crate) candidates: &'a [Candidate<'a>],
    pub(crate) profiling: Profiling,
}

impl InBoots<'_> {
    /// Counts the instructions of those whose figures are not there yet; gives the figures of all, the base first.
    ///
    /// If only some operations or a program are of interest, those of them that the first boots leave undecided are
    /// measured in more boots. No more than that is looked at twice, so the test of all boots keeps its rate of errors: a
    /// metric that has no further boots is called neither worse nor better by it.
    pub(crate) fn measure(
        &self,
        earlier: &Earlier,
        listener: &Listener<'_>,
    ) -> Result<Vec<Measurement>, Error> {
        let first = self.request.figures.boots.unwrap_or(FIRST_BOOTS);
        let mut counted = self.count(self.candidates, first, self.profiling, listener)?;
        let open = self.open(&earlier.among(counted.clone()));
        let may_go_on = self.request.figures.boots.is_none() && self.request.is_narrow();
        if may_go_on && first < BOOTS_MAX && !open.is_empty() && !counted.is_empty() {
            let more = BOOTS_MAX - first;
            listener.measuring(measure::Progress::Note(about(&open, first, more)));
            let again: Vec<Candidate<'_>> =
                self.candidates.iter().map(|candidate| later(candidate, &open, first)).collect();
            let later = self.count(&again, more, Profiling::Events, listener)?;
            counted.iter_mut().zip(later).for_each(|(one, later)| one.add(later));
        }
        Ok(earlier.among(counted))
    }

    fn count(
        &self,
        candidates: &[Candidate<'_>],
        boots: u32,
        profiling: Profiling,
        listener: &Listener<'_>,
    ) -> Result<Vec<Measurement>, Error> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.environment.count(candidates, boots, profiling, listener)?)
    }

    /// Operations that are not decided on one of the Kernels.
    fn open(&self, measured: &[Measurement]) -> BTreeSet<String> {
        let Some((base, others)) = measured.split_first() else { return BTreeSet::new() };
        let rows = others.iter().flat_map(|new| compare_exact(base, new).rows);
        let is_open = |row: &Row| {
            row.verdict == Verdict::Undecided && row.unit == Unit::Instructions && row.metric != BOOT
        };
        rows.filter(is_open).map(|row| row.metric).collect()
    }
}

/// The same Kernel for more boots, with the seeds behind the first ones, of these operations only.
fn later<'a>(candidate: &Candidate<'a>, open: &BTreeSet<String>, boots: u32) -> Candidate<'a> {
    let mut candidate = candidate.clone();
    candidate.jobs.retain(|job| open.contains(&job.name));
    candidate.first_seed = candidate.first_seed.saturating_add(boots.into());
    candidate
}

fn about(open: &BTreeSet<String>, boots: u32, more: u32) -> String {
    let names: Vec<&str> = open.iter().take(NAMES).map(String::as_str).collect();
    let rest = match open.len().saturating_sub(names.len()) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let names = names.join(", ");
    format!("{boots} boots do not decide {names}{rest}: kiln makes {more} more boots of each kernel")
}

/// What is to be said where a Kernel is compared with itself.
pub(crate) fn same_kernel(request: &CompareRequest, measured: &[Measurement]) -> Vec<String> {
    // Several programs on one Kernel are what differs.
    let is_of_programs = matches!(request.sides, SidesRequest::Programs { .. });
    let Some((base, others)) = measured.split_first().filter(|_| !is_of_programs) else { return Vec::new() };
    let same = others.iter().filter(|new| new.subject.identity == base.subject.identity);
    let said = same.map(|new| {
        let seeds = |of: &Measurement| of.boots.iter().map(|boot| boot.seed).collect::<BTreeSet<_>>();
        let (of_base, of_new) = (seeds(base), seeds(new));
        let label = &new.subject.label;
        if of_base.is_disjoint(&of_new) {
            let (of_base, of_new) = (list(&of_base), list(&of_new));
            let apart = format!("its boots have the seeds {of_new}, those of the base {of_base}");
            format!("{label} is the same kernel as the base: {apart}")
        } else {
            let text =
                "boots with the same seeds of the same kernel are the same: this comparison says nothing";
            format!("{label} and the base: {text}")
        }
    });
    said.collect()
}

fn list(seeds: &BTreeSet<u64>) -> String {
    seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
