//! All signatures of a mail, by all methods.

use kernel::Context;
use series::Mail;

use crate::fields::Parts;
use crate::keys::Keys;
use crate::outcome::{Attested, Signature};
use crate::reading::check_read;
use crate::{Error, developer, dkim, openpgp};

impl Keys {
    /// The signatures of each of these mails.
    ///
    /// # Errors
    ///
    /// As [`Keys::signatures`].
    pub fn attest<'m>(
        &mut self,
        mails: impl IntoIterator<Item = &'m Mail>,
        context: &mut Context<'_>,
    ) -> Result<Attested, Error> {
        let mut attested = Attested::default();
        for mail in mails {
            attested.0.insert(mail.id.clone(), self.signatures(mail, context)?);
        }
        Ok(attested)
    }

    /// All signatures of a mail.
    ///
    /// # Errors
    ///
    /// When git or gpg cannot be run to their end, and when the user wants to stop.
    pub fn signatures(&mut self, mail: &Mail, context: &mut Context<'_>) -> Result<Vec<Signature>, Error> {
        let parts = Parts::of(&mail.raw);
        let now = jiff::Timestamp::now().as_second();
        let mut found = developer::signatures(mail, &parts, self, context)?;
        found.extend(openpgp::signature(mail, &parts, self, context)?);
        found.extend(dkim::signatures(mail, &parts, self, now));
        let fault = parts.fault().or_else(|| check_read(mail, &parts.body).err());
        let checked = found.into_iter().map(|signature| {
            let state = signature.state.unless(fault.clone());
            Signature { state, ..signature }
        });
        Ok(checked.collect())
    }
}
