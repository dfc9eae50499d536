//! What a link does to frames; the terms are those of tc-netem(8).

use std::num::NonZeroU64;
use std::time::Duration;

use thiserror::Error;

/// The longest delay.
const DELAY_MAX: Duration = Duration::from_secs(60);

/// Frames that a link holds at most, whatever its limit.
const QUEUE_MAX: usize = 100_000;

/// How often something happens: 0 (never) to 1 (always).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Probability(f64);

impl Probability {
    /// It never happens.
    pub const NEVER: Self = Self(0.0);

    /// It always happens.
    pub const ALWAYS: Self = Self(1.0);

    /// Takes a number from 0 to 1.
    ///
    /// # Errors
    ///
    /// It is another number, or none.
    pub fn new(value: f64) -> Result<Self, ImpairmentError> {
        if (0.0..=1.0).contains(&value) { Ok(Self(value)) } else { Err(ImpairmentError::Probability(value)) }
    }

    /// The number from 0 to 1.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether it happens, if `draw` is a random number.
    pub(crate) fn happens(self, draw: u64) -> bool {
        // The upper 53 bits are a number from 0 to 1 that f64 has exactly, and which is never 1.
        ((draw >> 11) as f64 / (1u64 << 53) as f64) < self.0
    }
}

/// What a link does to each of its frames.
#[derive(Debug, Clone, PartialEq)]
pub struct Impairment {
    /// Each frame is late by this much: 0 to 60 s.
    pub delay: Duration,
    /// The delay varies by up to this much in both directions, uniformly; at most the delay. Frames overtake each other.
    pub jitter: Duration,
    /// A frame is lost.
    pub loss: Probability,
    /// A frame comes twice; each copy has a delay of its own. One that is also lost comes once.
    pub duplicate: Probability,
    /// A frame is not delayed, so that it overtakes those before it. Needs a delay.
    pub reorder: Probability,
    /// One bit of a frame, anywhere in it, is wrong; the same one in its copy.
    pub corrupt: Probability,
    /// Bits per second that pass, of frames from their destination to their payload's end. A frame leaves when those before
    /// it have left and all of its own bits have; the delay comes after that.
    pub rate_bits_per_s: Option<NonZeroU64>,
    /// Frames that the link holds because of delay or rate: 1 to 100000. Those beyond are dropped.
    pub queue_limit_frames: usize,
}

impl Default for Impairment {
    /// None. The limit is that of tc-netem(8).
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            loss: Probability::NEVER,
            duplicate: Probability::NEVER,
            reorder: Probability::NEVER,
            corrupt: Probability::NEVER,
            rate_bits_per_s: None,
            queue_limit_frames: 1000,
        }
    }
}

impl Impairment {
    /// Looks for what no link does.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), ImpairmentError> {
        if self.delay > DELAY_MAX {
            Err(ImpairmentError::Delay(self.delay))
        } else if self.jitter > self.delay {
            Err(ImpairmentError::Jitter { jitter: self.jitter, delay: self.delay })
        } else if self.reorder > Probability::NEVER && self.delay.is_zero() {
            Err(ImpairmentError::Reorder)
        } else if !(1..=QUEUE_MAX).contains(&self.queue_limit_frames) {
            Err(ImpairmentError::Limit(self.queue_limit_frames))
        } else {
            Ok(())
        }
    }

    /// Whether frames pass as they are, and at once.
    #[must_use]
    pub fn is_none(&self) -> bool {
        let Self { delay, jitter, loss, duplicate, reorder, corrupt, rate_bits_per_s, .. } = self;
        let chances = [loss, duplicate, reorder, corrupt];
        delay.is_zero()
            && jitter.is_zero()
            && rate_bits_per_s.is_none()
            && chances.iter().all(|chance| **chance == Probability::NEVER)
    }
}

/// What no link does.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ImpairmentError {
    /// No probability.
    #[error("{0} is no probability: write a number from 0 to 1")]
    Probability(f64),
    /// Too long.
    #[error("a delay of {0:?} is too long: 60 s is the longest")]
    Delay(Duration),
    /// Frames would arrive before they were sent.
    #[error("a jitter of {jitter:?} is more than the delay of {delay:?}")]
    Jitter {
        /// What was asked for.
        jitter: Duration,
        /// What it is a part of.
        delay: Duration,
    },
    /// There is nothing to overtake.
    #[error("frames are only reordered if there is a delay")]
    Reorder,
    /// No queue, or one without end.
    #[error("a queue limit of {0} frames is not from 1 to {QUEUE_MAX}")]
    Limit(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_from_0_to_1() {
        for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(Probability::new(wrong).is_err(), "{wrong}");
        }
        for draw in [0, u64::MAX] {
            assert!(!Probability::NEVER.happens(draw));
            assert!(Probability::ALWAYS.happens(draw));
        }
        let half = Probability::new(0.5).unwrap();
        assert!(half.happens((1 << 63) - 1) && !half.happens(1 << 63));
    }

    #[test]
    fn what_no_link_does_is_refused() {
        let ms = Duration::from_millis;
        let none = Impairment::default();
        assert!(none.is_none() && none.check().is_ok());
        let wrong = [
            Impairment { delay: Duration::from_secs(61), ..none.clone() },
            Impairment { delay: ms(1), jitter: ms(2), ..none.clone() },
            Impairment { reorder: Probability::ALWAYS, ..none.clone() },
            Impairment { queue_limit_frames: 0, ..none.clone() },
        ];
        assert!(wrong.iter().all(|impairment| impairment.check().is_err()));
        assert!(wrong[..3].iter().all(|impairment| !impairment.is_none()));
    }
}
