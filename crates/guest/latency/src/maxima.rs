//! The largest latencies over time.

use protocol::latency::{Maxima as Report, SLOTS_MAX};

use harness::counter::Counter;

/// The width of a slot at first: all of them hold five seconds.
const SLOT_NS: u64 = 10_000_000;

/// A time series that never grows: its slots become wider.
#[derive(Debug)]
pub(crate) struct Maxima {
    slot_ns: Counter,
    used: Counter,
    slots: Box<[Counter]>,
}

impl Maxima {
    pub(crate) fn new() -> Self {
        let slots = (0..SLOTS_MAX).map(|_| Counter::new(0)).collect();
        Self { slot_ns: Counter::new(SLOT_NS), used: Counter::new(0), slots }
    }

    /// Takes in a latency that was seen so many nanoseconds after the beginning.
    #[inline]
    pub(crate) fn record(&self, at: u64, latency: u64) {
        let mut index = at / self.slot_ns.get();
        while index >= SLOTS_MAX as u64 {
            self.double();
            index = at / self.slot_ns.get();
        }
        if let Some(slot) = self.slots.get(index as usize) {
            slot.raise(latency);
        }
        self.used.raise(index + 1);
    }

    pub(crate) fn report(&self) -> Report {
        let slots = self.slots.iter().take(self.used.get() as usize);
        Report { slot_ns: self.slot_ns.get(), slots: slots.map(Counter::get).collect() }
    }

    pub(crate) fn clear(&self) {
        self.slots.iter().for_each(|slot| slot.set(0));
        self.used.set(0);
        self.slot_ns.set(SLOT_NS);
    }

    /// Makes each two slots one of twice the width.
    fn double(&self) {
        for (to, pair) in self.slots.chunks(2).enumerate() {
            let larger = pair.iter().map(Counter::get).max().unwrap_or(0);
            self.slots[to].set(larger);
        }
        self.slots[SLOTS_MAX / 2..].iter().for_each(|slot| slot.set(0));
        self.used.set(self.used.get().div_ceil(2));
        self.slot_ns.set(self.slot_ns.get() * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_stands_in_the_slot_of_its_time() {
        let maxima = Maxima::new();
        for (at, latency) in [(0, 3), (SLOT_NS - 1, 7), (SLOT_NS, 2), (3 * SLOT_NS, 4), (3 * SLOT_NS, 1)] {
            maxima.record(at, latency);
        }
        assert_eq!(maxima.report(), Report { slot_ns: SLOT_NS, slots: vec![7, 2, 0, 4] });
        maxima.clear();
        assert_eq!(maxima.report(), Report { slot_ns: SLOT_NS, slots: Vec::new() });
    }

    #[test]
    fn slots_become_wider_and_none_is_lost() {
        let maxima = Maxima::new();
        let all = SLOTS_MAX as u64;
        for slot in 0..all {
            maxima.record(slot * SLOT_NS, slot + 1);
        }
        maxima.record(all * SLOT_NS, 9999);
        let report = maxima.report();
        assert_eq!((report.slot_ns, report.slots.len()), (2 * SLOT_NS, SLOTS_MAX / 2 + 1));
        let expected: Vec<u64> = (1..=all / 2).map(|slot| slot * 2).chain([9999]).collect();
        assert_eq!(report.slots, expected);
    }

    #[test]
    fn a_clock_that_leaps_is_borne() {
        let maxima = Maxima::new();
        maxima.record(5, 8);
        maxima.record(1 << 62, 6);
        let report = maxima.report();
        assert!(report.slots.len() <= SLOTS_MAX);
        assert_eq!((report.slots.first(), report.slots.last()), (Some(&8), Some(&6)));
    }
}
