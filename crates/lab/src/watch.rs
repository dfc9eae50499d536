//! Notices a machine that stopped answering, and not one that is only slow.

use std::time::{Duration, Instant};

use machine::{Engine, host};

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
        Self { factor: f64::from(engine.patience()) * user, heeds_load: true }
    }

    /// A patience that depends on nothing but `factor`.
    #[must_use]
    pub fn fixed(factor: f64) -> Self {
        Self { factor, heeds_load: false }
    }

    /// `limit` of the bare, idle host as it is here and now.
    #[must_use]
    pub fn stretch(self, limit: Duration) -> Duration {
        // The load is looked at each time, since it changes while a session runs.
        let load = if self.heeds_load { host::busyness() } else { 1.0 };
        limit.mul_f64(self.factor * load)
    }
}

/// Watches over one Run.
#[derive(Debug)]
pub struct Watch {
    silence_limit: Duration,
    deadline: Instant,
    heard: Instant,
    asked: Instant,
    nonce: u64,
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Duty {
    /// Wait for something until then.
    WaitUntil(Instant),
    /// Ask the agent whether it lives, with this number.
    Ping(u64),
    /// The machine has been silent for this long.
    Hang(Duration),
    /// The agent answers but has not ended the work long after its limit.
    Overdue,
}

impl Watch {
    /// Starts watching a Run of at most `limit`, which the agent itself enforces; only if it does not
    /// is the machine given up.
    #[must_use]
    pub fn new(now: Instant, limit: Duration, patience: Patience) -> Self {
        let silence_limit = patience.stretch(SILENCE);
        let deadline = now + limit.saturating_mul(2) + silence_limit.saturating_mul(2);
        Self { silence_limit, deadline, heard: now, asked: now, nonce: 0 }
    }

    /// The agent was heard.
    pub fn hear(&mut self, now: Instant) {
        self.heard = now;
    }

    /// What is to be done at `now`.
    pub fn duty(&mut self, now: Instant) -> Duty {
        let silence = now.saturating_duration_since(self.heard);
        if silence >= self.silence_limit {
            return Duty::Hang(silence);
        }
        if now >= self.deadline {
            return Duty::Overdue;
        }
        let next = self.heard.max(self.asked) + self.silence_limit / PINGS;
        if now >= next {
            self.asked = now;
            self.nonce += 1;
            return Duty::Ping(self.nonce);
        }
        Duty::WaitUntil(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(now: Instant) -> Watch {
        let silence_limit = Duration::from_secs(8);
        Watch { silence_limit, deadline: now + Duration::from_secs(100), heard: now, asked: now, nonce: 0 }
    }

    #[test]
    fn a_quiet_machine_is_asked_and_given_up_only_after_the_limit() {
        let start = Instant::now();
        let mut watch = watch(start);
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(watch.duty(start), Duty::WaitUntil(at(1)));
        assert_eq!(watch.duty(at(1)), Duty::Ping(1));
        assert_eq!(watch.duty(at(1)), Duty::WaitUntil(at(2)));
        assert_eq!(watch.duty(at(7)), Duty::Ping(2));
        assert_eq!(watch.duty(at(8)), Duty::Hang(Duration::from_secs(8)));
    }

    #[test]
    fn an_answer_starts_the_silence_anew() {
        let start = Instant::now();
        let mut watch = watch(start);
        watch.hear(start + Duration::from_secs(7));
        assert_eq!(watch.duty(start + Duration::from_secs(14)), Duty::Ping(1));
        assert!(matches!(watch.duty(start + Duration::from_secs(15)), Duty::Hang(_)));
    }

    #[test]
    fn an_agent_that_answers_but_never_finishes_is_given_up_in_the_end() {
        let start = Instant::now();
        let mut watch = watch(start);
        watch.hear(start + Duration::from_secs(100));
        assert_eq!(watch.duty(start + Duration::from_secs(100)), Duty::Overdue);
    }

    #[test]
    fn patience_only_grows() {
        assert!(
            Patience::new(Engine::Uml).stretch(Duration::from_secs(1))
                >= Patience::fixed(0.4).stretch(Duration::from_secs(1))
        );
    }
}
