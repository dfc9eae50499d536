//! What the instrument is asked.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::count::{Counter, Event};
use crate::workload::Workload;

/// The shortest time from sample to sample, in nanoseconds: the kernel takes no more than 100,000 in a second unless it is asked
/// to (`kernel.perf_event_max_sample_rate`).
pub const PERIOD_MIN_NS: u64 = 10_000;

/// Bytes of a program's stack at most: a record has up to 64 KiB.
pub const STACK_MAX: u32 = 60 << 10;

/// When samples are taken, and of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SampleRequest {
    /// The event at which they are taken.
    pub event: Event,
    /// Events from sample to sample; nanoseconds of a clock, at least [`PERIOD_MIN_NS`].
    pub period: u64,
    /// Bytes that are copied of a program's stack to find its calls, a multiple of 8 and at most [`STACK_MAX`]; 0 for the functions alone.
    pub stack: u32,
    /// Whose samples.
    pub workload: Workload,
    /// On a machine whose clock goes by instructions: how many nanoseconds each takes. `instructions` of the command go by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction_ns: Option<NonZeroU32>,
}

/// A request that cannot be meant: what is wrong, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WrongRequest(String);

impl SampleRequest {
    /// The nanoseconds from sample to sample, if samples of instructions are taken by the time that the command runs.
    #[must_use]
    pub fn by_clock(&self) -> Option<u64> {
        let is_counted = self.workload.may_go_by_clock() && self.event.counter() == Counter::INSTRUCTIONS;
        let nanoseconds = self.instruction_ns.filter(|_| is_counted)?;
        Some(self.period.saturating_mul(u64::from(nanoseconds.get())))
    }

    /// Checks that all numbers are in their ranges.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn validate(&self) -> Result<(), WrongRequest> {
        let wrong = match (self.period, self.stack) {
            (0, _) => Some("samples are taken at each event, or at each so many".to_owned()),
            // Half of all numbers: the kernel takes no larger ones.
            (0x8000_0000_0000_0000.., _) => Some(format!("no sample after {} events", self.period)),
            _ => self.too_often().or_else(|| self.wrong_stack()).or_else(|| self.workload.wrong()),
        };
        wrong.map_or(Ok(()), |why| Err(WrongRequest(why)))
    }

    fn too_often(&self) -> Option<String> {
        if let Some((time, each)) = self.by_clock().zip(self.instruction_ns) {
            let least = PERIOD_MIN_NS / u64::from(each.get());
            let why = || format!("samples are taken each {least} instructions or more rarely");
            return (time < PERIOD_MIN_NS).then(why);
        }
        let is_short = self.event.is_time() && self.period < PERIOD_MIN_NS;
        is_short.then(|| "a clock gives samples each 10 us or more rarely".to_owned())
    }

    fn wrong_stack(&self) -> Option<String> {
        let stack = self.stack;
        (stack > STACK_MAX || !stack.is_multiple_of(8))
            .then(|| format!("{stack} bytes of the stack: use a multiple of 8, and at most {STACK_MAX}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(event: &str, period: u64, stack: u32) -> Result<(), String> {
        let workload = Workload { command: vec!["true".to_owned()], ..Workload::default() };
        let event = event.parse().expect("an event");
        let request = SampleRequest { event, period, stack, workload, instruction_ns: NonZeroU32::new(8) };
        request.validate().map_err(|error| error.to_string())
    }

    #[test]
    fn only_what_can_be_meant_is_taken() {
        assert_eq!(request("cpu-clock", 1_000_000, 8192), Ok(()));
        assert_eq!(request("page-faults", 1, 0), Ok(()));
        assert_eq!(request("instructions", 1250, 0), Ok(()));
        for (event, period, stack, why) in [
            ("page-faults", 0, 0, "each event"),
            ("cpu-clock", 9_999, 0, "each 10 us"),
            ("page-faults", u64::MAX, 0, "no sample after"),
            ("instructions", 1249, 0, "each 1250 instructions"),
            ("cpu-clock", 1_000_000, 12, "a multiple of 8"),
            ("cpu-clock", 1_000_000, 64 << 10, "at most 61440"),
        ] {
            let refused = request(event, period, stack).expect_err("it is wrong");
            assert!(refused.contains(why), "{refused}");
        }
    }
}
