//! The delay of each round, by what the rounds before have shown.

use harness::random::Random;
use protocol::race::Strategy;

use crate::clock::Clock;
use crate::disturbance::{GRACE, Majority, has_gap, is_late};
use crate::flip::{Bounds, Flip};
use crate::lead::Lead;
use crate::race::Judgement;
use crate::round::Round;
use crate::sampler::{Lengths, Sampler, Sampling};
use crate::sequence::{LowDiscrepancy, between};
use crate::statistics::median;

/// The jitter around aligned starts, as a part of the lengths of both sections.
const JITTER: i64 = 64;

/// What two looks at the clock differ by in any case, in nanoseconds.
const NOISE: u64 = 20;

/// After so many late rounds in a row there will be no others: the machine has too much else to do.
const ALL_LATE: u32 = 64;

/// Hits whose delays are remembered.
const REMEMBERED: usize = 9;

/// Chooses the delays. All times are ticks.
#[derive(Debug)]
pub(crate) struct Controller {
    strategy: Strategy,
    grace: i64,
    clock_noise: i64,
    tolerates_all: bool,
    random: Random,
    spread: LowDiscrepancy,
    /// Nothing once it has ended.
    sampler: Option<Sampler>,
    /// As far as they are known.
    lengths: Option<Lengths>,
    majority: Majority,
    /// Late rounds in a row.
    late: u32,
    flip: Flip,
    /// The delays of the last hits, the oldest of which is overwritten.
    hits: [i64; REMEMBERED],
    hit_count: usize,
    /// The round is one at the best delay known.
    is_focused: bool,
    pub(crate) lead: Lead,
}

/// What it made of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learnt {
    /// The round was disturbed and is discarded.
    Disturbed,
    /// It was a sample.
    Sampled,
    /// It was a sample, and sampling has ended.
    Known {
        /// The lengths have settled.
        settled: bool,
    },
    /// Its delay was tried.
    Tried,
}

impl Controller {
    /// One that draws its delays from `seed`. On `one_cpu` no round is disturbed: it is the disturbances that make the
    /// sections meet.
    pub(crate) fn new(strategy: Strategy, seed: u64, clock: Clock, one_cpu: bool) -> Self {
        let mut random = Random::new(seed);
        let spread = LowDiscrepancy::new(random.next_u64());
        let noise = clock.ticks(NOISE) as i64;
        Self {
            strategy,
            grace: clock.ticks(GRACE) as i64,
            clock_noise: noise,
            tolerates_all: one_cpu,
            random,
            spread,
            sampler: Some(Sampler::first(noise)),
            lengths: None,
            majority: Majority::default(),
            late: 0,
            flip: Flip::UNKNOWN,
            hits: [0; REMEMBERED],
            hit_count: 0,
            is_focused: true,
            lead: Lead::new(|ns| clock.ticks(ns)),
        }
    }

    /// The lengths of the sections, once they are known.
    pub(crate) fn lengths(&self) -> Option<Lengths> {
        self.lengths.filter(|_| self.sampler.is_none())
    }

    /// All delays with which the sections overlap, once they are known.
    pub(crate) fn range(&self) -> Option<(i64, i64)> {
        let lengths = self.lengths()?;
        let margin = lengths.sum() / 32 + 1;
        Some((-lengths.b.high().saturating_add(margin), lengths.a.high().saturating_add(margin)))
    }

    /// The delay of the next round.
    pub(crate) fn delay(&mut self) -> i64 {
        let range = self.range();
        self.is_focused = range.is_none() || !self.is_focused;
        match (self.strategy, range) {
            (Strategy::Uniform, Some((from, to))) => between(from, to, self.random.next_u64()),
            (Strategy::LowDiscrepancy, Some((from, to))) => between(from, to, self.spread.next()),
            (Strategy::Mixture, Some((from, to))) if !self.is_focused => {
                between(from, to, self.spread.next())
            }
            (Strategy::Mixture, _) => self.near_best(),
            _ => 0,
        }
    }

    /// A delay near the best that is known: that of the hits, else the flip of the order, else aligned starts.
    fn near_best(&mut self) -> i64 {
        let noise = self.noise();
        let mut hits = self.hits;
        let hits = &mut hits[..self.hit_count.min(REMEMBERED)];
        let (best, jitter) = match (hits.is_empty(), self.flip.step()) {
            (false, _) => (median(hits), noise),
            (true, Some(step)) => (self.flip.at(), step),
            (true, None) => (0, self.lengths().map_or(0, |lengths| lengths.sum() / JITTER)),
        };
        between(best.saturating_sub(jitter), best.saturating_add(jitter + 1), self.random.next_u64())
    }

    /// How precisely the delays are kept.
    fn noise(&self) -> i64 {
        self.lengths.map_or(1, |lengths| lengths.starts.deviation.max(1))
    }

    /// Learns from a round. With `hurry` the first sampling ends with it.
    pub(crate) fn observe(&mut self, round: &Round, judgement: Judgement, hurry: bool) -> Learnt {
        self.lead.observe(round.is_missed && !self.tolerates_all, round.late);
        if self.is_disturbed(round) {
            return Learnt::Disturbed;
        }
        self.steer(round, judgement);
        match &mut self.sampler {
            None => Learnt::Tried,
            Some(_) if judgement == Judgement::Useless => Learnt::Sampled,
            Some(sampler) => {
                let sampling = sampler.take(round, hurry);
                self.lengths = sampler.lengths();
                self.end_sampling_if(sampling)
            }
        }
    }

    fn end_sampling_if(&mut self, sampling: Sampling) -> Learnt {
        if sampling == Sampling::GoesOn {
            return Learnt::Sampled;
        }
        self.sampler = None;
        Learnt::Known { settled: sampling == Sampling::Settled }
    }

    /// Whether a round is to be discarded. Where most rounds have gaps, the sections are sampled anew.
    fn is_disturbed(&mut self, round: &Round) -> bool {
        if self.tolerates_all {
            return false;
        }
        let is_late = is_late(round, self.sum(round), self.grace);
        self.late = if is_late { self.late.saturating_add(1) } else { 0 };
        if is_late {
            return self.late < ALL_LATE;
        }
        let Some(lengths) = self.lengths else { return false };
        let has_gap = has_gap(round, &lengths, self.grace);
        if self.majority.has_changed_with(has_gap) {
            self.lengths = None;
            let noise = self.clock_noise;
            self.sampler.get_or_insert_with(|| Sampler::again(noise)).forget();
        }
        has_gap
    }

    /// The length of both sections: that of the round where no other is known.
    fn sum(&self, round: &Round) -> i64 {
        self.lengths.map_or(round.a.length().saturating_add(round.b.length()), |lengths| lengths.sum())
    }

    /// Lets a judgement guide the rounds to come.
    fn steer(&mut self, round: &Round, judgement: Judgement) {
        let bounds = Bounds { step: self.noise(), delay: self.sum(round).saturating_mul(4).max(0) };
        match judgement {
            Judgement::Hit => {
                self.hits[self.hit_count % REMEMBERED] = round.delay;
                self.hit_count += 1;
            }
            Judgement::Early | Judgement::Late if self.is_focused => {
                self.flip.answer(judgement == Judgement::Early, bounds);
            }
            Judgement::Early | Judgement::Late | Judgement::Miss | Judgement::Useless => {}
        }
    }
}

#[cfg(test)]
mod tests;
