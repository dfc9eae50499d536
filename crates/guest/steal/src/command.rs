//! Any program as the victim.

use std::time::Duration;

use harness::program::Program;
use harness::signals::Signals;
use protocol::Report;
use protocol::steal::Pass;

use crate::accounting;
use crate::affinity::pin;

/// How often it looks whether the command has ended, besides SIGCHLD.
const PERIOD: Duration = Duration::from_millis(100);

/// A command on a CPU. It is killed with all that it started when this is dropped.
#[derive(Debug)]
pub(crate) struct Victim(Program);

impl Victim {
    /// Starts a command on this CPU. What it prints is standard error's.
    ///
    /// # Errors
    ///
    /// `skip` if there is no such program.
    pub(crate) fn start(words: &[String], cpu: u32) -> Result<Self, Report> {
        Ok(Self(Program::start(words, || pin(cpu), |_| Ok(()))?))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// Waits for its end, and asks it to end after this time or at a signal; tells whether it was a signal.
    pub(crate) fn wait(self, limit: Duration, signals: &Signals) -> Result<(Pass, bool), Report> {
        let end = self.0.wait(Some(limit), PERIOD, signals, &mut |_| Ok(()))?;
        let (usage, status) = (accounting::of(&end.usage), end.code());
        Ok((Pass { elapsed_ns: end.elapsed_ns, usage, status, ..Pass::default() }, end.interrupted))
    }
}
