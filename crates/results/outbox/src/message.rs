//! A mail that can be sent.

use std::path::Path;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use kernel::files::{self, Limit};
use lettre::Address;
use mail_parser::{Address as MailAddress, HeaderValue, MessageParser};

use crate::Error;
use crate::item::Item;

/// Largest mail that is sent, in bytes.
const LIMIT: Limit = Limit { what: "a mail", bytes: series::MAIL_MAX as u64 };

/// Most people that a mail goes to.
const RECIPIENTS_MAX: usize = 200;

/// Digits of the name of a mail.
const NAME: usize = 16;

/// A mail that can be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What tells it from others: of the same content it is the same.
    pub name: String,
    /// Who sends it.
    pub sender: Address,
    /// All who get it.
    pub recipients: Vec<Address>,
    /// For people, in one line.
    pub subject: String,
    /// The mail as it is kept, with LF at the ends of lines: those who get blind copies stand in it.
    pub bytes: Vec<u8>,
}

impl Message {
    /// Reads a mail that somebody wrote, and adds what it lacks: a date, a message id, and `sender` if it names none.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is larger than 16 MiB, or nobody sends or gets it.
    pub fn compose(path: &Path, sender: Option<&str>, now: Timestamp) -> Result<Self, Error> {
        if !path.is_file() {
            return Err(lacks(path, "no such file"));
        }
        let raw = series::without_carriage_returns(&files::read(path, LIMIT)?);
        let raw = match raw.strip_prefix(b"From ") {
            Some(rest) => rest.splitn(2, |&byte| byte == b'\n').nth(1).unwrap_or_default(),
            None => &raw,
        };
        let head = raw.split(|&byte| byte == b'\n').take_while(|line| !line.is_empty());
        if head.flatten().any(|&byte| byte == b'\r' || byte == 0) {
            return Err(lacks(path, "it has an odd character in its header"));
        }
        let name = files::hash(raw)[..NAME].to_owned();
        let message = MessageParser::default().parse(raw).ok_or_else(|| lacks(path, "it is no mail"))?;
        let mut head = String::new();
        if message.from().is_none() {
            let sender = sender.ok_or_else(|| lacks(path, "it has no From, and git no user.email"))?;
            head += &format!("From: {}\n", plain(sender));
        }
        if message.date().is_none() {
            let date = rfc2822::to_string(&now.to_zoned(TimeZone::UTC)).unwrap_or_default();
            head += &format!("Date: {date}\n");
        }
        let lacks_id = message.message_id().is_none();
        let mut found = Self::read(&name, [head.as_bytes(), raw].concat(), path)?;
        if lacks_id {
            let id = format!("Message-ID: <{name}.{}@{}>\n", now.as_second(), found.sender.domain());
            found.bytes.splice(0..0, id.into_bytes());
        }
        Ok(found)
    }

    /// Reads a mail that was kept at `path`.
    fn read(name: &str, bytes: Vec<u8>, path: &Path) -> Result<Self, Error> {
        let message = MessageParser::default().parse(&bytes).ok_or_else(|| lacks(path, "it is no mail"))?;
        let addresses = |field: &str| -> Result<Vec<Address>, Error> {
            let all =
                message.header_values(field).filter_map(HeaderValue::as_address).flat_map(MailAddress::iter);
            let read = |one: &mail_parser::Addr<'_>| {
                let shown = || one.address().or(one.name()).unwrap_or_default().to_owned();
                let address = one.address().and_then(|text| text.parse().ok());
                address.ok_or_else(|| lacks(path, &format!("{field}: {}: no address", shown())))
            };
            all.take(RECIPIENTS_MAX + 1).map(read).collect()
        };
        let sender = addresses("From")?.into_iter().next().ok_or_else(|| lacks(path, "nobody sends it"))?;
        let mut recipients = Vec::new();
        for field in ["To", "Cc", "Bcc"] {
            for address in addresses(field)? {
                if !recipients.contains(&address) {
                    recipients.push(address);
                }
            }
        }
        match recipients.len() {
            0 => return Err(lacks(path, "nobody gets it: it has no To")),
            count if count > RECIPIENTS_MAX => {
                return Err(lacks(path, &format!("more than {RECIPIENTS_MAX} people get it")));
            }
            _ => {}
        }
        let subject = message.subject().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
        Ok(Self { name: name.to_owned(), sender, recipients, subject, bytes })
    }

    /// The mail as others get it: without those who get blind copies.
    pub(crate) fn for_others(&self) -> Vec<u8> {
        let mut kept = Vec::with_capacity(self.bytes.len());
        let (mut in_head, mut in_bcc) = (true, false);
        for line in self.bytes.split_inclusive(|&byte| byte == b'\n') {
            in_head &= line != b"\n";
            let goes_on = line.starts_with(b" ") || line.starts_with(b"\t");
            in_bcc = in_head && if goes_on { in_bcc } else { is_bcc(line) };
            if !in_bcc {
                kept.extend_from_slice(line);
            }
        }
        kept
    }
}

impl Item for Message {
    const ENDING: &'static str = "eml";
    const LIMIT: Limit = Limit { what: "a mail", bytes: 2 * series::MAIL_MAX as u64 };

    fn name(&self) -> &str {
        &self.name
    }

    fn bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.bytes.clone())
    }

    fn parse(name: &str, bytes: Vec<u8>, path: &Path) -> Result<Self, Error> {
        Self::read(name, bytes, path)
    }
}

/// Whether mail can be sent to it: an address without a name.
#[must_use]
pub fn is_address(text: &str) -> bool {
    text.parse::<Address>().is_ok()
}

/// `Name <address>` as a header may have it: without a name that would have to be encoded or quoted.
fn plain(sender: &str) -> &str {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_".contains(c);
    match sender.rsplit_once('<') {
        Some((name, rest)) if !name.chars().all(is_plain) => rest.trim_end_matches('>'),
        _ => sender,
    }
}

/// Whether a line begins a field that others must not see. Spaces before the colon are obsolete, and read (RFC 5322, section 4.5).
fn is_bcc(line: &[u8]) -> bool {
    let name = line.split(|&byte| byte == b':').next().unwrap_or_default().trim_ascii();
    name.eq_ignore_ascii_case(b"bcc") || name.eq_ignore_ascii_case(b"resent-bcc")
}

fn lacks(path: &Path, reason: &str) -> Error {
    Error::Unfit { path: path.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn compose(text: &str) -> Result<Message, Error> {
        let file = tempfile::NamedTempFile::new().expect("temporary");
        std::fs::write(file.path(), text).expect("writable");
        Message::compose(
            file.path(),
            Some("M <m@example.net>"),
            Timestamp::from_second(1_700_000_000).expect("a time"),
        )
    }

    const MAIL: &str = "To: a@example.org\nBcc: b@example.org,\n c@example.org\nSubject: x\n\nBcc: text\n";

    #[test]
    fn what_a_mail_lacks_is_added_once() {
        let message = compose(MAIL).expect("a mail");
        let text = String::from_utf8(message.bytes.clone()).expect("UTF-8");
        assert!(text.contains("From: M <m@example.net>\nDate: Tue, 14 Nov 2023 22:13:20 +0000\n"), "{text}");
        assert!(
            text.starts_with(&format!("Message-ID: <{}.1700000000@example.net>\n", message.name)),
            "{text}"
        );
        let again = Message::parse(&message.name, message.bytes.clone(), Path::new("x")).expect("a mail");
        assert_eq!(again, message);
        let whole = format!("From x Thu Jan  1 00:00:00 1970\n{text}");
        assert_eq!(compose(&whole).expect("a mail").bytes, message.bytes);
    }

    #[test]
    fn a_sender_has_a_name_that_needs_no_quotes() {
        for (sender, header) in [
            ("M Aintainer <m@x.org>", "M Aintainer <m@x.org>"),
            ("Åsa <a@x.org>", "a@x.org"),
            ("A, B <a@x.org>", "a@x.org"),
            ("a@x.org", "a@x.org"),
        ] {
            assert_eq!(plain(sender), header);
        }
    }

    #[test]
    fn blind_copies_are_sent_and_not_shown() {
        let message = compose(MAIL).expect("a mail");
        let to = message.recipients.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(to, ["a@example.org", "b@example.org", "c@example.org"]);
        let shown = String::from_utf8(message.for_others()).expect("UTF-8");
        assert!(!shown.contains("b@example.org") && !shown.contains("c@example.org"), "{shown}");
        assert!(shown.ends_with("Subject: x\n\nBcc: text\n"), "{shown}");
    }

    #[test]
    fn no_spelling_of_a_blind_copy_is_shown() {
        for field in ["Bcc", "bCC", "Bcc ", "Bcc\t", "Resent-Bcc"] {
            let message =
                compose(&format!("To: a@example.org\n{field}: secret@example.org\n\nx\n")).expect("a mail");
            let shown = String::from_utf8(message.for_others()).expect("UTF-8");
            assert!(!shown.contains("secret"), "{field}: {shown}");
        }
        for head in ["To: a@example.org\n\r\rBcc: b@x.org", "From: m@x.org\rBcc: b@x.org\nTo: a@x.org"] {
            assert!(
                compose(&format!("{head}\n\nx\n")).expect_err(head).to_string().contains("odd character")
            );
        }
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let many: String = (0..=RECIPIENTS_MAX).map(|number| format!("a{number}@x.org,\n ")).collect();
        for (text, reason) in [
            ("Subject: x\n\n", "nobody gets it"),
            ("To: nobody\n\n", "To: nobody: no address"),
            ("From: nobody\nTo: a@example.org\n\n", "From: nobody: no address"),
            (&format!("To: {many}z@x.org\n\n"), "more than 200 people"),
        ] {
            let error = compose(text).expect_err(reason).to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert!(Message::compose(Path::new("/no/such/file"), None, Timestamp::UNIX_EPOCH).is_err());
    }

    proptest! {
        #[test]
        fn no_mail_does_harm(text in "((To|Cc|Bcc|From|Date): [a-z@.,<> ]{0,20}\n){0,4}\n?.{0,40}") {
            if let Ok(message) = compose(&text) {
                prop_assert!(!message.subject.contains(char::is_control) && !message.recipients.is_empty());
                let whole = String::from_utf8(message.for_others()).expect("UTF-8");
                let head = whole.split("\n\n").next().unwrap_or_default();
                prop_assert!(!head.lines().any(|line| line.starts_with("Bcc:")), "{}", whole);
            }
        }
    }
}
