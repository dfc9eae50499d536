//! What a race shall do, and when it ends.

use std::time::Duration;

use protocol::race::{RaceRequest, Strategy};

/// What a race shall do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// How the sections are brought together.
    pub strategy: Strategy,
    /// It ends after this time.
    pub time: Duration,
    /// It ends after so many rounds.
    pub rounds: u64,
    /// It ends after so many hits.
    pub hits: u64,
    /// Where random delays come from.
    pub seed: u64,
    /// Its report has the statistics of the sections.
    pub statistics: bool,
}

impl Plan {
    /// A race with the default strategy that ends after `time` or its first hit.
    #[must_use]
    pub fn new(time: Duration) -> Self {
        Self { strategy: Strategy::default(), time, rounds: u64::MAX, hits: 1, seed: 0, statistics: false }
    }

    /// What is asked, for a race that has `time` for itself.
    #[must_use]
    pub fn asked(request: &RaceRequest, time: Duration) -> Self {
        Self {
            strategy: request.strategy,
            time: request.time_ms.map_or(time, Duration::from_millis),
            rounds: request.rounds.unwrap_or(u64::MAX),
            hits: request.hits.max(1),
            seed: request.seed,
            statistics: request.statistics,
        }
    }
}
