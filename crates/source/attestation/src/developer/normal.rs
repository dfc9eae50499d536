//! A mail in the form in which its developer signs it.

use kernel::Context;
use series::Mail;

use crate::Error;
use crate::canonical::lines;
use crate::fields::{Field, Parts};
use crate::reading::check_git;

/// A mail as it is signed.
pub(super) struct Normal {
    pub(super) fields: Vec<Field>,
    pub(super) body: Vec<u8>,
    /// Why it is not what kiln reads.
    pub(super) fault: Option<String>,
}

impl Normal {
    pub(super) fn of(mail: &Mail, parts: &Parts, context: &mut Context<'_>) -> Result<Self, Error> {
        let info = match history::mail_info(&mail.raw, context) {
            // That one mail is broken stops no other.
            Err(history::Error::Git { reason, .. }) => return Ok(Self::unread(&reason)),
            info => info?,
        };
        let replaced = |field: &Field| match field.name.as_str() {
            "from" => [b" ", info.author.as_slice(), b" <", info.address.as_bytes(), b">"].concat(),
            "subject" => [b" ", info.subject.as_slice()].concat(),
            _ => field.value.clone(),
        };
        let fields =
            parts.fields.iter().map(|field| Field { value: replaced(field), ..field.clone() }).collect();
        let fault = check_git(mail, &info).err();
        Ok(Self { fields, body: lines(&[info.message, info.patch].concat()), fault })
    }

    fn unread(reason: &str) -> Self {
        let fault = Some(format!("git cannot read it: {reason}"));
        Self { fields: Vec::new(), body: Vec::new(), fault }
    }
}
