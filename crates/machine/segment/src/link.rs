//! One direction of a link: it is clear, impaired or cut, and decides what becomes of each frame that enters it.

use std::time::Duration;

use crate::fate::Fate;
use crate::impairment::Impairment;
use crate::statistics::Cause;

/// What a link does with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It passes as it is, and at once.
    Clear,
    /// It ends here.
    Dropped(Cause),
    /// It passes, perhaps twice, perhaps late, perhaps with a wrong bit.
    Impaired(Impaired),
}

/// How a frame passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Impaired {
    /// When the frame and its copy arrive.
    pub(crate) arrivals: [Option<Duration>; 2],
    /// What became of it.
    pub(crate) fate: Fate,
}

/// One direction.
#[derive(Debug, Default)]
pub(crate) struct Link {
    seed: u64,
    impairment: Impairment,
    is_cut: bool,
    /// Frames that entered it.
    frames: u64,
    /// Frames that wait for their time.
    held: usize,
    /// When the last bit of the last frame leaves: the virtual clock of the rate limit (Zhang: "VirtualClock", SIGCOMM
    /// 1990; the theoretical arrival time of ITU-T I.371's GCRA).
    busy_until: Duration,
}

impl Link {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Does this to frames from now on.
    pub(crate) fn impair(&mut self, impairment: Impairment) {
        self.impairment = impairment;
        // Frames of a slower time do not make those of now wait.
        self.busy_until = Duration::ZERO;
    }

    pub(crate) fn cut(&mut self, is_cut: bool) {
        self.is_cut = is_cut;
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Decides about a frame of `length` bytes that enters at `at`. One that a cut takes is counted too, so that those
    /// after it have the fates that they would have had.
    pub(crate) fn enter(&mut self, length: usize, at: Duration) -> Passage {
        let number = self.frames;
        self.frames = number.wrapping_add(1);
        if self.is_cut {
            return Passage::Dropped(Cause::Cut);
        }
        if self.impairment.is_none() {
            return Passage::Clear;
        }
        let fate = Fate::of(&self.impairment, self.seed, number);
        if fate.delay.is_none() {
            return Passage::Dropped(Cause::Loss);
        }
        let arrivals = [fate.delay, fate.copy].map(|delay| self.arrival(length, at, delay?));
        if arrivals == [None; 2] {
            return Passage::Dropped(Cause::Queue);
        }
        Passage::Impaired(Impaired { arrivals, fate })
    }

    /// When a frame arrives, if it has a place in the queue, which it then takes until [`Link::leave`].
    fn arrival(&mut self, length: usize, at: Duration, delay: Duration) -> Option<Duration> {
        let sent = self.busy_until.max(at).saturating_add(self.duration(length));
        let arrival = sent.saturating_add(delay);
        if arrival > at {
            if self.held >= self.impairment.queue_limit_frames {
                return None;
            }
            self.held += 1;
        }
        self.busy_until = sent;
        Some(arrival)
    }

    /// How long a frame takes at the rate of the link.
    fn duration(&self, length: usize) -> Duration {
        let Some(rate) = self.impairment.rate_bits_per_s else { return Duration::ZERO };
        let nanos = length as u128 * 8 * 1_000_000_000 / u128::from(rate.get());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// A frame that waited is gone.
    pub(crate) fn leave(&mut self) {
        self.held = self.held.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use proptest::prelude::*;

    use super::*;
    use crate::impairment::Probability;

    const MS: Duration = Duration::from_millis(1);

    fn arrivals(link: &mut Link, length: usize, at: Duration) -> Vec<Duration> {
        match link.enter(length, at) {
            Passage::Clear => vec![at],
            Passage::Dropped(_) => Vec::new(),
            Passage::Impaired(how) => how.arrivals.into_iter().flatten().collect(),
        }
    }

    #[test]
    fn a_rate_spaces_frames_and_an_idle_link_saves_nothing() {
        let mut link = Link::new(1);
        // A millisecond for each 125 bytes.
        let rate_bits_per_s = NonZeroU64::new(1_000_000);
        link.impair(Impairment { rate_bits_per_s, delay: 5 * MS, ..Impairment::default() });
        assert_eq!(arrivals(&mut link, 125, Duration::ZERO), [6 * MS]);
        assert_eq!(arrivals(&mut link, 250, Duration::ZERO), [8 * MS]);
        assert_eq!(arrivals(&mut link, 125, 100 * MS), [106 * MS]);
    }

    #[test]
    fn a_full_queue_drops_and_has_room_again() {
        let mut link = Link::new(1);
        link.impair(Impairment { delay: MS, queue_limit_frames: 2, ..Impairment::default() });
        assert_eq!(arrivals(&mut link, 60, MS).len() + arrivals(&mut link, 60, MS).len(), 2);
        assert_eq!(link.enter(60, MS), Passage::Dropped(Cause::Queue));
        link.leave();
        assert_eq!(arrivals(&mut link, 60, MS), [2 * MS]);
    }

    #[test]
    fn frames_after_a_cut_have_the_fates_that_they_had() {
        let half = Impairment { loss: Probability::new(0.5).unwrap(), ..Impairment::default() };
        let run = |cut: std::ops::Range<usize>| -> Vec<Passage> {
            let mut link = Link::new(9);
            link.impair(half.clone());
            let mut enter = |number| {
                link.cut(cut.contains(&number));
                link.enter(60, Duration::ZERO)
            };
            (0..100).map(&mut enter).collect()
        };
        let (whole, cut) = (run(0..0), run(20..40));
        assert_eq!(whole[..20], cut[..20]);
        assert!(cut[20..40].iter().all(|passage| *passage == Passage::Dropped(Cause::Cut)));
        assert_eq!(whole[40..], cut[40..]);
        assert!(whole.contains(&Passage::Dropped(Cause::Loss)));
    }

    proptest! {
        #[test]
        fn no_link_holds_more_than_its_limit(lengths in prop::collection::vec(0usize..70_000, 1..200), limit in 1usize..50) {
            let mut link = Link::new(5);
            link.impair(Impairment {
                rate_bits_per_s: NonZeroU64::new(1),
                duplicate: Probability::ALWAYS,
                queue_limit_frames: limit,
                ..Impairment::default()
            });
            let held: usize = lengths.iter().map(|length| arrivals(&mut link, length + 1, MS).len()).sum();
            prop_assert_eq!(held, limit.min(2 * lengths.len()));
        }
    }
}
