//! A patch as git is to apply it.

use crate::from_line::is_separator;
use crate::line::clean;
use crate::mail::Mail;
use crate::person::Person;
use crate::subject::Subject;
use crate::trailer::{Trailer, trailers};

/// A patch: its author, its message, its changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// Who wrote it; not always who sent it.
    pub author: Person,
    /// When it was written, as RFC 2822 has it.
    pub date: Option<String>,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message, without blank lines around it.
    pub message: String,
    /// What stands below the message.
    pub patch: Vec<u8>,
}

impl Composed {
    /// What `git mailinfo --scissors` makes of a mail.
    pub fn of(mail: &Mail) -> Self {
        let text = below_scissors(&mail.text);
        let (headers, message) = headers(text);
        let find = |name: &str| {
            headers
                .iter()
                .find(|(header, _)| header.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
        };
        Self {
            author: find("From").and_then(Person::parse).unwrap_or_else(|| mail.from.clone()),
            date: find("Date").map(str::to_owned).or_else(|| mail.date.clone()),
            subject: find("Subject")
                .map_or_else(|| mail.subject.text.clone(), |subject| Subject::parse(subject).text),
            message: message.trim_matches('\n').to_owned(),
            patch: mail.patch.clone(),
        }
    }

    /// When it was written, in seconds and with the time zone, as git reads it without guessing; nothing before 1970.
    pub fn author_date(&self) -> Option<String> {
        let date = jiff::fmt::rfc2822::parse(self.date.as_deref()?).ok()?;
        let seconds = date.timestamp().as_second();
        (seconds >= 0).then(|| format!("@{seconds} {}", date.strftime("%z")))
    }

    /// Adds trailers below those that are there.
    pub fn add<'a>(&mut self, added: impl IntoIterator<Item = &'a Trailer>) {
        let mut added = added.into_iter().peekable();
        if added.peek().is_none() {
            return;
        }
        let last = self.message.rsplit("\n\n").next().unwrap_or_default();
        let lines = last.lines().count();
        // Prose with a colon in it is no block of trailers.
        let is_block = lines > 0 && trailers(last).len() * 2 >= lines;
        let gap = match (self.message.is_empty(), is_block) {
            (true, _) => "",
            (false, true) => "\n",
            (false, false) => "\n\n",
        };
        self.message.truncate(self.message.trim_end_matches('\n').len());
        self.message.push_str(gap);
        self.push(added);
    }

    /// Puts trailers at the end as it is.
    pub(crate) fn push<'a>(&mut self, added: impl IntoIterator<Item = &'a Trailer>) {
        for trailer in added {
            self.message.push_str(&trailer.lines());
        }
        self.message.truncate(self.message.trim_end_matches('\n').len());
    }

    /// Adds a sign-off as the last trailer; where it is among those that are there, it moves.
    pub fn sign_off(&mut self, sign_off: &Trailer) {
        let block = self.message.rfind("\n\n").map_or(0, |at| at + 2);
        let (above, last) = self.message.split_at(block);
        let is_other = |line: &&str| Trailer::parse(line).is_none_or(|trailer| !trailer.is_same(sign_off));
        let kept: Vec<&str> = last.lines().filter(is_other).collect();
        self.message = format!("{above}{}", kept.join("\n")).trim_end_matches('\n').to_owned();
        self.add([sign_off]);
    }

    /// A character that changes the order in which text is shown, or cannot be seen, in a line without letters of a script
    /// that needs such characters; with its line. See CVE-2021-42574.
    pub fn hidden_character(&self) -> Option<(String, char)> {
        let patch = String::from_utf8_lossy(&self.patch);
        let lines = self.message.lines().chain(patch.lines());
        lines.filter(|line| !line.is_ascii()).find_map(|line| {
            let hidden = line.chars().find(|&c| is_hidden(c))?;
            let needs_it = line
                .chars()
                .any(|c| !c.is_ascii() && c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase());
            (!needs_it).then(|| (line.to_owned(), hidden))
        })
    }

    /// It as a mail of an mbox, for `git am`. `prefix` stands before the subject: `[PATCH v2 1/3]`.
    pub fn mbox(&self, prefix: &str, id: &str) -> Vec<u8> {
        let mut mail = format!(
            "From git@z Thu Jan  1 00:00:00 1970\nSubject: {prefix} {}\nFrom: {}\n",
            self.subject,
            self.author.header()
        );
        if let Some(date) = &self.date {
            mail += &format!("Date: {date}\n");
        }
        if id.contains('@') {
            mail += &format!("Message-Id: <{id}>\n");
        }
        mail +=
            "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n";
        let mut mail = mail.into_bytes();
        let message = format!("{}\n", self.message);
        let lines = message
            .as_bytes()
            .split_inclusive(|&byte| byte == b'\n')
            .chain(self.patch.split_inclusive(|&byte| byte == b'\n'));
        for line in lines {
            // git takes no other `From ` for the next mail.
            if is_separator(line) {
                mail.push(b'>');
            }
            mail.extend_from_slice(line);
        }
        mail.extend_from_slice(b"\n");
        mail
    }
}

/// What stands below the last line of scissors, or all.
fn below_scissors(text: &str) -> &str {
    let mut below = text;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if is_scissors(line) {
            below = &text[at..];
        }
    }
    below
}

/// A line that mainly consists of dashes and scissors: `-- >8 --`.
fn is_scissors(line: &str) -> bool {
    let visible = line.chars().filter(|c| !c.is_whitespace()).count();
    let scissors: usize = [">8", "8<", ">%", "%<"].iter().map(|mark| line.matches(mark).count()).sum();
    let dashes = line.matches('-').count();
    let is_long = line.trim().len() >= 8;
    scissors > 0 && dashes > 0 && is_long && visible < (dashes + 2 * scissors) * 3
}

/// The headers at the head of a text, and the rest.
fn headers(text: &str) -> (Vec<(String, String)>, &str) {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut rest = text.trim_start_matches('\n');
    while let Some(line) = rest.split_inclusive('\n').next() {
        let is_continued = line.starts_with([' ', '\t']) && !line.trim().is_empty();
        match (header(line), found.last_mut()) {
            (Some(header), _) => found.push(header),
            (None, Some((_, value))) if is_continued => *value = format!("{value} {}", line.trim()),
            _ => break,
        }
        rest = &rest[line.len()..];
    }
    // Without a blank line below, they are a part of the message.
    if found.is_empty() || !rest.is_empty() && !rest.starts_with('\n') {
        (Vec::new(), text)
    } else {
        (found, rest)
    }
}

fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(": ")?;
    let is_known = ["From", "Date", "Subject"].iter().any(|known| name.eq_ignore_ascii_case(known));
    is_known.then(|| (name.to_owned(), clean(value)))
}

/// The format characters of Unicode (category Cf) that are used to hide something.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0001}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATCH: &str = "---\n a | 1 +\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n";

    fn composed(text: &str) -> Composed {
        let raw = format!(
            "From: S <s@example.org>\nSubject: [PATCH 1/2] x: y\nDate: Wed, 1 Jan 2025 10:00:00 +0000\n\n{text}\n{PATCH}"
        );
        Composed::of(&Mail::read(raw.as_bytes(), 1).remove(0))
    }

    #[test]
    fn headers_in_the_text_come_before_those_of_the_mail() {
        let found = composed("From: A B <a@example.org>\nSubject: [PATCH] long\n subject\n\nWhy.\n");
        assert_eq!(
            (found.author.name.as_str(), found.subject.as_str(), found.message.as_str()),
            ("A B", "long subject", "Why.")
        );
        let none = composed("From: here on: it is prose\nand more.\n");
        assert_eq!(
            (none.author.name.as_str(), none.message.as_str()),
            ("S", "From: here on: it is prose\nand more.")
        );
    }

    #[test]
    fn what_stands_above_scissors_is_dropped() {
        for line in ["-- >8 --", "--------8<--------", "- - >8 - cut here - >8 - -"] {
            assert_eq!(
                composed(&format!("Hello,\n{line}\nFrom: A <a@example.org>\n\nWhy.")).message,
                "Why.",
                "{line}"
            );
        }
        for line in ["8< words", "----------", "x >8 y - z and more words"] {
            assert!(composed(&format!("Hello,\n{line}\nWhy.")).message.starts_with("Hello"), "{line}");
        }
    }

    #[test]
    fn trailers_are_added_below_others() {
        let added = [Trailer::new("Acked-by", "B <b@example.org>")];
        for (text, expected) in [
            (
                "Why.\n\nSigned-off-by: A <a@example.org>\n",
                "Why.\n\nSigned-off-by: A <a@example.org>\nAcked-by: B <b@example.org>",
            ),
            (
                "Why: because.\nIt is so.\nReally.\n",
                "Why: because.\nIt is so.\nReally.\n\nAcked-by: B <b@example.org>",
            ),
            ("", "Acked-by: B <b@example.org>"),
        ] {
            let mut found = composed(text);
            found.add(&added);
            assert_eq!(found.message, expected);
        }
        let mut none = composed("Why.");
        none.add(&[]);
        assert_eq!(none.message, "Why.");
    }

    #[test]
    fn a_sign_off_is_the_last_trailer() {
        let own = Trailer::new("Signed-off-by", "A <a@example.org>");
        for (text, expected) in [
            (
                "Why.\n\nSigned-off-by: A <a@example.org>\nCc: B <b@example.org>\n",
                "Why.\n\nCc: B <b@example.org>\nSigned-off-by: A <a@example.org>",
            ),
            ("Why.\n\nSigned-off-by: A <a@example.org>\n", "Why.\n\nSigned-off-by: A <a@example.org>"),
            ("Why.", "Why.\n\nSigned-off-by: A <a@example.org>"),
            ("", "Signed-off-by: A <a@example.org>"),
        ] {
            let mut found = composed(text);
            found.sign_off(&own);
            assert_eq!(found.message, expected);
        }
    }

    #[test]
    fn text_that_does_not_show_what_it_is_is_found() {
        for (text, hidden) in [
            ("a \u{202e}b", true),
            ("zero\u{200b}width", true),
            ("é ü", false),
            ("שלום\u{200f}", false),
            ("a", false),
        ] {
            assert_eq!(composed(text).hidden_character().is_some(), hidden, "{text:?}");
        }
    }

    #[test]
    fn an_mbox_has_one_mail_whatever_is_in_it() {
        let found = composed("Why.\n\nFrom here to there 10:00:00 2025\nFrom now on\n");
        let mbox = String::from_utf8(found.mbox("[PATCH 1/2]", "1@x")).expect("text");
        assert_eq!(
            mbox,
            format!(
                "From git@z Thu Jan  1 00:00:00 1970\nSubject: [PATCH 1/2] x: y\nFrom: S <s@example.org>\n\
                 Date: Wed, 1 Jan 2025 10:00:00 +0000\nMessage-Id: <1@x>\nMIME-Version: 1.0\n\
                 Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n\
                 Why.\n\n>From here to there 10:00:00 2025\nFrom now on\n{PATCH}\n"
            )
        );
    }

    proptest! {
        #[test]
        fn a_date_is_given_back_as_git_reads_it(seconds in 0i64..4_000_000_000, offset in -12i8..=14) {
            let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(offset));
            let zoned = jiff::Timestamp::from_second(seconds).unwrap().to_zoned(zone);
            let date = jiff::fmt::rfc2822::to_string(&zoned).ok();
            let sign = if offset < 0 { '-' } else { '+' };
            let expected = format!("@{seconds} {sign}{:02}00", offset.abs());
            prop_assert_eq!(Composed { date, ..composed("") }.author_date(), Some(expected));
        }

        #[test]
        fn a_message_keeps_its_words(text in "[a-zA-Z .:\n-]{0,200}") {
            let found = composed(&format!("Why.\n\n{text}"));
            prop_assume!(!text.lines().any(|line| line.trim_end() == "---" || line.starts_with("---")));
            let kept: Vec<&str> = found.message.split_whitespace().collect();
            let whole = format!("Why. {text}");
            prop_assert_eq!(kept, whole.split_whitespace().collect::<Vec<_>>());
        }
    }
}
