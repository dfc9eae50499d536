//! Which functions the blocks of a profile are in.

use super::events::{EVENTS, event};
use super::file::{Block, Profile};
use super::symbols::Symbols;

/// A function: its place among the symbols; nothing where no symbol names the code.
pub(super) type Place = Option<usize>;

/// A profile and the functions of its blocks, which are looked up once for all jobs.
#[derive(Debug)]
pub struct Symbolized {
    pub(super) profile: Profile,
    pub(super) symbols: Symbols,
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
    pub fn new(profile: Profile, symbols: Symbols) -> Self {
        let blocks: Vec<_> = profile.blocks.iter().map(|block| runs(block, &symbols)).collect();
        let of = |run: &Run| event(symbols.get(run.place.filter(|_| run.is_call)?)?.name);
        let events = blocks.iter().map(|runs| runs.iter().filter_map(of).collect()).collect();
        let mut countable = vec![false; EVENTS.len()];
        symbols.names().filter_map(event).for_each(|place| countable[place] = true);
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

    /// How often each of [`EVENTS`] happened in the repetition of a job that [`Job::typical`](super::Job::typical) finds;
    /// nothing for an event whose functions this Kernel does not have.
    #[must_use]
    pub fn events(&self, job: usize, wanted: Option<u64>) -> Option<Vec<Option<u64>>> {
        let variant = self.profile.jobs.get(job)?.typical(wanted)?;
        let mut counts = vec![0_u64; EVENTS.len()];
        for executed in &variant.blocks {
            for &event in self.events.get(executed.block as usize).into_iter().flatten() {
                counts[event] = counts[event].saturating_add(executed.times.into());
            }
        }
        Some(counts.into_iter().zip(&self.countable).map(|(count, &is)| is.then_some(count)).collect())
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
