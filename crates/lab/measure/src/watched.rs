//! What the plugin saw of the jobs that were measured.

use std::collections::{BTreeMap, BTreeSet};

use crate::exact::Watched;
use crate::profile::{BadProfile, Profile, Symbolized, Symbols};
use crate::{Code, Detail, Value};

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
    /// Reads it with the symbols of the Kernel.
    pub(super) fn read(watched: &'a Watched, symbols: Symbols) -> Result<Self, BadProfile> {
        Ok(Self { jobs: &watched.jobs, code: Symbolized::new(Profile::parse(&watched.output)?, symbols) })
    }

    /// What a repetition of the job of this index executed that cost what is typical of its boot.
    pub(super) fn detail(&self, job: usize, value: &Value) -> Option<Detail> {
        self.code.detail(self.place(job)?, Some(typical(value)))
    }

    /// How often each event happened in that one, and in the other repetitions; nothing for one that this Kernel has no
    /// function for.
    pub(super) fn events(&self, job: usize, value: &Value) -> Option<Vec<Option<Happened>>> {
        let place = self.place(job)?;
        let counts = self.code.events(place, Some(typical(value)))?;
        let once = |count| Happened { min: count, typical: count, max: count };
        let mut all: Vec<_> = counts.into_iter().map(|count| count.map(once)).collect();
        let costs: BTreeSet<u64> = self.code.profile().jobs.get(place)?.costs().into_iter().collect();
        for other in costs.into_iter().filter_map(|cost| self.code.events(place, Some(cost))) {
            for (happened, count) in all.iter_mut().zip(other) {
                if let (Some(happened), Some(count)) = (happened, count) {
                    (happened.min, happened.max) = (happened.min.min(count), happened.max.max(count));
                }
            }
        }
        Some(all)
    }

    /// The code that was executed, by function.
    pub(super) fn code(&self) -> BTreeMap<String, Code> {
        self.code.code()
    }

    /// The number that the plugin gave a job.
    fn place(&self, job: usize) -> Option<usize> {
        self.jobs.iter().position(|&watched| watched == job)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of instructions")]
fn typical(value: &Value) -> u64 {
    value.median as u64
}
