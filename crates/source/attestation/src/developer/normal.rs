//! A mail in the form in which its developer signs it.

use kernel::Context;
use series::Mail;

use crate::Error;
use crate::canonical::relaxed;
use crate::fields::{Field, Parts};

/// A mail as it is signed.
pub(super) struct Normal {
    fields: Vec<Field>,
    pub(super) body: Vec<u8>,
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
        Ok(Self { fields, body: lines([info.message, info.patch].concat().as_slice()) })
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

/// Lines that end with CRLF, without empty ones at the end.
fn lines(text: &[u8]) -> Vec<u8> {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |at| at + 1);
    let mut canonical = Vec::with_capacity(text.len());
    for line in text[..end].split(|&byte| byte == b'\n') {
        let line = line.iter().rposition(|&byte| byte != b'\r').map_or(&[][..], |at| &line[..=at]);
        canonical.extend([line, b"\r\n"].concat());
    }
    canonical
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_do_not_count() {
        for text in ["a\nb\n", "a\r\nb", "a\r\r\nb\n\n\r\n"] {
            assert_eq!(lines(text.as_bytes()), b"a\r\nb\r\n", "{text:?}");
        }
        assert_eq!(lines(b"a\n\nb"), b"a\r\n\r\nb\r\n");
    }
}
