//! One mail: who sent it, what it answers, and what it says.

use mail_parser::{HeaderName, HeaderValue, Message, MessageParser};

use crate::files::is_patch;
use crate::line::clean;
use crate::mime::{self, Text};
use crate::person::Person;
use crate::subject::{Counter, Subject};

/// Largest mail that is read, in bytes.
pub const MAIL_MAX: usize = 16 << 20;

/// Most mails in a mail, and how deep they are looked for.
const WITHIN_MAX: usize = 200;
const DEPTH_MAX: usize = 4;

/// Most mails that a mail refers to; those that it names last are kept.
const REFERENCES_MAX: usize = 200;

/// Longest message id, in bytes (RFC 5322 has lines of up to 998).
const ID_MAX: usize = 998;

/// A mail of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// Its message id without brackets; `#3` for the third mail of a mailbox if it has none.
    pub id: String,
    /// The ids of what it answers, nearest first.
    pub parents: Vec<String>,
    /// The sender.
    pub from: Person,
    /// As RFC 2822 has it, if it is a date.
    pub date: Option<String>,
    /// When it was sent, in seconds since 1970; 0 if nothing says so.
    pub sent: i64,
    /// Its subject.
    pub subject: Subject,
    /// What it says to people; of a patch, what stands above it.
    pub text: String,
    /// From the first line that is for programs to the end: `---`, a diffstat, the patch, a signature. Empty if there is no patch.
    pub patch: Vec<u8>,
    /// All of it as it was sent, header and encodings included: what is signed.
    pub raw: Vec<u8>,
}

impl Mail {
    /// Whether it can be a patch of a series.
    pub fn has_patch(&self) -> bool {
        !self.patch.is_empty()
    }

    /// Whether it has been sent, and so has a message id.
    pub fn was_sent(&self) -> bool {
        self.id.contains('@')
    }

    /// Whether it can speak for a series: a cover letter, a first patch, or a mail without a number that may be one.
    pub fn is_head(&self) -> bool {
        !self.subject.is_reply && self.subject.counter.is_none_or(|counter| counter.number <= 1)
    }

    /// Whether it shows which files a series changes, as cover letters do.
    pub fn has_diffstat(&self) -> bool {
        let is_summary = |line: &str| {
            let line = line.trim_start();
            let counted = line.trim_start_matches(|c: char| c.is_ascii_digit());
            counted.len() < line.len()
                && counted.starts_with(" file")
                && (line.contains(" insertion") || line.contains(" deletion"))
        };
        self.text.lines().any(is_summary)
    }

    /// A patch without a mail, the `place`th of so many in its folder. Its name is its subject.
    pub(crate) fn plain(name: &str, patch: &[u8], place: (usize, usize)) -> Self {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let counter = (place.1 > 1).then(|| Counter { number: number(place.0), total: number(place.1) });
        let text = Text::plain(patch);
        let (above, patch) = split(&text.bytes);
        Self {
            id: format!("#plain-{}", place.0),
            parents: Vec::new(),
            from: Person::default(),
            date: None,
            sent: 0,
            subject: Subject { text: clean(name), counter, ..Subject::default() },
            text: text.decoded(above),
            patch: patch.to_vec(),
            raw: Vec::new(),
        }
    }

    /// Reads a mail and the mails in it. `number` is its place in the mailbox.
    pub fn read(raw: &[u8], number: usize) -> Vec<Self> {
        let mut mails = Vec::new();
        read_into(raw, &format!("#{number}"), None, &mut mails);
        mails
    }
}

/// Where a mail lies in another.
#[derive(Clone, Copy)]
struct Around<'a> {
    id: &'a str,
    depth: usize,
}

fn read_into(raw: &[u8], fallback: &str, around: Option<Around<'_>>, mails: &mut Vec<Mail>) {
    let depth = around.map_or(0, |around| around.depth);
    if mails.len() >= WITHIN_MAX || depth > DEPTH_MAX || raw.len() > MAIL_MAX {
        return;
    }
    // What git writes at the head of a patch is no header.
    let raw = match raw.strip_prefix(b"From ") {
        Some(rest) => rest
            .split_inclusive(|&byte| byte == b'\n')
            .next()
            .and_then(|line| rest.get(line.len()..))
            .unwrap_or_default(),
        None => raw,
    };
    let Some(message) = MessageParser::default().parse(raw) else { return };
    let parts = mime::parts(&message);
    let mut mail = of(&message, &parts.text, fallback);
    mail.raw = raw.to_vec();
    if let Some(around) = around.filter(|_| mail.parents.is_empty()) {
        mail.parents.push(around.id.to_owned());
    }
    let id = mail.id.clone();
    mails.push(mail);
    for (index, inner) in parts.mails.iter().enumerate() {
        let fallback = format!("{id}#{}", index + 1);
        read_into(inner, &fallback, Some(Around { id: &id, depth: depth + 1 }), mails);
    }
}

fn of(message: &Message<'_>, text: &Text, fallback: &str) -> Mail {
    let (above, patch) = split(&text.bytes);
    let sender = message.from().and_then(|from| from.first());
    let field = |value: Option<&str>| clean(value.unwrap_or_default());
    let date = message.date().filter(|date| date.is_valid());
    Mail {
        id: message.message_id().and_then(id).unwrap_or_else(|| fallback.to_owned()),
        parents: parents(message),
        from: Person {
            name: field(sender.and_then(|sender| sender.name())),
            address: field(sender.and_then(|sender| sender.address())),
        },
        date: date.map(mail_parser::DateTime::to_rfc822),
        sent: date.map_or(0, mail_parser::DateTime::to_timestamp),
        subject: Subject::parse(message.subject().unwrap_or_default()),
        text: text.decoded(above),
        patch: patch.to_vec(),
        raw: Vec::new(),
    }
}

/// A message id that can stand in a line.
fn id(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('<').trim_end_matches('>');
    let is_id = !text.is_empty()
        && text.len() <= ID_MAX
        && !text.contains(|c: char| c.is_control() || c.is_whitespace());
    is_id.then(|| text.to_owned())
}

/// In-Reply-To, and then References from the last to the first.
fn parents(message: &Message<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let answers = ids(message, HeaderName::InReplyTo);
    let references = ids(message, HeaderName::References);
    for id in answers.into_iter().chain(references.into_iter().rev()).take(REFERENCES_MAX) {
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

fn ids(message: &Message<'_>, header: HeaderName<'_>) -> Vec<String> {
    match message.header(header) {
        Some(HeaderValue::Text(text)) => id(text).into_iter().collect(),
        Some(HeaderValue::TextList(list)) => list.iter().filter_map(|text| id(text)).collect(),
        _ => Vec::new(),
    }
}

/// Where what is for people ends, as `git mailinfo` finds it; a text without a patch is all for people.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    if !is_patch(text) {
        return (text, &[]);
    }
    let mut at = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        if is_break(line) {
            break;
        }
        at += line.len();
    }
    text.split_at(at)
}

/// A line with which a patch, or what belongs to it, begins.
fn is_break(line: &[u8]) -> bool {
    if line.starts_with(b"diff -") || line.starts_with(b"Index: ") || line.starts_with(b"@@ -") {
        return true;
    }
    let Some(rest) = line.strip_prefix(b"---") else { return false };
    let is_file = rest.first() == Some(&b' ') && rest.get(1).is_some_and(|byte| !byte.is_ascii_whitespace());
    is_file || rest.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn only(raw: &str) -> Mail {
        let mails = Mail::read(raw.as_bytes(), 1);
        assert_eq!(mails.len(), 1, "{mails:#?}");
        mails.into_iter().next().expect("one")
    }

    #[test]
    fn a_mail_says_who_when_and_what() {
        let mail = only(
            "From: =?utf-8?q?=C3=85sa_=C3=96berg?= <asa@example.org>\nMessage-ID: <2@x>\nIn-Reply-To: <1@x>\n\
             References: <0@x> <1@x>\nDate: Wed, 1 Jan 2025 10:00:00 +0130\nSubject: =?utf-8?q?=5BPATCH?=\n 1/2] net: x\n\n\
             Why.\n\nSigned-off-by: A <a@x.org>\n---\n a | 1 +\n\ndiff --git a/a b/a\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n",
        );
        assert_eq!((mail.id.as_str(), mail.parents.join(" ").as_str()), ("2@x", "1@x 0@x"));
        assert_eq!((mail.from.name.as_str(), mail.sent), ("Åsa Öberg", 1_735_720_200));
        assert_eq!(mail.date.as_deref(), Some("Wed, 1 Jan 2025 10:00:00 +0130"));
        assert_eq!(mail.subject.text, "net: x");
        assert_eq!(mail.text, "Why.\n\nSigned-off-by: A <a@x.org>\n");
        assert!(mail.has_patch() && mail.patch.starts_with(b"---\n a | 1 +\n"));
    }

    #[test]
    fn a_patch_keeps_the_bytes_of_its_files() {
        let head = b"Content-Type: text/plain; charset=iso-8859-1\nSubject: [PATCH] x\n\n";
        let raw = [head.as_slice(), b"\xe9\n---\ndiff --git a/a b/a\n@@ -1 +1 @@\n-\xe9\n+e\n"].concat();
        let mail = Mail::read(&raw, 1).remove(0);
        assert_eq!(mail.text, "é\n");
        assert!(mail.patch.windows(3).any(|bytes| bytes == b"-\xe9\n"));
    }

    #[test]
    fn talk_is_whole_whatever_lines_are_in_it() {
        let mail = only("Subject: Re: x\n\nyes\n---\n> diff --git a/a b/a\nAcked-by: A <a@x.org>\n");
        assert!(!mail.has_patch() && mail.text.ends_with("Acked-by: A <a@x.org>\n"));
        assert!(
            only("Subject: [PATCH 0/2] x\n\n a | 1 +\n 2 files changed, 1 insertion(+)\n").has_diffstat()
        );
        assert!(!only("Subject: x\n\n2 files changed\nfile changed, 1 insertion\n").has_diffstat());
    }

    #[test]
    fn mails_in_mails_are_bounded() {
        let mut raw = "Subject: end\n\nx\n".to_owned();
        for _ in 0..50 {
            raw = format!("Content-Type: message/rfc822\n\n{raw}");
        }
        assert!(Mail::read(raw.as_bytes(), 1).len() <= DEPTH_MAX + 2);
        let bomb = "Content-Type: multipart/mixed; boundary=a\n\n--a\n".repeat(2000);
        assert!(Mail::read(bomb.as_bytes(), 1).len() <= WITHIN_MAX);
    }

    #[test]
    fn ids_that_are_none_get_the_number_of_the_mail() {
        for raw in ["Subject: x\n\n", "Message-ID: <>\nSubject: x\n\n", "Message-ID: <a b>\nSubject: x\n\n"] {
            let mail = Mail::read(raw.as_bytes(), 7).remove(0);
            assert!(mail.id == "#7" || !mail.id.contains(' '), "{}", mail.id);
        }
    }

    proptest! {
        #[test]
        fn no_mail_does_harm(raw: Vec<u8>, head in "(Subject|From|Message-ID|References|Content-Type|Date): .{0,80}") {
            let raw = [head.as_bytes(), b"\n\n", &raw].concat();
            for mail in Mail::read(&raw, 1) {
                prop_assert!(!mail.id.contains(char::is_control) && !mail.from.name.contains(char::is_control));
            }
        }
    }
}
