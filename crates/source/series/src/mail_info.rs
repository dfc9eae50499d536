//! What a mail with a patch says, after git has taken it apart.

use crate::line::clean;
use crate::subject::Subject;

/// Who stands for an author of whom nothing is known.
const UNKNOWN: &str = "unknown";

/// A patch, and what its mail says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MailInfo {
    /// Without `[PATCH]` and the like.
    pub subject: String,
    /// The name of the author; never empty.
    pub name: String,
    /// The address of the author; never empty.
    pub mail: String,
    /// In the form that git reads without guessing, if the mail has a date at all.
    pub date: Option<String>,
    /// The place in its series: 3 of `[PATCH 3/7]`.
    pub number: Option<u32>,
    /// It answers another mail.
    pub is_reply: bool,
}

impl MailInfo {
    /// Takes in what `git mailinfo -k` printed; `fallback` is the subject of a mail that has none.
    pub fn parse(information: &str, fallback: &str) -> Self {
        let field = |name: &str| {
            let mut lines = information.lines().filter_map(|line| line.split_once(": "));
            clean(lines.find(|(key, _)| *key == name).map(|(_, value)| value).unwrap_or_default())
        };
        let subject = Subject::parse(&field("Subject"));
        let number = subject.counter.map(|counter| counter.number);
        // A mail that is given as a plain file.
        let text = if subject.text.is_empty() { fallback } else { &subject.text };
        let mail = known(field("Email"), UNKNOWN);
        let name = known(field("Author"), &mail);
        Self {
            subject: clean(text),
            name,
            mail,
            date: date(&field("Date")),
            number,
            is_reply: subject.is_reply,
        }
    }
}

/// git takes no name or address that is all punctuation.
fn known(text: String, instead: &str) -> String {
    if text.contains(char::is_alphanumeric) { text } else { instead.to_owned() }
}

/// Seconds and the time zone, of a date by RFC 2822.
fn date(text: &str) -> Option<String> {
    let date = jiff::fmt::rfc2822::parse(text).ok().filter(|date| date.timestamp().as_second() >= 0)?;
    Some(format!("@{} {}", date.timestamp().as_second(), date.strftime("%z")))
}

/// Puts patches into the order of their numbers, if each has one of its own; what answers others is left out,
/// unless there is nothing else.
pub fn sort<T>(patches: &mut Vec<(MailInfo, T)>) {
    if patches.iter().any(|(info, _)| !info.is_reply) {
        patches.retain(|(info, _)| !info.is_reply);
    }
    let mut numbers: Vec<Option<u32>> = patches.iter().map(|(info, _)| info.number).collect();
    numbers.sort_unstable();
    let is_distinct = numbers.windows(2).all(|pair| pair[0] != pair[1]);
    if is_distinct && numbers.iter().all(Option::is_some) {
        patches.sort_by_key(|(info, _)| info.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_git_printed_is_read() {
        let printed = "Author: Åsa Öberg\nEmail: asa@example.org\nSubject: [PATCH 2/3] net: fix: it\n\
                       Date: Wed, 1 Jan 2025 10:00:00 +0130\n\n";
        let info = MailInfo::parse(printed, "file");
        assert_eq!((info.name.as_str(), info.mail.as_str()), ("Åsa Öberg", "asa@example.org"));
        assert_eq!((info.subject.as_str(), info.number), ("net: fix: it", Some(2)));
        assert_eq!(info.date.as_deref(), Some("@1735720200 +0130"));
        let nothing = MailInfo::parse("Author: .,;\nDate: yesterday\nSubject: [PATCH]\n", "file");
        assert_eq!((nothing.name.as_str(), nothing.mail.as_str()), ("unknown", "unknown"));
        assert_eq!((nothing.subject.as_str(), nothing.date), ("file", None));
    }

    #[test]
    fn numbers_give_the_order_if_each_patch_has_its_own() {
        let sorted = |subjects: &[&str]| {
            let info = |subject: &&str| (MailInfo::parse(&format!("Subject: {subject}\n"), ""), ());
            let mut infos: Vec<(MailInfo, ())> = subjects.iter().map(info).collect();
            sort(&mut infos);
            infos.into_iter().map(|(info, ())| info.subject).collect::<String>()
        };
        assert_eq!(sorted(&["[2/3] b", "[3/3] c", "[1/3] a"]), "abc");
        assert_eq!(sorted(&["[2/3] b", "c", "[1/3] a"]), "bca");
        assert_eq!(sorted(&["[2/2] b", "[2/2] c", "[1/2] a"]), "bca");
        assert_eq!(sorted(&["[2/2] b", "Re: [2/2] c", "[1/2] a"]), "ab");
        assert_eq!(sorted(&["Re: [1/1] c"]), "c");
    }

    proptest! {
        #[test]
        fn whatever_a_mail_says_fits_into_one_line(text: String) {
            let info = MailInfo::parse(&format!("Author: {text}\nEmail: {text}\nSubject: {text}\nDate: {text}"), "x");
            for field in [&info.name, &info.mail, &info.subject] {
                prop_assert!(!field.is_empty() && !field.contains(char::is_control));
            }
        }

        #[test]
        fn a_date_is_given_back_as_git_reads_it(seconds in 0i64..4_000_000_000, offset in -12i64..=14) {
            let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(offset as i8));
            let zoned = jiff::Timestamp::from_second(seconds).unwrap().to_zoned(zone);
            let text = jiff::fmt::rfc2822::to_string(&zoned).unwrap();
            prop_assert_eq!(date(&text), Some(format!("@{seconds} {}{:02}00", if offset < 0 { '-' } else { '+' }, offset.abs())));
        }
    }
}
