//! Which functions the blocks of a profile are in.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::events::{EVENTS, Happened, event};
use super::file::{Block, Profile};
use super::symbols::Symbols;

/// A function: its place among the symbols; nothing where no symbol names the code.
pub(super) type Place = Option<usize>;

/// A profile and the functions of its blocks, which are looked up once for all jobs.
#[derive(Debug)]
pub struct Symbolized {
    pub(super) profile: Profile,
    pub(super) symbols: Arc<Symbols>,
    /// Of each block, in its order.
    blocks: Vec<Vec<Run>>,
    /// Of each block, the events that its functions are, by their places among [`EVENTS`]: one for each call.
    events: Vec<Vec<usize>>,
    /// Of each of [`EVENTS`], whether the Kernel has a function that is one.
    countable: Vec<bool>,
}

/// Instructions of a block that are in the same function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) place: Place,
    pub(super) instructions: u64,
    /// The first of them is the function's first one: it was called.
    pub(super) is_call: bool,
}

impl Symbolized {
    /// Looks them up.
    #[must_use]
    pub fn new(profile: Profile, symbols: impl Into<Arc<Symbols>>) -> Self {
        let symbols = symbols.into();
        let blocks: Vec<_> = profile.blocks.iter().map(|block| runs(block, &symbols)).collect();
        let of = |run: &Run| event(symbols.get(run.place.filter(|_| run.is_call)?)?.name);
        let events = blocks.iter().map(|runs| runs.iter().filter_map(of).collect()).collect();
        let mut countable = vec![false; EVENTS.len()];
        symbols.iter().filter_map(|symbol| event(symbol.name)).for_each(|place| countable[place] = true);
        Self { profile, symbols, blocks, events, countable }
    }

    /// The profile.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The functions of the block with this number.
    pub(super) fn block(&self, number: u32) -> &[Run] {
        self.blocks.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// Of each of [`EVENTS`], whether the Kernel has a function whose calls are one.
    #[must_use]
    pub fn countable(&self) -> &[bool] {
        &self.countable
    }

    /// How often each of [`EVENTS`] happened in the repetition of a job that [`Job::typical`](super::Job::typical) finds.
    fn events_of(&self, job: usize, wanted: u64) -> Option<Vec<u64>> {
        let variant = self.profile.jobs.get(job)?.typical(Some(wanted))?;
        let mut counts = vec![0_u64; EVENTS.len()];
        for executed in &variant.blocks {
            for &event in self.events.get(executed.block as usize).into_iter().flatten() {
                counts[event] = counts[event].saturating_add(executed.times.into());
            }
        }
        Some(counts)
    }

    /// How often each of [`EVENTS`] happened in a repetition of a job that cost `wanted`, and in the other ones.
    #[must_use]
    pub fn happened(&self, job: usize, wanted: u64) -> Option<Vec<Happened>> {
        let once = |count| Happened { min: count, typical: count, max: count };
        let mut all: Vec<_> = self.events_of(job, wanted)?.into_iter().map(once).collect();
        let costs: BTreeSet<u64> = self.profile.jobs.get(job)?.costs().into_iter().collect();
        for other in costs.into_iter().filter_map(|cost| self.events_of(job, cost)) {
            for (happened, count) in all.iter_mut().zip(other) {
                (happened.min, happened.max) = (happened.min.min(count), happened.max.max(count));
            }
        }
        Some(all)
    }
}

fn runs(block: &Block, symbols: &Symbols) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let (mut address, mut end) = (block.address, None);
    for &size in &block.sizes {
        match (runs.last_mut(), end) {
            (Some(run), Some(end)) if address < end => run.instructions += 1,
            _ => {
                let (place, is_call) = symbols.entered(address);
                runs.push(Run { place, instructions: 1, is_call });
                let next = place.map_or(0, |place| place + 1);
                end = Some(symbols.get(next).map_or(u64::MAX, |symbol| symbol.address));
            }
        }
        address = address.wrapping_add(size.into());
    }
    runs
}
