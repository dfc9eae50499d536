//! To whom an answer to a mail goes, and in which thread.

use mail_parser::{Address, MessageParser};

use crate::line::clean;
use crate::mail::Mail;
use crate::person::Person;

/// Most people that an answer goes to besides its author.
const PEOPLE_MAX: usize = 100;

/// Most mails that an answer refers to (RFC 5322, section 3.6.4, keeps all).
const REFERENCES_MAX: usize = 20;

/// What the header of an answer says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The sender of the mail, or whom it wants to have answers.
    pub to: Vec<Person>,
    /// All others that the mail went to.
    pub cc: Vec<Person>,
    /// The subject, with `Re: `.
    pub subject: String,
    /// The message id of the mail, without brackets; nothing if it was never sent.
    pub in_reply_to: Option<String>,
    /// The mails of the thread, the oldest first.
    pub references: Vec<String>,
}

impl Reply {
    /// An answer to all.
    pub fn to(mail: &Mail) -> Self {
        let message = MessageParser::default().parse(mail.raw.as_slice());
        let field = |name: &str| {
            let all = message.iter().flat_map(|message| message.header_values(name));
            all.filter_map(|value| value.as_address()).flat_map(people).collect::<Vec<_>>()
        };
        let wanted = field("Reply-To");
        let to = if wanted.is_empty() { vec![mail.from.clone()] } else { wanted };
        let mut cc: Vec<Person> = Vec::new();
        for person in field("To").into_iter().chain(field("Cc")) {
            let is_there = |other: &Person| other.address.eq_ignore_ascii_case(&person.address);
            if cc.len() < PEOPLE_MAX && !to.iter().chain(&cc).any(is_there) {
                cc.push(person);
            }
        }
        let in_reply_to = mail.was_sent().then(|| mail.id.clone());
        let mut references: Vec<String> =
            mail.parents.iter().rev().cloned().chain(in_reply_to.clone()).collect();
        references.drain(..references.len().saturating_sub(REFERENCES_MAX));
        Self {
            to,
            cc,
            subject: subject(message.as_ref().and_then(|message| message.subject())),
            in_reply_to,
            references,
        }
    }
}

fn people(address: &Address<'_>) -> Vec<Person> {
    let known = |text: Option<&str>| clean(text.unwrap_or_default());
    let all = address.iter().map(|one| Person { name: known(one.name()), address: known(one.address()) });
    all.filter(|person| !person.address.is_empty()).take(PEOPLE_MAX).collect()
}

fn subject(text: Option<&str>) -> String {
    let text = clean(text.unwrap_or_default());
    match text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("re:")) {
        true => text,
        false => format!("Re: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reply(raw: &str) -> Reply {
        Reply::to(&Mail::read(raw.as_bytes(), 1).remove(0))
    }

    const MAIL: &str = "From: A <a@example.org>\nTo: \"B, C\" <b@example.org>, list@example.net\nCc: A <A@example.org>, D <d@x.org>\n\
        Cc: list@example.net\nMessage-ID: <2@x>\nReferences: <0@x> <1@x>\nIn-Reply-To: <1@x>\nSubject: [PATCH 1/2] x\n\ntext\n";

    #[test]
    fn all_get_an_answer_once_and_in_the_thread() {
        let answer = reply(MAIL);
        let named = |people: &[Person]| people.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(named(&answer.to), ["A <a@example.org>"]);
        assert_eq!(named(&answer.cc), ["B, C <b@example.org>", "list@example.net", "D <d@x.org>"]);
        assert_eq!(answer.subject, "Re: [PATCH 1/2] x");
        assert_eq!(answer.references, ["0@x", "1@x", "2@x"]);
        assert_eq!(answer.in_reply_to.as_deref(), Some("2@x"));
    }

    #[test]
    fn answers_go_where_they_are_wanted() {
        let answer = reply(&format!("Reply-To: W <w@x.org>\n{MAIL}").replace("Subject: ", "Subject: RE: "));
        assert_eq!(answer.to[0].address, "w@x.org");
        assert_eq!(answer.subject, "RE: [PATCH 1/2] x");
        assert_eq!(reply("Subject: x\n\n").in_reply_to, None, "it was never sent");
    }

    proptest! {
        #[test]
        fn no_header_gets_a_second_line(head in "((To|Cc|Reply-To|Subject|References): [^\n]{0,60}\n){0,6}", more in ".{0,40}") {
            let answer = reply(&format!("{head}Subject: {more}\nX: y\n\ntext\n"));
            let people = answer.to.iter().chain(&answer.cc).map(ToString::to_string);
            let lines = people.chain([answer.subject]).chain(answer.references);
            for line in lines {
                prop_assert!(!line.contains(['\n', '\r']), "{line:?}");
            }
        }
    }
}
