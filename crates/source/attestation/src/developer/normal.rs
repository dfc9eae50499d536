//! A mail in the form in which its developer signs it.

use kernel::Context;
use series::Mail;

use crate::Error;
use crate::canonical::{lines, relaxed};
use crate::fields::{Field, Parts};
use crate::reading::check_git;

/// A mail as it is signed.
pub(super) struct Normal {
    fields: Vec<Field>,
    pub(super) body: Vec<u8>,
    /// Why it is not what kiln reads.
    pub(super) fault: Option<String>,
}

impl Normal {
    pub(super) fn of(mail: &Mail, parts: &Parts, context: &mut Context<'_>) -> Result<Self, Error> {
        let info = history::mail_info(&mail.raw, context)?;
        let replaced = |field: &Field| match field.name.as_str() {
            "from" => format!(" {} <{}>", info.author, info.address).into_bytes(),
            "subject" => format!(" {}", info.subject).into_bytes(),
            _ => field.value.clone(),
        };
        let fields =
            parts.fields.iter().map(|field| Field { value: replaced(field), ..field.clone() }).collect();
        let fault = check_git(mail, &info).err();
        Ok(Self { fields, body: lines(&[info.message, info.patch].concat()), fault })
    }

    /// The fields with these names, those that come last before the others.
    pub(super) fn header(&self, names: &[String]) -> Vec<u8> {
        let mut left: Vec<&Field> = self.fields.iter().collect();
        let mut header = Vec::new();
        for name in names {
            if let Some(at) = left.iter().rposition(|field| field.name == *name) {
                let field = left.remove(at);
                header.extend([name.as_bytes(), b":", &relaxed(&field.value), b"\r\n"].concat());
            }
        }
        header
    }
}
