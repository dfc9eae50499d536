//! What was counted on a segment, and why frames were dropped.

use std::fmt;

/// Why a frame was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Shorter than the header of Ethernet.
    Runt,
    /// Longer than the segment's limit.
    Giant,
    /// Its source is the address of another station, of the switch or of a group.
    Forged,
    /// The link was cut.
    Cut,
    /// The link loses frames.
    Loss,
    /// The link held as many frames as it may.
    Queue,
    /// The machine took its frames more slowly than they came.
    Congestion,
    /// No machine is attached there, or it is gone.
    Detached,
}

impl Cause {
    /// All of them, in the order of their counters.
    pub const ALL: [Self; 8] = [
        Self::Runt,
        Self::Giant,
        Self::Forged,
        Self::Cut,
        Self::Loss,
        Self::Queue,
        Self::Congestion,
        Self::Detached,
    ];

    /// Its name, in one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Runt => "runt",
            Self::Giant => "giant",
            Self::Forged => "forged",
            Self::Cut => "cut",
            Self::Loss => "loss",
            Self::Queue => "queue",
            Self::Congestion => "congestion",
            Self::Detached => "detached",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Frames and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// How many.
    pub frames: u64,
    /// From their destinations to the ends of their payloads.
    pub bytes: u64,
}

impl Traffic {
    pub(crate) fn count(&mut self, length: usize) {
        self.frames += 1;
        self.bytes += length as u64;
    }
}

/// What impairments did to frames that they did not drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effects {
    /// Frames that came twice.
    pub duplicated: u64,
    /// Frames with a wrong bit.
    pub corrupted: u64,
    /// Frames that overtook others because of `reorder`.
    pub reordered: u64,
}

/// What was counted at the port of one station. Frames that were dropped on their way from another station, or that had
/// nowhere to go, count where they should have left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PortStatistics {
    /// The station.
    pub station: String,
    /// Whether a machine is attached.
    pub is_attached: bool,
    /// From the machine, also if they were then dropped.
    pub received: Traffic,
    /// To the machine.
    pub sent: Traffic,
    /// What impairments did.
    pub effects: Effects,
    dropped: [u64; Cause::ALL.len()],
}

impl PortStatistics {
    pub(crate) fn new(station: &str) -> Self {
        Self { station: station.to_string(), ..Self::default() }
    }

    /// Frames that were dropped because of `cause`.
    #[must_use]
    pub fn dropped(&self, cause: Cause) -> u64 {
        self.dropped[cause as usize]
    }

    /// Frames that were dropped.
    #[must_use]
    pub fn dropped_in_all(&self) -> u64 {
        self.dropped.iter().sum()
    }

    pub(crate) fn drop(&mut self, cause: Cause) {
        self.dropped[cause as usize] += 1;
    }
}

/// What was counted on a segment since it began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistics {
    /// In the order of the stations.
    pub ports: Vec<PortStatistics>,
    /// Frames that wait because of impairments.
    pub held_frames: usize,
}

impl Statistics {
    /// What was counted at the port of `station`.
    #[must_use]
    pub fn of(&self, station: &str) -> Option<&PortStatistics> {
        self.ports.iter().find(|port| port.station == station)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_a_counter() {
        let mut port = PortStatistics::new("a");
        for (count, cause) in (1..).zip(Cause::ALL) {
            (0..count).for_each(|_| port.drop(cause));
        }
        assert!((1..).zip(Cause::ALL).all(|(count, cause)| port.dropped(cause) == count));
        assert_eq!(port.dropped_in_all(), 36);
    }
}
