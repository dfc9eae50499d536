//! A session that a job is to run, and whether it is needless.

use lab::RunRequest;
use lab::event::Session;
use ledger::{Ledger, LedgerError, SessionKey};

use crate::resources::Resources;

/// A session that is to be run.
#[derive(Debug)]
pub struct Wanted {
    /// What it is about, for people.
    pub about: String,
    /// What a job is asked.
    pub request: RunRequest,
    /// The session as it would be here.
    pub session: Session,
    /// What decides about its Runs.
    pub key: SessionKey,
    /// Which Runs make it needless.
    pub counts: Counts,
    /// What its job asks for.
    pub resources: Resources,
}

/// Which Runs of the ledger make a session needless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// One of each case, whoever made it.
    Cases,
    /// All that its policy asks for, in the boots that it names.
    Policy,
}

impl Wanted {
    /// What tells it from others.
    pub(crate) fn digest(&self) -> String {
        let cases = self.key.digest(&self.session.cases);
        match self.counts {
            Counts::Cases => cases,
            Counts::Policy => format!("{cases} {}", self.request.policy.hash()),
        }
    }

    /// Whether the ledger has what it would find out.
    pub(crate) fn is_needless(&self, ledger: &mut Ledger) -> Result<bool, LedgerError> {
        match self.counts {
            Counts::Cases => ledger.has(&self.key, &self.session.cases),
            Counts::Policy => Ok(ledger.carried_out(&self.key, &self.request.policy)?.is_some()),
        }
    }
}
