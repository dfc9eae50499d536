//! A session that a job is to run, and whether it is needless.

use lab::event::Session;
use lab::request::RunPolicy;
use lab::{Prepared, Request, RunRequest};
use ledger::{Durations, Ledger, LedgerError, SessionKey};

use crate::error::Error;
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
    /// All Runs of a session that this policy asks for instead of its own.
    ///
    /// # Errors
    ///
    /// When it runs no cases.
    pub fn of(
        (prepared, session): (&Prepared, &Session),
        policy: &RunPolicy,
        about: String,
        durations: &Durations,
    ) -> Result<Self, Error> {
        let request = RunRequest { policy: policy.clone(), ..prepared.request.clone() };
        let asked = session.request.as_ref().map(|request| match request {
            Request::Run(request) => {
                Request::Run(Box::new(RunRequest { policy: policy.clone(), ..(**request).clone() }))
            }
            other => other.clone(),
        });
        Ok(Self {
            about,
            request,
            key: SessionKey::of(session).ok_or(Error::NoCases)?,
            session: Session { request: asked, ..session.clone() },
            counts: Counts::Policy,
            resources: Resources::of(prepared, policy, durations),
        })
    }

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
