//! Who vouches for the mails of a series.

use anyhow::{Context, Result};
use attestation::{Attested, Keys, Policy};
use series::{Assembled, Mail};

use super::mails;
use crate::cli::{Signatures, Source};
use crate::failure::{WrongUsage, complain};
use crate::find::in_context;
use crate::signals;

impl Signatures {
    /// The signatures of patches, and what the user wants of them, if `policy` does not say it; no signatures if nobody wants them.
    pub(crate) fn of<'m>(
        &self,
        source: &Source,
        policy: Option<Policy>,
        patches: impl IntoIterator<Item = &'m Mail>,
    ) -> Result<(Policy, Option<Attested>)> {
        let interrupt = signals::interrupt_flag().context("signals")?;
        in_context(&interrupt, |context| {
            let policy = policy.map_or_else(|| Policy::read(context), Ok)?;
            if policy == Policy::Off {
                return Ok((policy, None));
            }
            let mut keys = Keys::read(self.dns || source.is_fetched(), context)?;
            if let Some(path) = &self.domain_keys {
                keys.domains.give(path)?;
            }
            Ok((policy, Some(keys.attest(patches, context)?)))
        })
    }
}

/// Refuses patches whose sender is not proved, or warns of them.
pub(crate) fn heed(policy: Policy, attested: &Attested, assembled: &Assembled<'_>) -> Result<()> {
    let doubtful: Vec<&Mail> = mails(assembled).filter(|mail| !attested.proves(mail)).collect();
    let Some(first) = doubtful.first() else { return Ok(()) };
    let count = doubtful.len();
    let text = match count {
        1 => format!("nobody vouches for the sender of \"{}\"", first.subject.text),
        _ => format!("nobody vouches for the senders of {count} patches, such as \"{}\"", first.subject.text),
    };
    match policy {
        Policy::Off | Policy::Check => {}
        Policy::SoftFail => complain(&text),
        Policy::HardFail => return Err(WrongUsage(text).into()),
    }
    Ok(())
}
