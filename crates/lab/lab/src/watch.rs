//! Notices a machine that stopped answering, and not one that is only slow.

use std::time::Duration;

use machine::TimeoutScale;

/// Silence on the bare, idle host after which the machine counts as hanging.
const SILENCE: Duration = Duration::from_secs(8);

/// How often a silent agent is asked whether it lives before it is given up.
const PINGS: u32 = 8;

/// Watches over one Run, by the time that its machine has lived since the begin of it.
#[derive(Debug)]
pub struct Watch {
    silence_limit: Duration,
    limit: Duration,
    deadline: Duration,
    last_message: Duration,
    asked: Duration,
    nonce: u64,
    is_time_up: bool,
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
    /// Starts watching a Run of at most `limit`, after which the kernel may go on for `settle`. The agent is told then; only if it does not end the work
    /// is the machine given up.
    #[must_use]
    pub fn new(limit: Duration, settle: Duration, scale: TimeoutScale) -> Self {
        let silence_limit = scale.stretch(SILENCE);
        let deadline =
            limit.saturating_mul(2).saturating_add(silence_limit.saturating_mul(2)).saturating_add(settle);
        let zero = Duration::ZERO;
        Self { silence_limit, limit, deadline, last_message: zero, asked: zero, nonce: 0, is_time_up: false }
    }

    /// The agent was heard.
    pub fn restart(&mut self, now: Duration) {
        self.last_message = now;
    }

    /// What is to be done at `now`.
    pub fn duty(&mut self, now: Duration) -> Duty {
        let silence = now.saturating_sub(self.last_message);
        if silence >= self.silence_limit {
            return Duty::Hang(silence);
        }
        if now >= self.deadline {
            return Duty::Overdue;
        }
        if now >= self.limit && !self.is_time_up {
            self.is_time_up = true;
            return Duty::TimeUp;
        }
        let next = self.last_message.max(self.asked) + self.silence_limit / PINGS;
        if now >= next {
            self.asked = now;
            self.nonce += 1;
            return Duty::Ping(self.nonce);
        }
        let next = if self.is_time_up { next } else { next.min(self.limit) };
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
        Watch::new(s(50), s(0), TimeoutScale::fixed(1.0))
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
        watch.restart(s(7));
        assert_eq!(watch.duty(s(14)), Duty::Ping(1));
        assert!(matches!(watch.duty(s(15)), Duty::Hang(_)));
    }

    #[test]
    fn the_agent_is_told_once_that_the_time_is_up() {
        let mut watch = watch();
        watch.restart(Duration::from_millis(49_500));
        assert_eq!(watch.duty(Duration::from_millis(49_500)), Duty::WaitFor(Duration::from_millis(500)));
        assert_eq!(watch.duty(s(50)), Duty::TimeUp);
        assert_eq!(watch.duty(s(50)), Duty::WaitFor(Duration::from_millis(500)));
    }

    #[test]
    fn an_agent_that_answers_but_never_finishes_is_given_up_in_the_end() {
        let mut watch = watch();
        watch.restart(s(116));
        assert_eq!(watch.duty(s(116)), Duty::Overdue);
    }
}
