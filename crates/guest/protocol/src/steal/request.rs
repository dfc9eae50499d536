//! What the instrument is asked.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Load, Setup};
pub use crate::latency::CPUS_MAX;

/// The shortest pass of the probe: enough ticks of the slowest kernel to say something of accounting.
pub const DURATION_MIN_MS: u64 = 50;

/// The longest pass, which is also the longest time that a command may take: a day.
pub const DURATION_MAX_MS: u64 = 24 * 3600 * 1000;

/// Fewer pairs give no interval.
pub const PAIRS_MIN: u32 = 5;

/// Pairs at most.
pub const PAIRS_MAX: u32 = 100;

/// Words of a command, and bytes of each.
const WORDS_MAX: usize = 256;
const WORD_MAX: usize = 4096;

/// What is measured, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct StealRequest {
    /// The CPU that the victim is pinned to; by default the last one that this process may use.
    pub cpu: Option<u32>,
    /// How long a pass of the probe takes, or after which time a command is ended: [`DURATION_MIN_MS`] to
    /// [`DURATION_MAX_MS`].
    pub duration_ms: u64,
    /// The program and its arguments that are the victim; the instrument's own probe if there is none.
    pub command: Vec<String>,
    /// What runs beside the victim.
    pub load: Option<Load>,
    /// How the load is set up.
    pub setup: Setup,
    /// A second set-up, which the first is compared with.
    pub against: Option<Setup>,
    /// Passes of each set-up, in turns, when there are two: [`PAIRS_MIN`] to [`PAIRS_MAX`].
    pub pairs: u32,
    /// A second pass with tracing says what has taken the time.
    pub trace: bool,
    /// The share of the CPU that may be stolen, in 0 to 1.
    pub max_steal: Option<f64>,
}

/// The probe, for ten seconds.
impl Default for StealRequest {
    fn default() -> Self {
        Self {
            cpu: None,
            duration_ms: 10_000,
            command: Vec::new(),
            load: None,
            setup: Setup::default(),
            against: None,
            pairs: PAIRS_MIN,
            trace: true,
            max_steal: None,
        }
    }
}

/// A request that cannot be meant: what is wrong, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WrongRequest(String);

impl StealRequest {
    /// Checks that all numbers are in their ranges and go together.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), WrongRequest> {
        let wrong = self.wrong_number().or_else(|| self.wrong_setup()).or_else(|| self.wrong_command());
        wrong.map_or(Ok(()), |why| Err(WrongRequest(why)))
    }

    /// The set-ups, one or two.
    pub fn setups(&self) -> impl Iterator<Item = Setup> {
        [self.setup].into_iter().chain(self.against)
    }

    /// Passes without tracing of each set-up.
    #[must_use]
    pub fn passes(&self) -> u32 {
        if self.against.is_some() { self.pairs } else { 1 }
    }

    fn wrong_number(&self) -> Option<String> {
        match () {
            () if self.cpu.is_some_and(|cpu| cpu >= CPUS_MAX) => {
                Some(format!("CPU {}: use 0 to {}", self.cpu.unwrap_or_default(), CPUS_MAX - 1))
            }
            () if !(DURATION_MIN_MS..=DURATION_MAX_MS).contains(&self.duration_ms) => Some(format!(
                "a duration in milliseconds of {}: use {DURATION_MIN_MS} to {DURATION_MAX_MS}",
                self.duration_ms
            )),
            () if !(PAIRS_MIN..=PAIRS_MAX).contains(&self.pairs) => {
                Some(format!("{} pairs: use {PAIRS_MIN} to {PAIRS_MAX}", self.pairs))
            }
            () if self.max_steal.is_some_and(|share| !(0.0..=1.0).contains(&share)) => {
                Some("the share that may be stolen: use 0 to 1".to_owned())
            }
            () => None,
        }
    }

    fn wrong_setup(&self) -> Option<String> {
        let is_default = self.setups().all(|setup| setup == Setup::default());
        let has_xdp = self.setups().any(|setup| setup.xdp.is_some());
        match self.load {
            Some(Load::Udp { .. }) => None,
            Some(load) if load.is_network() && has_xdp => {
                Some(format!("an XDP program that drops leaves nothing of {load}: use net:udp"))
            }
            Some(load) if load.is_network() => None,
            _ if self.against.is_some() || !is_default => {
                Some("a set-up is that of a network load: name one, such as net:udp".to_owned())
            }
            _ => None,
        }
    }

    fn wrong_command(&self) -> Option<String> {
        let words = &self.command;
        match () {
            () if words.len() > WORDS_MAX || words.iter().any(|word| word.len() > WORD_MAX) => {
                Some(format!("the command is too long: use {WORDS_MAX} words of {WORD_MAX} bytes at most"))
            }
            () if words.iter().any(|word| word.contains('\0')) => {
                Some("the command has a null character".to_owned())
            }
            () if words.first().is_some_and(String::is_empty) => Some("the command has no name".to_owned()),
            () if !words.is_empty() && self.against.is_some() => {
                Some("two set-ups are compared with the probe: leave out the command".to_owned())
            }
            () if !words.is_empty() && self.max_steal.is_some() && !self.trace => {
                Some("only a trace tells what is stolen from a command: leave it on for a limit".to_owned())
            }
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Xdp;
    use super::*;

    const UDP: Option<Load> = Some(Load::Udp { pps: 1, size: 1 });

    fn wrong(change: impl FnOnce(&mut StealRequest)) -> String {
        let mut request = StealRequest::default();
        change(&mut request);
        request.validate().expect_err("this is wrong").to_string()
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let command = || vec!["true".to_owned()];
        let messages = [
            wrong(|it| it.cpu = Some(1024)),
            wrong(|it| it.duration_ms = 49),
            wrong(|it| it.pairs = 4),
            wrong(|it| it.max_steal = Some(f64::NAN)),
            wrong(|it| it.setup.rps = false),
            wrong(|it| (it.load, it.setup.xdp) = (Some(Load::Request(1)), Some(Xdp::Drop))),
            wrong(|it| it.command = vec![String::new()]),
            wrong(|it| it.command = vec!["a\0".to_owned()]),
            wrong(|it| it.command = vec!["x".repeat(4097)]),
            wrong(|it| (it.command, it.load, it.against) = (command(), UDP, Some(Setup::default()))),
            wrong(|it| (it.command, it.max_steal, it.trace) = (command(), Some(0.1), false)),
        ];
        let expected = [
            "CPU 1024: use 0 to 1023",
            "a duration in milliseconds of 49: use 50 to 86400000",
            "4 pairs: use 5 to 100",
            "the share that may be stolen: use 0 to 1",
            "a set-up is that of a network load: name one, such as net:udp",
            "an XDP program that drops leaves nothing of net:request,1: use net:udp",
            "the command has no name",
            "the command has a null character",
            "the command is too long: use 256 words of 4096 bytes at most",
            "two set-ups are compared with the probe: leave out the command",
            "only a trace tells what is stolen from a command: leave it on for a limit",
        ];
        assert_eq!(messages, expected);
    }

    #[test]
    fn the_default_and_a_comparison_are_accepted() {
        let mut request = StealRequest::default();
        assert_eq!((request.validate(), request.passes()), (Ok(()), 1));
        request.load = UDP;
        request.against = Some(Setup { rps: false, xdp: Some(Xdp::Drop) });
        assert_eq!((request.validate(), request.passes(), request.setups().count()), (Ok(()), 5, 2));
    }
}
