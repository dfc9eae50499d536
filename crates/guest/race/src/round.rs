//! A round as both threads saw it.

/// From when to when, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Interval {
    pub(crate) fn length(self) -> i64 {
        self.end.wrapping_sub(self.start) as i64
    }
}

/// A round, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Round {
    /// The delay that was wanted.
    pub(crate) delay: i64,
    pub(crate) a: Interval,
    pub(crate) b: Interval,
    /// How much later than planned a section began.
    pub(crate) late: i64,
    /// A thread learnt of its start when that was over.
    pub(crate) is_missed: bool,
    /// A thread lost its CPU.
    pub(crate) is_preempted: bool,
}

impl Round {
    /// From the start of A to the start of B: the delay that there was.
    pub(crate) fn starts(&self) -> i64 {
        self.b.start.wrapping_sub(self.a.start) as i64
    }

    /// From the end of B to the end of A.
    pub(crate) fn ends(&self) -> i64 {
        self.a.end.wrapping_sub(self.b.end) as i64
    }

    /// A round whose sections began and lasted so long.
    #[cfg(test)]
    pub(crate) fn simulated(delay: i64, a: (i64, i64), b: (i64, i64)) -> Self {
        // Away from 0, where no clock is.
        let interval = |(start, length): (i64, i64)| {
            let start = (1_u64 << 40).wrapping_add_signed(start);
            Interval { start, end: start.wrapping_add_signed(length) }
        };
        Self { delay, a: interval(a), b: interval(b), ..Self::default() }
    }
}
