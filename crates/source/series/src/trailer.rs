//! Lines at the end of a message that say who did what: `Reviewed-by: A B <a@example.org>`.

use crate::line::{LINE_MAX, clean};
use crate::person::Person;

/// Most trailers that are read from one text.
const TRAILERS_MAX: usize = 500;

/// Names that have a link.
const LINKS: [&str; 3] = ["link", "buglink", "closes"];

/// Names in an answer whose value is no person.
const IMPERSONAL: [&str; 5] = ["link", "buglink", "closes", "fixes", "obsoleted-by"];

/// Headers of mails and facts of a posting, which an answer quotes or pastes but does not give.
const NOT_GIVEN: [&str; 15] = [
    "from",
    "author",
    "cc",
    "to",
    "date",
    "subject",
    "subscribe",
    "unsubscribe",
    "base-commit",
    "change-id",
    "message-id",
    "phone",
    "mail",
    "email",
    "e-mail",
];

/// A name, a value, and what is said beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trailer {
    /// `Reviewed-by`.
    pub name: String,
    /// What follows the colon, without `remark`.
    pub value: String,
    /// ` # for x86`, or a line `[for x86]` below.
    pub remark: Option<String>,
}

impl Trailer {
    /// A trailer without a remark.
    pub fn new(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: value.to_owned(), remark: None }
    }

    /// Reads one line; nothing if it is not a trailer.
    pub fn parse(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once(':')?;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && name.len() > 1;
        if !is_name || !rest.starts_with([' ', '\t']) {
            return None;
        }
        let whole = clean(rest);
        let (value, remark) = match whole.rsplit_once(" #") {
            Some((value, remark)) if !value.trim().is_empty() => {
                (value.trim_end(), Some(format!(" #{remark}")))
            }
            _ => (whole.as_str(), None),
        };
        let is_hash =
            |text: &str| text.len() >= 6 && text.bytes().take(6).all(|byte| byte.is_ascii_hexdigit());
        let is_wrong = value.is_empty() || name.eq_ignore_ascii_case("fixes") && !is_hash(value);
        (!is_wrong).then(|| Self { name: name.to_owned(), value: value.to_owned(), remark })
    }

    /// The person whom it names; links and commits name none.
    pub fn person(&self) -> Option<Person> {
        let is_impersonal = self.is_named(&IMPERSONAL) || self.value.contains("://");
        if is_impersonal { None } else { Person::parse(&without_mailto(&self.value)) }
    }

    /// Whether both say the same, whatever their remarks.
    pub fn is_same(&self, other: &Self) -> bool {
        if !self.name.eq_ignore_ascii_case(&other.name) {
            return false;
        }
        if let (Some(one), Some(other)) = (self.person(), other.person()) {
            return one.address.eq_ignore_ascii_case(&other.address);
        }
        let linked = |trailer: &Self| linked_mail(&trailer.value).filter(|_| trailer.is_named(&LINKS));
        let is_same_link = linked(self).is_some_and(|id| linked(other) == Some(id));
        is_same_link || self.value.eq_ignore_ascii_case(&other.value)
    }

    fn is_named(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.name.eq_ignore_ascii_case(name))
    }

    /// Whether an answer can give it: it names a person, a commit or a link, and is not a part of a header.
    fn is_given(&self) -> bool {
        if self.is_named(&NOT_GIVEN) {
            return false;
        }
        if self.value.contains("://") {
            return self.is_named(&LINKS);
        }
        self.person().is_some() || self.is_named(&IMPERSONAL)
    }

    /// The lines of it, each with its end.
    pub fn lines(&self) -> String {
        match &self.remark {
            None => format!("{}: {}\n", self.name, self.value),
            Some(remark) if remark.starts_with('[') => format!("{}: {}\n{remark}\n", self.name, self.value),
            Some(remark) => format!("{}: {}{remark}\n", self.name, self.value),
        }
    }
}

/// What programs insert that turned a mail into HTML and back.
fn without_mailto(value: &str) -> String {
    let Some((before, rest)) = value.split_once("<mailto:") else { return value.to_owned() };
    let after = rest.split_once('>').map_or("", |(_, after)| after);
    format!("{before}{after}")
}

/// The message id in a link to an archive of mails, in lower case.
fn linked_mail(value: &str) -> Option<String> {
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"))?;
    let rest = rest.to_ascii_lowercase().replace("%40", "@");
    rest.split('/').find(|part| part.contains('@')).map(str::to_owned)
}

/// The trailers of a block of lines, with those that a mail program has wrapped.
pub(crate) fn trailers(block: &str) -> Vec<Trailer> {
    let mut found: Vec<Trailer> = Vec::new();
    let mut is_below = false;
    for line in unwrapped(block) {
        if found.len() == TRAILERS_MAX {
            break;
        }
        if let Some(trailer) = Trailer::parse(line.trim_end()) {
            found.push(trailer);
            is_below = true;
            continue;
        }
        let line = line.trim();
        let is_remark = line.len() > 2 && line.starts_with('[') && line.find(']') == Some(line.len() - 1);
        if let Some(last) = found.last_mut().filter(|last| is_below && is_remark && last.remark.is_none()) {
            last.remark = Some(clean(line));
        }
        is_below = false;
    }
    found
}

/// The trailers that an answer gives. What it quotes and its signature give none.
pub(crate) fn given(answer: &str) -> Vec<Trailer> {
    let before_signature = answer.split("\n-- \n").next().unwrap_or_default();
    let unindented: Vec<&str> = before_signature.lines().map(str::trim_start).collect();
    trailers(&unindented.join("\n")).into_iter().filter(Trailer::is_given).collect()
}

/// Lines, where a name and its address, or a commit and the end of its subject, are one.
fn unwrapped(block: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in block.lines() {
        match lines.last_mut() {
            Some(last) if continues(last, line) => {
                last.push(' ');
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

fn continues(line: &str, next: &str) -> bool {
    let Some((name, value)) = line.split_once(": ") else { return false };
    if name.contains(char::is_whitespace) || value.len() > LINE_MAX {
        return false;
    }
    let is_address =
        next.starts_with('<') && next.ends_with('>') && next.contains('@') && !value.contains('<');
    let is_open =
        value.contains('(') && !value.contains(')') && value.starts_with(|c: char| c.is_ascii_hexdigit());
    is_address || is_open && next.ends_with(')')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(line: &str) -> Trailer {
        Trailer::parse(line).expect(line)
    }

    #[test]
    fn a_line_is_a_trailer_or_not() {
        let found = one("Acked-by: A B <a@example.org> # for mm");
        assert_eq!((found.name.as_str(), found.value.as_str()), ("Acked-by", "A B <a@example.org>"));
        assert_eq!(found.remark.as_deref(), Some(" # for mm"));
        for line in [
            "Note that: x",
            "x: y",
            "Fixes: the bug",
            "http://x",
            "a-b:c",
            "-x: y",
            "Acked-by:",
            "é-by: x",
            "> Acked-by: x",
        ] {
            assert_eq!(Trailer::parse(line), None, "{line}");
        }
    }

    #[test]
    fn wrapped_trailers_are_joined() {
        let block = "Fixes: 123456789abc (\"mm: a\n long one\")\nReviewed-by: A B\n<a@example.org>\n[for mm]\nplain\n[x]";
        let found = trailers(block);
        let lines: String = found.iter().map(Trailer::lines).collect();
        assert_eq!(
            lines,
            "Fixes: 123456789abc (\"mm: a  long one\")\nReviewed-by: A B <a@example.org>\n[for mm]\n"
        );
    }

    #[test]
    fn an_answer_gives_what_it_says_itself() {
        let answer = "On Monday, A wrote:\n> Acked-by: No One <no@example.org>\nFrom: x@example.org\n\nLooks good.\n\
                      \n  Reviewed-by: A B <a@example.org>\nSee: https://example.org/a@b.c\nLink: https://example.org/x\n\
                      Mail: a@example.org\nTested: yes\nFixes: 0123456 (\"x\")\n-- \nAcked-by: C <c@example.org>\n";
        let names: Vec<String> = given(answer).into_iter().map(|trailer| trailer.name).collect();
        assert_eq!(names, ["Reviewed-by", "Link", "Fixes"]);
    }

    #[test]
    fn duplicates_are_known() {
        for (first, second, same) in [
            ("Acked-by: A <a@example.org>", "acked-by: B <A@example.org> # x", true),
            ("Acked-by: A <a@example.org>", "Reviewed-by: A <a@example.org>", false),
            ("Link: https://lore.kernel.org/r/1-a@b.c", "Link: https://patch.msgid.link/1-a%40b.c", true),
            ("Link: https://example.org/1", "Link: https://example.org/2", false),
            ("Fixes: 123456 (\"a\")", "Fixes: 123456 (\"A\")", true),
        ] {
            assert_eq!(one(first).is_same(&one(second)), same, "{first} {second}");
        }
    }

    #[test]
    fn an_address_that_became_a_link_is_read() {
        let found = one("Acked-by: A <a@example.org<mailto:a@example.org>>").person().expect("a person");
        assert_eq!(found.address, "a@example.org");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(name in "[A-Z][a-z]{1,8}-by", value in "[A-Z][a-z]{1,9} <[a-z]{1,9}@[a-z]{1,5}\\.org>", remark in proptest::option::of(" # [a-z]{1,9}")) {
            let trailer = Trailer { name, value, remark };
            prop_assert_eq!(trailers(&trailer.lines()), vec![trailer]);
        }

        #[test]
        fn whatever_stands_there_is_read_without_harm(text: String) {
            for trailer in given(&text) {
                prop_assert!(!trailer.value.contains(char::is_control) && !trailer.value.is_empty());
            }
        }
    }
}
