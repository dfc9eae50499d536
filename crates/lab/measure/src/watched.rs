//! What the plugin saw of the jobs that were measured.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::measure::Samples;

use crate::exact::Watched;
use crate::profile::events::Happened;
use crate::profile::{BadProfile, Profile, Symbolized, Symbols};
use crate::{Code, Detail, Value};

/// The same, read.
pub(super) struct Seen<'a> {
    /// The jobs, by their indexes among all.
    jobs: &'a [usize],
    code: Symbolized,
}

impl<'a> Seen<'a> {
    /// Reads it with the symbols of the Kernel.
    pub(super) fn read(watched: &'a Watched, symbols: Arc<Symbols>) -> Result<Self, BadProfile> {
        Ok(Self { jobs: &watched.jobs, code: Symbolized::new(Profile::parse(&watched.output)?, symbols) })
    }

    /// What a repetition of the job of this index executed that cost what is typical of its boot.
    pub(super) fn detail(&self, job: usize, value: &Value) -> Option<Detail> {
        self.code.detail(self.place(job)?, Some(typical(value)))
    }

    /// How often each event happened in that one, and in the other repetitions; nothing for one that this Kernel has no
    /// function for.
    pub(super) fn events(
        &self,
        job: usize,
        (value, samples): (&Value, &Samples),
    ) -> Option<Vec<Option<Happened>>> {
        let (place, wanted) = (self.place(job)?, typical(value));
        let happened = match self.code.profile().counted.get(place) {
            Some(counted) => counted.happened(&samples.costs, wanted)?,
            None => self.code.happened(place, wanted)?,
        };
        let countable = self.code.countable().iter();
        Some(happened.into_iter().zip(countable).map(|(happened, &is)| is.then_some(happened)).collect())
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
