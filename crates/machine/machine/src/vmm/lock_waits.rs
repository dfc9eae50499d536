//! Who sleeps for a lock, from look to look.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use introspect::Sleeper;

/// How often the machine is looked at in the time that is too long.
const LOOKS: u32 = 4;

/// The longest time between two looks.
const INTERVAL_MAX: Duration = Duration::from_secs(1);

/// What lies between two looks is at least so many times as long as one takes.
const PAUSE: u32 = 4;

/// How often a machine is stopped at most.
const STOPS_MAX: usize = 64;

/// Who sleeps for a lock, from look to look.
#[derive(Debug)]
pub(super) struct LockWaits {
    /// Who sleeps for longer is a hazard.
    bound: Duration,
    next: Instant,
    /// Since when each one was seen, and whether it has been told of.
    asleep: HashMap<Sleeper, (Instant, bool)>,
    stops: usize,
}

impl LockWaits {
    pub(super) fn new(bound: Duration, now: Instant) -> Self {
        Self { bound, next: now, asleep: HashMap::new(), stops: 0 }
    }

    /// When the machine is to be looked at next.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Takes in who sleeps; gives those who do so for too long and of whom nothing was told yet, with how long at least.
    pub(super) fn see(&mut self, now: Instant, sleepers: Vec<Sleeper>) -> Vec<(Sleeper, Duration)> {
        let before = std::mem::take(&mut self.asleep);
        let seen = |sleeper| (sleeper, before.get(&sleeper).copied().unwrap_or((now, false)));
        self.asleep = sleepers.into_iter().map(seen).collect();
        let mut late = Vec::new();
        for (sleeper, (since, is_told)) in &mut self.asleep {
            let slept = now.saturating_duration_since(*since);
            if slept > self.bound && !*is_told && self.stops < STOPS_MAX {
                *is_told = true;
                late.push((*sleeper, slept));
            }
        }
        self.stops += usize::from(!late.is_empty());
        late
    }

    /// A look has taken so long.
    pub(super) fn looked(&mut self, took: Duration) {
        let interval = (self.bound / LOOKS).min(INTERVAL_MAX).max(took * PAUSE);
        self.next = Instant::now() + interval;
    }

    /// The machine was stopped for so long.
    pub(super) fn was_stopped(&mut self, time: Duration) {
        self.asleep.values_mut().for_each(|(since, _)| *since += time);
    }

    /// The machine stands still, or goes on as another one.
    pub(super) fn forget(&mut self) {
        self.asleep.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Duration = Duration::from_millis(100);

    fn sleeper(task: u64, switches: u64) -> Sleeper {
        Sleeper { task, switches }
    }

    #[test]
    fn who_sleeps_for_too_long_is_told_once() {
        let begin = Instant::now();
        let mut waits = LockWaits::new(BOUND, begin);
        let mut see = |milliseconds: u64, sleepers: &[Sleeper]| {
            waits.see(begin + Duration::from_millis(milliseconds), sleepers.to_vec())
        };
        let (one, other) = (sleeper(1, 5), sleeper(2, 5));
        assert_eq!(see(0, &[one, other]), []);
        assert_eq!(see(100, &[one]), []);
        assert_eq!(see(120, &[one, other]), [(one, Duration::from_millis(120))]);
        assert_eq!(see(200, &[one, other]), []);
        assert_eq!(see(230, &[one, other]), [(other, Duration::from_millis(110))]);
        // It has slept for another lock, or again for that one.
        assert_eq!(see(300, &[sleeper(1, 6)]), []);
        assert_eq!(see(390, &[sleeper(1, 6)]), []);
    }

    #[test]
    fn time_in_which_the_machine_is_stopped_does_not_count() {
        let begin = Instant::now();
        let mut waits = LockWaits::new(BOUND, begin);
        waits.see(begin, vec![sleeper(1, 1)]);
        waits.was_stopped(BOUND);
        assert_eq!(waits.see(begin + 2 * BOUND, vec![sleeper(1, 1)]), []);
        assert_eq!(waits.see(begin + 3 * BOUND, vec![sleeper(1, 1)]).len(), 1);
        waits.forget();
        assert_eq!(waits.see(begin + 9 * BOUND, vec![sleeper(1, 1)]), []);
    }

    #[test]
    fn a_machine_is_stopped_so_often_at_most() {
        let begin = Instant::now();
        let mut waits = LockWaits::new(BOUND, begin);
        let mut found = 0;
        for number in 0..500 {
            let (now, sleepers) = (begin + 2 * number * BOUND, vec![sleeper(1, number.into())]);
            waits.see(now, sleepers.clone());
            found += waits.see(now + 2 * BOUND, sleepers).len();
        }
        assert_eq!(found, STOPS_MAX);
    }
}
