//! What the plugin saw of the jobs that were measured.

use std::collections::BTreeSet;

use crate::exact::Watched;
use crate::profile::{BadProfile, Profile, Symbolized, Symbols};
use crate::{Detail, Metric};

/// The same, read.
pub(super) struct Seen<'a> {
    /// The jobs, by their indexes among all.
    jobs: &'a [usize],
    code: Symbolized,
}

/// How often something happened in one repetition: in a typical one, and in all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Happened {
    pub(super) min: u64,
    pub(super) typical: u64,
    pub(super) max: u64,
}

impl<'a> Seen<'a> {
    /// Reads it.
    pub(super) fn read(watched: &'a Watched) -> Result<Self, BadProfile> {
        let symbols = Symbols::parse(&watched.symbols);
        Ok(Self { jobs: &watched.jobs, code: Symbolized::new(Profile::parse(&watched.output)?, symbols) })
    }

    /// What a repetition of `metric`, the job of this index, executed that cost what is typical of its first boot.
    pub(super) fn detail(&self, job: usize, metric: &Metric) -> Option<Detail> {
        self.code.detail(self.place(job)?, Some(typical(metric)?))
    }

    /// How often each of the events happened in that one, and in the other repetitions.
    pub(super) fn events(&self, job: usize, metric: &Metric) -> Option<Vec<Happened>> {
        let place = self.place(job)?;
        let counts = self.code.events(place, Some(typical(metric)?))?;
        let mut all: Vec<_> =
            counts.into_iter().map(|count| Happened { min: count, typical: count, max: count }).collect();
        let costs: BTreeSet<u64> = self.code.profile().jobs.get(place)?.costs().into_iter().collect();
        for other in costs.into_iter().filter_map(|cost| self.code.events(place, Some(cost))) {
            for (happened, count) in all.iter_mut().zip(other) {
                (happened.min, happened.max) = (happened.min.min(count), happened.max.max(count));
            }
        }
        Some(all)
    }

    /// The number that the plugin gave a job.
    fn place(&self, job: usize) -> Option<usize> {
        self.jobs.iter().position(|&watched| watched == job)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of instructions")]
fn typical(metric: &Metric) -> Option<u64> {
    Some(metric.values.first()?.median as u64)
}
