//! Events that the kernel could not send.

use std::collections::HashMap;

/// Counts what is missing: the kernel numbers the events of each CPU.
#[derive(Debug, Default)]
pub(super) struct Losses {
    last: HashMap<u32, u32>,
    count: u64,
}

impl Losses {
    /// There is an event.
    pub(super) fn see(&mut self, cpu: u32, sequence: u32) {
        if let Some(last) = self.last.insert(cpu, sequence) {
            self.count += u64::from(sequence.wrapping_sub(last).wrapping_sub(1));
        }
    }

    /// How many are missing between those that were seen.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cpu_counts_for_itself_and_around() {
        let mut losses = Losses::default();
        for (cpu, sequence) in [(0, 7), (1, 100), (0, 8), (1, 103), (2, u32::MAX), (2, 1)] {
            losses.see(cpu, sequence);
        }
        assert_eq!(losses.count(), 2 + 1);
    }
}
