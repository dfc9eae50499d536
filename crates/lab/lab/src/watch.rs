//! Notices a machine that stopped answering, and not one that is only slow.
//!
//! Time counts only as far as the host let the machine live: what it waited for a CPU is left out. Where the
//! host does not count that, limits grow with its load.

use std::time::{Duration, Instant};

use machine::{Engine, Machine, host};

/// Silence on the bare, idle host after which the machine counts as hanging.
const SILENCE: Duration = Duration::from_secs(8);

/// How often a silent agent is asked whether it lives before it is given up.
const PINGS: u32 = 8;

/// Variable by which a user makes every limit longer.
const FACTOR_VARIABLE: &str = "KILN_TIMEOUT_MUL";

/// How much longer everything may take here and now than on the bare, idle host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    factor: f64,
    heeds_load: bool,
}

impl Patience {
    /// The patience for machines of this kind; the user's factor comes from the environment.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        let user = std::env::var(FACTOR_VARIABLE).ok().and_then(|text| text.parse::<f64>().ok());
        let user = user.filter(|factor| factor.is_finite()).unwrap_or(1.0).clamp(0.1, 1000.0);
        Self { factor: f64::from(engine.patience()) * user, heeds_load: !host::counts_waiting() }
    }

    /// A patience that knows nothing of the host but `factor`.
    #[must_use]
    pub fn fixed(factor: f64) -> Self {
        Self { factor, heeds_load: false }
    }

    /// `limit` of the bare, idle host as it is for this machine.
    #[must_use]
    pub fn stretch(self, limit: Duration) -> Duration {
        if self.heeds_load { self.stretch_by_load(limit) } else { limit.mul_f64(self.factor) }
    }

    /// `limit` of the bare, idle host as it is for this machine by a clock that never stops.
    #[must_use]
    pub fn stretch_by_load(self, limit: Duration) -> Duration {
        // The load is looked at each time, since it changes while a session runs.
        limit.mul_f64(self.factor * host::busyness())
    }
}

/// The time that a machine lives, from some moment on.
#[derive(Debug)]
pub struct Life {
    begin: Instant,
    waited_before: Duration,
}

impl Life {
    /// It begins now. What kiln itself waits between the two looks counts as waiting of the machine, here and below.
    pub fn begin(machine: &mut dyn Machine) -> Self {
        let waited_before = machine.waited();
        Self { begin: Instant::now(), waited_before }
    }

    /// The time since then by the host's clock.
    #[must_use]
    pub fn passed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// What of it the machine lived, and what it waited for a CPU.
    pub fn look(&self, machine: &mut dyn Machine) -> (Duration, Duration) {
        let passed = self.passed();
        let waited = machine.waited().saturating_sub(self.waited_before);
        (passed.saturating_sub(waited), waited)
    }

    /// What it lived until now, if it waited for so long.
    #[must_use]
    pub fn lived(&self, waited: Duration) -> Duration {
        self.passed().saturating_sub(waited)
    }
}

/// Watches over one Run, by the time that its machine has lived since the begin of it.
#[derive(Debug)]
pub struct Watch {
    silence_limit: Duration,
    limit: Duration,
    deadline: Duration,
    heard: Duration,
    asked: Duration,
    nonce: u64,
    told: bool,
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Duty {
    /// Wait for something, at most so long.
    WaitFor(Duration),
    /// Ask the agent whether it lives, with this number.
    Ping(u64),
    /// Tell the agent that the time of the case is up.
    TimeUp,
    /// The machine has been silent for this long.
    Hang(Duration),
    /// The agent answers but has not ended the work long after its limit.
    Overdue,
}

impl Watch {
    /// Starts watching a Run of at most `limit`. The agent is told then; only if it does not end the work
    /// is the machine given up.
    #[must_use]
    pub fn new(limit: Duration, patience: Patience) -> Self {
        let silence_limit = patience.stretch(SILENCE);
        let deadline = limit.saturating_mul(2).saturating_add(silence_limit.saturating_mul(2));
        let zero = Duration::ZERO;
        Self { silence_limit, limit, deadline, heard: zero, asked: zero, nonce: 0, told: false }
    }

    /// The agent was heard.
    pub fn hear(&mut self, now: Duration) {
        self.heard = now;
    }

    /// What is to be done at `now`.
    pub fn duty(&mut self, now: Duration) -> Duty {
        let silence = now.saturating_sub(self.heard);
        if silence >= self.silence_limit {
            return Duty::Hang(silence);
        }
        if now >= self.deadline {
            return Duty::Overdue;
        }
        if now >= self.limit && !self.told {
            self.told = true;
            return Duty::TimeUp;
        }
        let next = self.heard.max(self.asked) + self.silence_limit / PINGS;
        if now >= next {
            self.asked = now;
            self.nonce += 1;
            return Duty::Ping(self.nonce);
        }
        let next = if self.told { next } else { next.min(self.limit) };
        Duty::WaitFor(next.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A limit of 50 seconds, 8 of silence.
    fn watch() -> Watch {
        Watch::new(s(50), Patience::fixed(1.0))
    }

    #[test]
    fn a_quiet_machine_is_asked_and_given_up_only_after_the_limit() {
        let mut watch = watch();
        assert_eq!(watch.duty(s(0)), Duty::WaitFor(s(1)));
        assert_eq!(watch.duty(s(1)), Duty::Ping(1));
        assert_eq!(watch.duty(s(1)), Duty::WaitFor(s(1)));
        assert_eq!(watch.duty(s(7)), Duty::Ping(2));
        assert_eq!(watch.duty(s(8)), Duty::Hang(s(8)));
    }

    #[test]
    fn an_answer_starts_the_silence_anew() {
        let mut watch = watch();
        watch.hear(s(7));
        assert_eq!(watch.duty(s(14)), Duty::Ping(1));
        assert!(matches!(watch.duty(s(15)), Duty::Hang(_)));
    }

    #[test]
    fn the_agent_is_told_once_that_the_time_is_up() {
        let mut watch = watch();
        watch.hear(Duration::from_millis(49_500));
        assert_eq!(watch.duty(Duration::from_millis(49_500)), Duty::WaitFor(Duration::from_millis(500)));
        assert_eq!(watch.duty(s(50)), Duty::TimeUp);
        assert_eq!(watch.duty(s(50)), Duty::WaitFor(Duration::from_millis(500)));
    }

    #[test]
    fn an_agent_that_answers_but_never_finishes_is_given_up_in_the_end() {
        let mut watch = watch();
        watch.hear(s(116));
        assert_eq!(watch.duty(s(116)), Duty::Overdue);
    }

    #[test]
    fn patience_only_grows() {
        assert!(Patience::new(Engine::Uml).stretch(s(1)) >= Patience::fixed(0.4).stretch(s(1)));
    }
}
