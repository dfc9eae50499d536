//! What several CPUs wrote, in the order of time.

/// Puts things into the order of time that come from several buffers, in each of which they have it.
#[derive(Debug)]
pub(crate) struct Order<T> {
    waiting: Vec<(u64, T)>,
    /// The latest time of all rounds before: what happened until then has been read in this round at the latest.
    until: u64,
}

impl<T> Default for Order<T> {
    fn default() -> Self {
        Self { waiting: Vec::new(), until: 0 }
    }
}

impl<T> Order<T> {
    pub(crate) fn push(&mut self, time: u64, thing: T) {
        self.waiting.push((time, thing));
    }

    /// What nothing can come before, once all buffers have been read again.
    pub(crate) fn round(&mut self) -> Vec<T> {
        self.waiting.sort_by_key(|(time, _)| *time);
        let certain = self.waiting.partition_point(|(time, _)| *time <= self.until);
        self.until = self.waiting.last().map_or(self.until, |(time, _)| self.until.max(*time));
        self.waiting.drain(..certain).map(|(_, thing)| thing).collect()
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> Vec<T> {
        self.until = u64::MAX;
        self.round()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_another_buffer_may_precede_waits_for_a_round() {
        let mut order = Order::default();
        order.push(5, "b");
        order.push(9, "d");
        assert!(order.round().is_empty());
        order.push(3, "a");
        order.push(8, "c");
        order.push(12, "e");
        assert_eq!(order.round(), ["a", "b", "c", "d"]);
        assert_eq!(order.rest(), ["e"]);
    }

    proptest! {
        #[test]
        fn two_buffers_become_one(
            times in prop::collection::vec((0_u64..1000, any::<bool>()), 0..60), rounds in 1_usize..6,
        ) {
            let mut times = times;
            times.sort_unstable();
            let (mut order, mut out) = (Order::default(), Vec::new());
            // The second buffer is read a round after the first.
            let part = |buffer: bool, round: usize| {
                let size = times.len() / rounds + 1;
                times.iter().skip(round * size).take(size).filter(move |(_, which)| *which == buffer)
            };
            for round in 0..=rounds {
                part(true, round).for_each(|&(time, _)| order.push(time, time));
                let before = round.checked_sub(1);
                before.into_iter().flat_map(|before| part(false, before)).for_each(|&(time, _)| order.push(time, time));
                out.extend(order.round());
            }
            out.extend(order.rest());
            prop_assert_eq!(out, times.iter().map(|(time, _)| *time).collect::<Vec<_>>());
        }
    }
}
