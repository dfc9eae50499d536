//! What a mail with a patch says, after git has taken it apart.

/// Longest name, address or subject that is kept, in characters.
const FIELD_MAX: usize = 1000;

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
        let whole = field("Subject");
        let Tags { number, is_reply, rest } = tags(&whole);
        // A mail that is given as a plain file.
        let subject = if rest.is_empty() { fallback } else { rest };
        let mail = known(field("Email"), UNKNOWN);
        let name = known(field("Author"), &mail);
        Self { subject: clean(subject), name, mail, date: date(&field("Date")), number, is_reply }
    }
}

/// Text in one line that can be handed to git.
fn clean(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).take(FIELD_MAX).collect();
    text.trim().to_owned()
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

/// What stands before a subject.
#[derive(Debug, PartialEq, Eq)]
struct Tags<'a> {
    number: Option<u32>,
    is_reply: bool,
    rest: &'a str,
}

fn tags(subject: &str) -> Tags<'_> {
    let mut tags = Tags { number: None, is_reply: false, rest: subject.trim() };
    loop {
        if let Some(rest) = tags.rest.get(3..).filter(|_| tags.rest[..3].eq_ignore_ascii_case("re:")) {
            tags.is_reply = true;
            tags.rest = rest.trim_start();
        } else if let Some((tag, rest)) = brackets(tags.rest) {
            tags.number = tags.number.or_else(|| tag.split([' ', '[', ']']).find_map(number));
            tags.rest = rest.trim_start();
        } else {
            return tags;
        }
    }
}

/// What stands in the brackets with which `text` begins, and what follows them. Brackets may hold brackets; where they
/// are not balanced, the first one that closes is the end.
fn brackets(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('[')?;
    let mut depth = 1_usize;
    let outermost = inside.find(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    inside.split_at_checked(outermost.or_else(|| inside.find(']'))?).map(|(tag, rest)| (tag, &rest[1..]))
}

/// The 3 of `3/7`.
fn number(word: &str) -> Option<u32> {
    let (number, count) = word.split_once('/')?;
    count.parse::<u32>().ok()?;
    number.parse().ok()
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
    fn what_stands_before_a_subject_is_read() {
        for (subject, number, is_reply, rest) in [
            ("[PATCH v2 03/7] mm: fix it", Some(3), false, "mm: fix it"),
            ("[PATCH 1/2][RFC] mm: [x] y", Some(1), false, "mm: [x] y"),
            ("Re: [PATCH 2/2] mm", Some(2), true, "mm"),
            ("[PATCH [net-next] 2/3] net: x", Some(2), false, "net: x"),
            ("[[PATCH 2/3]] net: [x] y", Some(2), false, "net: [x] y"),
            ("[PATCH [net 2/3] net: [x] y", Some(2), false, "net: [x] y"),
            ("[PATCH] mm: 1/2 of it", None, false, "mm: 1/2 of it"),
            ("[PATCH a/b] x", None, false, "x"),
            ("[no end", None, false, "[no end"),
            ("é", None, false, "é"),
            ("", None, false, ""),
        ] {
            assert_eq!(tags(subject), Tags { number, is_reply, rest }, "{subject}");
        }
    }

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
